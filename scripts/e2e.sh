#!/usr/bin/env bash
# Runs the browser tests (Playwright, Chromium) against target/debug/docket, which must exist, or against BINARY. Arguments go to Playwright:
# `scripts/e2e.sh -g "sign in"`, or with windows `CHROMIUM=/usr/bin/chromium scripts/e2e.sh --headed -g "sign in"`.
# SLOWDOWN=4 makes the scripts of all pages four times as slow, to find tests that a busy machine fails.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
export BINARY=${BINARY:-$ROOT/target/debug/docket}
[[ -x $BINARY ]] || fail "there is no $BINARY: scripts/build.sh development"
cd "$ROOT/end2end"
exec playwright test "$@"
