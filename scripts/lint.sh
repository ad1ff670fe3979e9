#!/usr/bin/env bash
# Static checks: `lint.sh format|server|browser|end2end|api`, or all five. Warnings are errors.
# The features ssr and hydrate exclude each other, so --all-features is not used.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"

lint() {
  case $1 in
    format)
      cargo fmt --all --check
      cargo fmt --manifest-path fuzz/Cargo.toml --check
      ;;
    server)
      cargo clippy --locked "${SERVER_PACKAGES[@]}" --features ssr --all-targets -- -D warnings
      ;;
    browser) cargo clippy --locked --package docket-frontend --features hydrate --target wasm32-unknown-unknown -- -D warnings ;;
    end2end) tsc --project end2end/tsconfig.json --noEmit ;;
    api) spectral lint --ruleset end2end/spectral.yaml --fail-severity warn docs/automate/openapi.json ;;
    *) fail "usage: lint.sh [format|server|browser|end2end|api]" ;;
  esac
}

compile_for_this_clone
if (($# == 0)); then set -- format server browser end2end api; fi
for part in "$@"; do lint "$part"; done
