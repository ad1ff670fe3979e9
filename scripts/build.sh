#!/usr/bin/env bash
# Builds the release: the front end first, compressed, then the server that embeds it, as target/release/docket. Prints and
# checks the size of what a browser fetches. Does nothing if no input changed since the last build.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

BINARY=target/release/docket
STAMP=target/release/docket.inputs
SITE=target/site

main() {
  cd "$ROOT"
  mkdir -p target/release "$BUILD_CACHE"
  # Clones share cargo's target directory, so its docket may be of another clone.
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
    # The stamp is written last, so that a build that is too large fails again.
    "$ROOT/scripts/weight.sh" | tee "$STAMP.weight"
    printf '%s\n' "$wanted" >"$STAMP"
    return
  fi
  cat "$STAMP.weight"
}

# One checksum over all inputs of the binary.
inputs() {
  local path paths=()
  for path in .cargo build.rs Cargo.toml Cargo.lock facade src style public migrations end2end/package-lock.json scripts; do
    [[ ! -e $path ]] || paths+=("$path")
  done
  {
    rustc --version --verbose
    cargo-leptos --version
    printf '%s\n' "${RUSTFLAGS:-}" "${CARGO_ENCODED_RUSTFLAGS:-}"
    find "${paths[@]}" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
  } | sha256sum
}

# Without the compressed files the server would embed an old or incomplete front end, so check for them.
every_asset_is_compressed() {
  local file
  while IFS= read -r -d '' file; do
    [[ -f $file.br && -f $file.gz ]] || fail "$file was not compressed"
  done < <(find "$SITE" -type f ! -name '*.br' ! -name '*.gz' -print0)
}

# Renames the file into place, so that a running docket keeps the old one.
publish_binary() {
  local built=$CARGO_TARGET_DIR/release/docket
  [[ ! $built -ef $BINARY ]] || return 0
  cp "$built" "$BINARY.new"
  mv -f "$BINARY.new" "$BINARY"
}

main
