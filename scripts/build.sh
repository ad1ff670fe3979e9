#!/usr/bin/env bash
# Builds the release: the front end first, compressed, then the server that carries it, as target/release/docket. Prints and
# judges what a browser must fetch. Does nothing if no input changed since the last time.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

BINARY=target/release/docket
STAMP=target/release/docket.inputs
SITE=target/site

main() {
  cd "$ROOT"
  mkdir -p target/release "$BUILD_CACHE"
  # Clones share cargo's target directory, and its docket is the one of the clone that was built last.
  exec 9>"$BUILD_CACHE/build.lock"
  flock 9
  local wanted
  wanted=$(inputs)
  if [[ -x $BINARY && -f $STAMP && $(<"$STAMP") == "$wanted" ]]; then
    say "$BINARY is up to date."
  else
    rm -f "$STAMP"
    cargo leptos build --release --precompress --cargo-locked 9>&-
    every_asset_is_compressed
    publish_binary
    # Refused weight is refused again: the stamp comes after it.
    "$ROOT/scripts/weight.sh" | tee "$STAMP.weight"
    printf '%s\n' "$wanted" >"$STAMP"
    return
  fi
  cat "$STAMP.weight"
}

# One checksum over everything that the binary is made of.
inputs() {
  local path paths=()
  for path in .cargo build.rs Cargo.toml Cargo.lock src style public migrations end2end/package-lock.json scripts; do
    [[ ! -e $path ]] || paths+=("$path")
  done
  {
    rustc --version --verbose
    cargo-leptos --version
    printf '%s\n' "${RUSTFLAGS:-}" "${CARGO_ENCODED_RUSTFLAGS:-}"
    find "${paths[@]}" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
  } | sha256sum
}

# A new front end in an old server would be worse than no build at all, so look rather than trust.
every_asset_is_compressed() {
  local file
  while IFS= read -r -d '' file; do
    [[ -f $file.br && -f $file.gz ]] || fail "$file was not compressed"
  done < <(find "$SITE" -type f ! -name '*.br' ! -name '*.gz' -print0)
}

# Renamed into place, so that a running docket keeps its file.
publish_binary() {
  local built=$CARGO_TARGET_DIR/release/docket
  [[ ! $built -ef $BINARY ]] || return 0
  cp "$built" "$BINARY.new"
  mv -f "$BINARY.new" "$BINARY"
}

main
