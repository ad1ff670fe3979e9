#!/usr/bin/env bash
# Measures target/release/docket: time from start to the first answer, memory at rest, time to serve a page, what the panel adds
# to an upstream call, what a day of the history takes, how fast a history of a million rows answers, and pages of a list of
# 100,000 jobs. Prints figures beside the aims; it judges nothing, since a busy machine is no defect.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
[[ -x $ROOT/target/release/docket ]] || fail "there is no target/release/docket: make build"
node "$ROOT/scripts/bench.mjs" "$ROOT/target/release/docket"
"$ROOT/scripts/setup.sh" test
node "$ROOT/scripts/bench-pages.mjs" "$ROOT/target/release/docket"
node "$ROOT/scripts/bench-upstream.mjs" "$ROOT/target/release/docket"
node "$ROOT/scripts/bench-history.mjs" "$ROOT/target/release/docket"
cd "$ROOT"
cargo bench --quiet --locked --features ssr --bench history
cargo bench --quiet --locked --features ssr --bench list
