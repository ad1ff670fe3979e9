#!/usr/bin/env bash
# rust-std.sh TARGET: ensures that the installed Rust compiler can compile for a target, such as wasm32-unknown-unknown. The standard library for it
# comes from rustup or, where rustup may not install, is built from Debian's source of the same compiler version.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

TARGET=${1:?usage: rust-std.sh TARGET}
cd "$ROOT" # the directory decides which toolchain rustup picks
SYSROOT=$(rustc --print sysroot)
RELEASE=$(rustc --version --verbose | sed -n 's/^release: //p')
SOURCE=$SYSROOT/lib/rustlib/src/rust/library
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

main() {
  ! compiles || return 0
  lock
  ! compiles || return 0
  from_rustup || from_debian || give_up
}

# Two runs with different caches may share this toolchain.
lock() {
  exec 8<"$SYSROOT"
  flock 8
}

# True if a library that includes std is made for the target: an existing directory proves nothing. One that is linked would need a linker of the
# target, which only that of WebAssembly is part of Rust.
compiles() {
  local kind=staticlib
  [[ $TARGET != wasm32-* ]] || kind=cdylib
  echo '#[unsafe(no_mangle)] pub extern "C" fn f(n: usize) -> usize { vec![n; n].len() }' |
    rustc --edition 2024 --target "$TARGET" --crate-type "$kind" -o "$WORK/probe" - 2>/dev/null
}

from_rustup() {
  if [[ ${RUSTUP_AUTO_INSTALL:-1} == 0 ]] || ! command -v rustup >/dev/null; then return 1; fi
  say "${POSITION:+[$POSITION] }Standard library for $TARGET: installing it with rustup"
  rustup target add "$TARGET" && compiles
}

from_debian() {
  say "${POSITION:+[$POSITION] }Standard library for $TARGET: building it from Debian's rust-src $RELEASE, about 1 minute, once"
  # `set -e` is off in a function whose status is tested: each step reports its own failure.
  [[ -w $SYSROOT/lib/rustlib ]] || { say "    $SYSROOT is not writable for this user"; return 1; }
  fetch_rust_src || return 1
  run_logged "std-$TARGET" build_std || return 1
  install_std || return 1
  compiles || { say "    the library was built, but the compiler does not accept it"; return 1; }
}

# Fetches the rust-src package of the compiler's version and unpacks it into $WORK/src/library. apt checks the signature of
# the index with Debian's key and the package against the index; the checksum is compared here again.
fetch_rust_src() {
  local mirror keyring version wanted
  command -v apt-get >/dev/null || { say "    this is not Debian: there is no apt-get"; return 1; }
  # shellcheck disable=SC2016  # apt's own placeholders
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | grep -v security | head -n 1 || true)
  [[ -n $mirror ]] || { say "    apt knows no Debian mirror"; return 1; }
  keyring=$(find /usr/share/keyrings -name 'debian-archive-keyring.*' | sort | head -n 1)
  [[ -n $keyring ]] || { say "    the package debian-archive-keyring is not installed"; return 1; }
  mkdir -p "$WORK/apt/lists/partial" "$WORK/apt/cache/archives/partial" "$WORK/deb" "$WORK/src"
  echo "deb [signed-by=$keyring] $mirror $RUST_SRC_SUITE main" >"$WORK/apt/sources.list"

  apt_here apt-get update >"$WORK/apt/log" 2>&1 || { tail -n 5 "$WORK/apt/log"; return 1; }
  version=$(apt_here apt-cache madison rust-src | awk -F' *[|] *' -v release="$RELEASE" 'index($2, release "+") == 1 { print $2; exit }')
  [[ -n $version ]] || { say "    $RUST_SRC_SUITE has no rust-src $RELEASE"; return 1; }
  (cd "$WORK/deb" && apt_here apt-get download "rust-src=$version" >"$WORK/apt/log" 2>&1) || { tail -n 5 "$WORK/apt/log"; return 1; }

  wanted=$(apt_here apt-cache show "rust-src=$version" | sed -n 's/^SHA256: //p' | head -n 1)
  [[ -n $wanted ]] || { say "    the index has no checksum of rust-src $version"; return 1; }
  echo "$wanted  $(echo "$WORK"/deb/*.deb)" | sha256sum --check --status || { say "    rust-src $version: the checksum is WRONG"; return 1; }
  say "    rust-src $version: signature and checksum are right (sha256 $wanted)"
  dpkg-deb --fsys-tarfile "$WORK"/deb/*.deb | tar -x -C "$WORK/src" --strip-components 4 "./usr/src/rustc-$RELEASE/library" ||
    { say "    rust-src $version holds no library/"; return 1; }
}

# Runs an apt command with its own sources, lists and cache: the system's are neither used nor changed, and root is not needed.
apt_here() {
  local command=$1
  shift
  "$command" -o Dir::Etc::SourceList="$WORK/apt/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::Lists="$WORK/apt/lists" -o Dir::Cache="$WORK/apt/cache" -o APT::Sandbox::User=root "$@"
}

# The compiler looks for the source in its sysroot. An empty crate is enough to make cargo build all of std; the bitcode is embedded so
# that link-time optimization includes std. Messages of panics name its crates without this machine's folder.
build_std() {
  local status=0 copied=
  mkdir -p "$WORK/crate/src"
  printf '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n' >"$WORK/crate/Cargo.toml"
  echo '#![no_std]' >"$WORK/crate/src/lib.rs"
  if [[ ! -e $SOURCE ]]; then
    mkdir -p "$(dirname "$SOURCE")" && cp -r "$WORK/src/library" "$SOURCE" || return 1
    copied=yes
  fi
  (cd "$WORK/crate" && env -u CARGO_ENCODED_RUSTFLAGS RUSTC_BOOTSTRAP=1 RUSTFLAGS="-C embed-bitcode=yes --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=/rust/deps" CARGO_TARGET_DIR="$WORK/target" \
    cargo build --release -Z build-std=std,panic_abort,panic_unwind --target "$TARGET") || status=$?
  # A leftover copy would conflict with `rustup component add rust-src`.
  if [[ -n $copied ]]; then rm -rf "$SYSROOT/lib/rustlib/src"; fi
  return "$status"
}

install_std() {
  local folder=$SYSROOT/lib/rustlib/$TARGET/lib
  rm -f "$WORK/target/$TARGET/release/deps"/libempty-*.rlib
  rm -rf "$folder"
  mkdir -p "$folder" && cp "$WORK/target/$TARGET/release/deps"/*.rlib "$folder/"
}

give_up() {
  cat >&2 <<EOF
error: rustc $RELEASE cannot compile for $TARGET, and neither rustup nor Debian's rust-src could change that.
Do one of these, then start again:
  rustup target add $TARGET             (needs the network and leave to install)
  rustup toolchain install stable, then the line above      (if your toolchain is too old or too new)
  on Debian: use a compiler whose version $RUST_SRC_SUITE carries as rust-src
EOF
  exit 1
}

main "$@"
