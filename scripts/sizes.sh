#!/usr/bin/env bash
# Prints for each of our crates its lines, the time and memory that its compilation for the release needs, and its share of the binary.
# Compiles these crates again. The times are those of one build on this machine.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

main() {
  "$ROOT/scripts/build.sh" site >/dev/null
  cargo clean --release --quiet "${SERVER_PACKAGES[@]}"
  # With symbols, from which the shares come.
  RUSTC_WRAPPER=$ROOT/scripts/measured_rustc.py SIZES_FILE=$WORK/compiled.json run_logged "release build" \
    cargo rustc --release --locked --features ssr --bin docket -- -C strip=none
  nm --print-size --demangle --radix=d "$CARGO_TARGET_DIR/release/docket" >"$WORK/symbols"
  # The file with symbols must not be taken for the product.
  rm "$CARGO_TARGET_DIR/release/docket"
  node "$ROOT/scripts/sizes.mjs" "$ROOT" "$WORK"
}

main
