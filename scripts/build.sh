#!/usr/bin/env bash
# Builds the release: the front end first (cargo-leptos), compressed, then the server that embeds it, as target/release/docket. Prints
# and checks the size of what a browser fetches. Does nothing if no input changed since the last build.
#
# `build.sh portable` builds it as it is passed on (docs/adr/0024-portable-binary.md): for any Linux with glibc 2.28 or later, and
# the same bytes on every machine. `build.sh demo` builds target/demo/docket for `make run`, not optimized. `build.sh development` builds
# target/debug/docket for the browser tests, from what the Rust tests compiled. `build.sh site` builds only the front end, which is the same
# for all of them. `build.sh client` builds the client alone, portable as the server, as target/release/docket-client-ARCHITECTURE for two of them.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

SITE=target/site
PORTABLE_TARGET=x86_64-unknown-linux-gnu
PORTABLE_GLIBC=2.28
CLIENT_ARCHITECTURES=(x86_64 aarch64)

main() {
  local kind=${1:-native}
  cd "$ROOT"
  case $kind in
    native | portable) BINARY=target/release/docket ;;
    demo) BINARY=target/demo/docket ;;
    development) BINARY=target/debug/docket ;;
    site) BINARY= ;;
    client)
      build_client
      return
      ;;
    *) fail "usage: build.sh [portable|demo|development|site|client]" ;;
  esac
  mkdir -p target/release target/demo target/debug "$BUILD_CACHE"
  # Clones share cargo's target directory, so its docket may be of another clone.
  exec 9>"$BUILD_CACHE/build.lock"
  flock 9
  compile_for_this_clone
  local wanted
  wanted=$(inputs)
  site "$wanted" 9>&-
  [[ -n $BINARY ]] || return 0
  if up_to_date "$kind" "$wanted"; then
    say "$BINARY is up to date."
    return
  fi
  rm -f "$BINARY.inputs"
  build_"$kind" 9>&-
  printf '%s\n' "$wanted" "$kind" >"$BINARY.inputs"
}

# A portable binary runs here, too.
up_to_date() {
  [[ -x $BINARY && -f $BINARY.inputs ]] || return 1
  [[ $(<"$BINARY.inputs") == "$2"$'\n'"$1" || $(<"$BINARY.inputs") == "$2"$'\n'portable ]]
}

# The front end, as every binary embeds it: the same bytes on every machine.
site() {
  local stamp=$SITE.inputs
  if [[ -d $SITE/pkg && -f $stamp && $(<"$stamp") == "$1" ]]; then
    say "$SITE is up to date."
    cat "$SITE.weight"
    return
  fi
  rm -f "$stamp"
  (
    hide_place_and_time
    # What --split adds to RUSTFLAGS, which these flags replace.
    CARGO_ENCODED_RUSTFLAGS+=$'\x1f-Clink-args=--emit-relocs'
    cargo leptos build --release --split --precompress --cargo-locked --frontend-only
  )
  gzip_without_time
  every_asset_is_compressed
  # The stamp is written last, so that a build that is too large fails again.
  "$ROOT/scripts/weight.sh" | tee "$SITE.weight"
  printf '%s\n' "$1" >"$stamp"
}

# One checksum over all inputs of the binary.
inputs() {
  local path paths=()
  for path in .cargo build.rs Cargo.toml Cargo.lock crates facade src style public end2end/package-lock.json scripts; do
    [[ ! -e $path ]] || paths+=("$path")
  done
  {
    rustc --version --verbose
    wasm-bindgen --version
    node --version
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

build_native() {
  cargo build --release --locked --bin docket --features ssr
  publish "$CARGO_TARGET_DIR/release/docket"
}

build_demo() {
  cargo build --profile demo --locked --bin docket --features ssr
  publish "$CARGO_TARGET_DIR/demo/docket"
}

# As the Rust tests build it: for other packages, cargo would choose other features of the dependencies, and compile them again.
build_development() {
  cargo test --no-run --locked "${SERVER_PACKAGES[@]}" --features ssr,embed
  publish "$CARGO_TARGET_DIR/debug/docket"
}

build_portable() {
  hide_place_and_time
  # These flags replace those of .cargo/config.toml.
  CARGO_ENCODED_RUSTFLAGS+=$'\x1f--cfg\x1ferase_components' \
    cargo-zigbuild zigbuild --release --locked --bin docket --features ssr --target "$PORTABLE_TARGET.$PORTABLE_GLIBC"
  publish "$CARGO_TARGET_DIR/$PORTABLE_TARGET/release/docket"
}

# Of one build after the other: the target decides the flags of C.
build_client() {
  local architecture
  mkdir -p target/release
  hide_place_and_time
  for architecture in "${CLIENT_ARCHITECTURES[@]}"; do
    cargo-zigbuild zigbuild --release --locked --package docket-client --target "$architecture-unknown-linux-gnu.$PORTABLE_GLIBC"
    BINARY=target/release/docket-client-$architecture
    publish "$CARGO_TARGET_DIR/$architecture-unknown-linux-gnu/release/docket-client"
  done
}

# cargo-leptos writes the time of the build into each gzip file.
gzip_without_time() {
  local file
  while IFS= read -r -d '' file; do
    gzip -9nc "${file%.gz}" >"$file"
  done < <(find "$SITE" -type f -name '*.gz' -print0)
}

# The folders of cargo and of its results are in no message of a panic or an assertion, and the time of the build in no source in C: they
# differ between builds. Neither the folder of the clone, which is in no message anyway, nor the time of the commit may be named here: cargo
# compiles everything again for other flags, and clones share what it compiled.
hide_place_and_time() {
  local flags=() from
  IFS=' ' read -r -a flags <<<"${RUSTFLAGS:-}"
  local -A places=(["$CARGO_TARGET_DIR"]=/target ["${CARGO_HOME:-$HOME/.cargo}/registry/src"]=/crates)
  while read -r from; do
    flags+=("--remap-path-prefix=$from=${places[$from]}")
    CFLAGS="${CFLAGS:-} -ffile-prefix-map=$from=${places[$from]}"
  done < <(printf '%s\n' "${!places[@]}" | LC_ALL=C sort)
  # No shell reads them, so the quotes are the preprocessor's.
  CFLAGS+=' -Wno-builtin-macro-redefined -D__DATE__="1970-01-01" -D__TIME__="00:00:00"'
  export CFLAGS CARGO_ENCODED_RUSTFLAGS
  CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; printf '%s' "${flags[*]}")
}

# Renames the file into place, so that a running docket keeps the old one.
publish() {
  [[ ! $1 -ef $BINARY ]] || return 0
  cp "$1" "$BINARY.new"
  mv -f "$BINARY.new" "$BINARY"
}

main "$@"
