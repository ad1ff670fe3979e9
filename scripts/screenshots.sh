#!/usr/bin/env bash
# Takes the pictures of docs/screenshots from `docket demo`. target/release/docket must exist.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
[[ -x $ROOT/target/release/docket ]] || fail "there is no target/release/docket: make build"
mkdir -p "$ROOT/docs/screenshots"
cd "$ROOT/end2end"
exec playwright test --config screenshots.config.ts "$@"
