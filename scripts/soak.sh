#!/usr/bin/env bash
# `soak.sh MINUTES [REPLICAS]`: 200 simulated people use target/release/docket, or several of it on one PostgreSQL database, while the emulator
# causes faults. Prints a table; fails if a response was no success, redirect or 429, or if memory, tasks, connections or files grew.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
[[ -x $ROOT/target/release/docket ]] || fail "there is no target/release/docket: make build"
exec node "$ROOT/scripts/soak.mjs" "$ROOT/target/release/docket" "${1:-10}" "${2:-1}"
