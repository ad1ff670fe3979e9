#!/usr/bin/env bash
# Searches with libFuzzer for upstream responses that break a decoder: `fuzz.sh SECONDS [TARGET…]`, SECONDS for each target.
# Failing inputs are left in fuzz/corpus/TARGET/, where `make test` runs them: commit them with the fix. The learned
# corpus stays in BUILD_CACHE, and the next run continues from it.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

SECONDS_EACH=${1:-60}
TARGETS=("${@:2}")
if ((${#TARGETS[@]} == 0)); then TARGETS=(job views error_message); fi

# The whole server is built with coverage counters in every branch. `erase_components` shortens that build.
export CARGO_TARGET_DIR=$BUILD_CACHE/fuzz-target
export RUSTFLAGS="--cfg erase_components"

main() {
  [[ $SECONDS_EACH =~ ^[1-9][0-9]*$ ]] || fail "usage: fuzz.sh SECONDS [TARGET…]"
  cd "$ROOT"
  compile_for_this_clone
  cargo fetch --locked --manifest-path fuzz/Cargo.toml >/dev/null ||
    fail "fuzz/Cargo.lock is out of date: cargo update --workspace --manifest-path fuzz/Cargo.toml"
  say "The fuzz targets: building, about 10 minutes the first time"
  run_logged fuzz-build cargo fuzz build --sanitizer none
  local target
  for target in "${TARGETS[@]}"; do fuzz "$target"; done
}

# There is no unsafe code for a sanitizer to check: the targets look for panics and violated properties.
fuzz() {
  local target=$1 learnt=$BUILD_CACHE/fuzz/$1 corpus=fuzz/corpus/$1
  [[ -d $corpus ]] || fail "there is no fuzz target $target"
  mkdir -p "$learnt"
  say "== $target, for $(duration "$SECONDS_EACH")"
  if ! cargo fuzz run --sanitizer none "$target" "$learnt" "$corpus" -- \
    -max_total_time="$SECONDS_EACH" -max_len=4096 -timeout=10 -dict=fuzz/json.dict -artifact_prefix="$corpus/" \
    -verbosity=1 2>"$LOGS/fuzz-$target.log"; then
    tail -n 40 "$LOGS/fuzz-$target.log" >&2
    fail "$target: the failing input is in $corpus (see git status)"
  fi
  grep '^Done ' "$LOGS/fuzz-$target.log"
}

main
