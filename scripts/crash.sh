#!/usr/bin/env bash
# `crash.sh ROUNDS [SEED]`: kills `docket serve` ROUNDS times at random moments while clients post prompts (tests/crash), and
# checks that none was lost or sent twice. First on a file, then as three processes on PostgreSQL, which crashes too.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"
compile_for_this_clone
export CRASH_ROUNDS=$1 CRASH_SEED=${2:-}
TEST_DATABASE=sqlite cargo test --locked --quiet --features ssr --test crash
TEST_DATABASE=postgres cargo test --locked --quiet --features ssr --test crash
