#!/usr/bin/env bash
# `screenshots.sh`: compares the pages of `docket demo` with the pictures in docs/screenshots, and fails if one differs visibly.
# `screenshots.sh update` writes the pictures that differ. target/release/docket, or BINARY, must exist.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
export BINARY=${BINARY:-$ROOT/target/release/docket}
[[ -x $BINARY ]] || fail "there is no $BINARY: make build"
options=()
case ${1:-} in
  "") ;;
  update) options=(--update-snapshots=changed) ;;
  *) fail "usage: screenshots.sh [update]" ;;
esac
cd "$ROOT/end2end"
exec playwright test --config screenshots.config.ts "${options[@]}"
