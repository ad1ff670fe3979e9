#!/usr/bin/env bash
# `soak.sh MINUTES [REPLICAS]`: 200 simulated people use target/release/docket for so long, or several on one PostgreSQL database, while
# the emulator's faults come down on it. Prints a table; fails if an answer was neither a success, a redirect nor a 429, or if memory, tasks, connections or files grew.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
[[ -x $ROOT/target/release/docket ]] || fail "there is no target/release/docket: make build"
exec node "$ROOT/scripts/soak.mjs" "$ROOT/target/release/docket" "${1:-10}" "${2:-1}"
