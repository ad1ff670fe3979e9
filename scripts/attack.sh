#!/usr/bin/env bash
# `attack.sh SECONDS`: every known attack on the availability of target/release/docket at once, while one person works. Prints the response
# times of the person and of the health check, and the memory; fails beyond the limits.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
[[ -x $ROOT/target/release/docket ]] || fail "there is no target/release/docket: make build"
exec node "$ROOT/scripts/attack.mjs" "$ROOT/target/release/docket" "${1:-30}"
