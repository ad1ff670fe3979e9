#!/usr/bin/env bash
# Runs the demo in a debug build that rebuilds and reloads when a source file changes. Arguments go to `docket demo`.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"
compile_for_this_clone
exec cargo leptos watch --split -- demo "$@"
