#!/usr/bin/env bash
# Installs the missing tools for building (`setup.sh build`), testing (`setup.sh test`) or fuzzing (`setup.sh fuzz`), and
# nothing else.
# Takes less than a second if nothing is missing. Several instances may run at once.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

main() {
  local purpose=${1:-build}
  [[ $purpose == build || $purpose == test || $purpose == fuzz ]] || fail "usage: setup.sh [build|test|fuzz]"
  require_basics
  mkdir -p "$LOGS"
  exec 9>"$BUILD_CACHE/setup.lock"
  if ! flock --nonblock 9; then
    say "Another set-up is running; waiting for it."
    flock 9
  fi
  if [[ $purpose == fuzz ]]; then
    cargo_fuzz
    return
  fi
  # The fast ones first, so that a failure shows before the slow ones begin.
  if [[ $purpose == test ]]; then
    systemd_analyze
    chromium
    postgresql
    servers
  fi
  npm_tools
  "$ROOT/scripts/wasm-std.sh" 9>&-
  if [[ $purpose == test ]]; then cargo_deny; fi
  wasm_bindgen_cli
  cargo_leptos
}

require_basics() {
  command -v cargo >/dev/null || fail "cargo is missing: install Rust (stable) with rustup."
  command -v cc >/dev/null || fail "a C compiler is missing: apt-get install build-essential"
  command -v npm >/dev/null || fail "npm is missing: install Node.js $NODE_MAJOR_MINIMUM or later."
  command -v flock >/dev/null || fail "flock is missing: apt-get install util-linux"
  local node_major
  node_major=$(node -p 'process.versions.node.split(".")[0]')
  ((node_major >= NODE_MAJOR_MINIMUM)) || fail "Node.js $node_major is too old: $NODE_MAJOR_MINIMUM or later is needed."
  [[ -n $WASM_BINDGEN_VERSION ]] || fail "Cargo.lock does not contain wasm-bindgen."
}

# It rates how much the service's unit exposes; nothing of systemd has to run.
systemd_analyze() {
  if command -v systemd-analyze >/dev/null; then return; fi
  if [[ $(id -u) != 0 || ! -e /etc/debian_version ]]; then
    fail "the tests of the service's unit need systemd-analyze: apt-get install systemd"
  fi
  say "systemd-analyze: installing Debian's systemd, once"
  if ! run_logged systemd install_systemd 9>&-; then
    fail "systemd-analyze could not be installed: apt-get install systemd"
  fi
}

install_systemd() {
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends systemd
}

chromium() {
  [[ ! -x $CHROMIUM ]] || return 0
  if [[ $(id -u) != 0 || ! -e /etc/debian_version ]]; then
    fail "the browser tests need Chromium: apt-get install chromium (or set CHROMIUM to the program)."
  fi
  say "Chromium: installing Debian's, about 1 minute, once"
  if ! run_logged chromium install_chromium 9>&-; then
    fail "Chromium could not be installed: apt-get install chromium (or set CHROMIUM to the program)."
  fi
  [[ -x $CHROMIUM ]] || fail "Debian's chromium is installed, but $CHROMIUM does not exist."
}

install_chromium() {
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium fonts-liberation
}

# The server's programs and its user; scripts/postgres.sh starts servers of its own.
postgresql() {
  ! "$ROOT/scripts/postgres.sh" programs >/dev/null 2>&1 || return 0
  if [[ $(id -u) != 0 || ! -e /etc/debian_version ]]; then
    fail "the tests need PostgreSQL 14 or later: apt-get install postgresql"
  fi
  say "PostgreSQL: installing Debian's, about 1 minute, once"
  if ! run_logged postgresql install_postgresql 9>&-; then
    fail "PostgreSQL could not be installed: apt-get install postgresql"
  fi
  "$ROOT/scripts/postgres.sh" programs >/dev/null || fail "Debian's postgresql is installed, but has no server."
}

install_postgresql() {
  apt-get update
  # Without a server that is always running.
  mkdir -p /etc/postgresql-common
  [[ -e /etc/postgresql-common/createcluster.conf ]] ||
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends postgresql
}

# Only unpacked: installed, they would be services that take ports.
servers() {
  unpacked caddy "$CADDY_ROOT" caddy
  unpacked nginx "$NGINX_ROOT" nginx
  # Prometheus and promtool.
  unpacked prometheus "$PROMETHEUS_ROOT" prometheus
}

# unpacked PROGRAM FOLDER PACKAGE…
unpacked() {
  local program=$1 folder=$2
  shift 2
  if command -v "$program" >/dev/null; then return; fi
  if ! command -v apt-get >/dev/null; then
    fail "the tests of docs/deploy and docs/operate need the server $program: put the program $program on PATH"
  fi
  say "$program: unpacking Debian's, once"
  if ! run_logged "$program" unpack "$folder" "$@" 9>&-; then
    fail "Debian's package $1 could not be fetched: put the program $program on PATH"
  fi
}

# unpack FOLDER PACKAGE…
unpack() (
  local folder=$1 file
  shift
  mkdir -p "$folder"
  cd "$folder"
  # Without lists of packages there is nothing to download yet.
  apt-get download "$@" || { apt-get update && apt-get download "$@"; }
  for file in ./*.deb; do dpkg-deb --extract "$file" .; done
  rm ./*.deb
)

# Tailwind, wasm-opt, Playwright, axe and TypeScript, as end2end/package-lock.json pins them.
npm_tools() {
  local stamp=$NODE_MODULES/.installed-from wanted
  wanted=$(cat "$ROOT/end2end/package.json" "$ROOT/end2end/package-lock.json" | sha256sum)
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then return; fi
  say "npm tools (Tailwind, wasm-opt, Playwright): installing, about 10 seconds"
  run_logged npm-tools npm --prefix "$ROOT/end2end" ci --ignore-scripts --no-audit --no-fund 9>&-
  printf '%s\n' "$wanted" >"$stamp"
}

# Not --locked: its lock file names a release that the registry no longer has. With light optimization it takes half
# the time to build, and the tool runs only once per build.
wasm_bindgen_cli() {
  if [[ $(wasm-bindgen --version 2>/dev/null) == "wasm-bindgen $WASM_BINDGEN_VERSION" ]]; then return; fi
  say "wasm-bindgen-cli $WASM_BINDGEN_VERSION: installing, about 2 minutes, once"
  run_logged wasm-bindgen-cli env CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_TARGET_DIR="$BUILD_CACHE/tools-target" \
    cargo install --bin wasm-bindgen --root "$WASM_BINDGEN_ROOT" "wasm-bindgen-cli@$WASM_BINDGEN_VERSION" 9>&-
  rm -rf "$BUILD_CACHE/tools-target"
}

# A debug build: the release profile links for ten minutes without a benefit, since this tool mostly waits for others.
# `no_downloads` makes it use the tools on PATH or fail, but never download its own.
cargo_leptos() {
  if [[ $(cargo-leptos --version 2>/dev/null) == "cargo-leptos $CARGO_LEPTOS_VERSION" ]]; then return; fi
  say "cargo-leptos $CARGO_LEPTOS_VERSION: installing, about 5 minutes, once"
  local openssl=()
  # It bundles OpenSSL's source; using the system's saves two minutes.
  if pkg-config --exists openssl 2>/dev/null; then openssl=(OPENSSL_NO_VENDOR=1); fi
  run_logged cargo-leptos env CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR="$BUILD_CACHE/tools-target" "${openssl[@]}" \
    cargo install --debug --locked --features no_downloads --root "$CARGO_LEPTOS_ROOT" "cargo-leptos@$CARGO_LEPTOS_VERSION" 9>&-
  rm -rf "$BUILD_CACHE/tools-target"
}

cargo_fuzz() {
  command -v c++ >/dev/null || fail "a C++ compiler is missing, which libFuzzer needs: apt-get install build-essential"
  if [[ $(cargo-fuzz --version 2>/dev/null) == "cargo-fuzz $CARGO_FUZZ_VERSION" ]]; then return; fi
  say "cargo-fuzz $CARGO_FUZZ_VERSION: installing, about 1 minute, once"
  run_logged cargo-fuzz env CARGO_TARGET_DIR="$BUILD_CACHE/tools-target" \
    cargo install --locked --root "$CARGO_FUZZ_ROOT" "cargo-fuzz@$CARGO_FUZZ_VERSION" 9>&-
  rm -rf "$BUILD_CACHE/tools-target"
}

# A debug build takes a fraction of the time, and the tool runs for a second either way.
cargo_deny() {
  if [[ $(cargo-deny --version 2>/dev/null) == "cargo-deny $CARGO_DENY_VERSION" ]]; then return; fi
  say "cargo-deny $CARGO_DENY_VERSION: installing, about 2 minutes, once"
  run_logged cargo-deny env CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR="$BUILD_CACHE/tools-target" \
    cargo install --debug --locked --no-default-features --root "$CARGO_DENY_ROOT" "cargo-deny@$CARGO_DENY_VERSION" 9>&-
  rm -rf "$BUILD_CACHE/tools-target"
}

main "$@"
