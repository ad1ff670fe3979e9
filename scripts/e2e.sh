#!/usr/bin/env bash
# Runs the browser tests (Playwright, Chromium) against target/release/docket, which must exist. Arguments go to Playwright:
# `scripts/e2e.sh -g "sign in"`, or with windows `CHROMIUM=/usr/bin/chromium scripts/e2e.sh --headed -g "sign in"`.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
[[ -x $ROOT/target/release/docket ]] || fail "there is no target/release/docket: make build"
cd "$ROOT/end2end"
exec playwright test "$@"
