#!/usr/bin/env bash
# Measures target/release/docket: time from start to the first response, idle memory, time to serve a page, requests
# per second of pages and of the JSON API, the overhead on an upstream call, the cost of fetching a day of history, three processes on PostgreSQL under 200 people,
# and queries over a history of a million rows and pages of a list of 100,000 jobs, in a file and on PostgreSQL. Prints results beside
# the targets, and does not fail if they are missed, because the machine may be busy.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
[[ -x $ROOT/target/release/docket ]] || fail "there is no target/release/docket: make build"
node "$ROOT/scripts/bench.mjs" "$ROOT/target/release/docket"
node "$ROOT/scripts/bench-requests.mjs" "$ROOT/target/release/docket"
node "$ROOT/scripts/bench-api.mjs" "$ROOT/target/release/docket"
"$ROOT/scripts/setup.sh" bench
node "$ROOT/scripts/bench-pages.mjs" "$ROOT/target/release/docket"
node "$ROOT/scripts/bench-upstream.mjs" "$ROOT/target/release/docket"
node "$ROOT/scripts/bench-history.mjs" "$ROOT/target/release/docket"
"$ROOT/scripts/soak.sh" 2 3 || true
cd "$ROOT"
cargo bench --quiet --locked --features ssr --bench history
cargo bench --quiet --locked --features ssr --bench list
