#!/usr/bin/env bash
# Installs the missing tools for building (`setup.sh build`), checking (`setup.sh lint`), developing (`setup.sh dev`), packaging (`setup.sh dist`), testing
# (`setup.sh test`, or `setup.sh test-all` for everything), measuring (`setup.sh bench`) or fuzzing (`setup.sh fuzz`), and nothing else.
# Takes less than a second if nothing is missing. Several instances may run at once.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

main() {
  local purpose=${1:-build}
  local steps
  # The fast ones first, so that a failure shows before the slow ones begin.
  case $purpose in
    build) steps=(npm_tools wasm_std wasm_bindgen_cli cargo_leptos) ;;
    lint) steps=(npm_tools wasm_std) ;;
    dev) steps=(npm_tools wasm_std wasm_bindgen_cli cargo_leptos) ;;
    dist) steps=(zig npm_tools wasm_std aarch64_std cargo_deb cargo_cyclonedx wasm_bindgen_cli cargo_leptos) ;;
    test) steps=(systemd_analyze chromium chromium_with_windows postgresql pooler servers npm_tools wasm_std wasm_bindgen_cli cargo_leptos) ;;
    test-all) steps=(systemd_analyze chromium chromium_with_windows postgresql pooler servers debian_11 zig schemathesis npm_tools wasm_std aarch64_std cargo_deny cargo_deb cargo_cyclonedx wasm_bindgen_cli cargo_leptos) ;;
    bench) steps=(chromium_with_windows postgresql npm_tools) ;;
    fuzz) steps=(cargo_fuzz) ;;
    *) fail "usage: setup.sh [build|lint|dev|dist|test|test-all|bench|fuzz]" ;;
  esac
  require_basics
  mkdir -p "$LOGS"
  exec 9>"$BUILD_CACHE/setup.lock"
  if ! flock --nonblock 9; then
    say "Another set-up is running; waiting for it."
    flock 9
  fi
  for step in "${!steps[@]}"; do
    export POSITION="$((step + 1)) of ${#steps[@]}"
    "${steps[$step]}"
  done
  rm -rf "$BUILD_CACHE/tools-target"
}

# Says what a step that has something to do is about to do, and how far the set-up is.
announce() { say "[$POSITION] $*"; }

wasm_std() { "$ROOT/scripts/rust-std.sh" wasm32-unknown-unknown 9>&-; }

# The client is built for it, too.
aarch64_std() { "$ROOT/scripts/rust-std.sh" aarch64-unknown-linux-gnu 9>&-; }

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
  announce "systemd-analyze: installing Debian's systemd, once"
  if ! run_logged systemd install_systemd 9>&-; then
    fail "systemd-analyze could not be installed: apt-get install systemd"
  fi
}

install_systemd() {
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends systemd
}

chromium() { browser "$CHROMIUM" chromium-headless-shell; }

chromium_with_windows() { browser "$CHROMIUM_WITH_WINDOWS" chromium; }

# browser PROGRAM PACKAGE
browser() {
  local program=$1 package=$2
  [[ ! -x $program ]] || return 0
  if [[ $(id -u) != 0 || ! -e /etc/debian_version ]]; then
    fail "$program is missing: apt-get install $package (or set the variable in scripts/env.sh to another Chromium)."
  fi
  announce "$package: installing Debian's, about 1 minute, once"
  if ! run_logged "$package" install_browser "$package" 9>&-; then
    fail "$package could not be installed: apt-get install $package (or set the variable in scripts/env.sh to another Chromium)."
  fi
  [[ -x $program ]] || fail "Debian's $package is installed, but $program does not exist."
}

install_browser() {
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$1" fonts-liberation
}

# The server's programs and its user; scripts/postgres.sh starts servers of its own.
postgresql() {
  ! "$ROOT/scripts/postgres.sh" programs >/dev/null 2>&1 || return 0
  if [[ $(id -u) != 0 || ! -e /etc/debian_version ]]; then
    fail "the tests need PostgreSQL 14 or later: apt-get install postgresql"
  fi
  announce "PostgreSQL: installing Debian's, about 1 minute, once"
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

# scripts/pgbouncer.sh starts some of its own. The step does not have the name of the program, which `command -v` would find.
pooler() {
  if command -v pgbouncer >/dev/null; then return; fi
  if [[ $(id -u) != 0 || ! -e /etc/debian_version ]]; then
    fail "the tests of a connection pooler need PgBouncer: apt-get install pgbouncer"
  fi
  announce "PgBouncer: installing Debian's, once"
  if ! run_logged pgbouncer install_pooler 9>&- || ! command -v pgbouncer >/dev/null; then
    fail "PgBouncer could not be installed: apt-get install pgbouncer"
  fi
}

# Without its service, which would take a port.
install_pooler() (
  policy=/usr/sbin/policy-rc.d
  apt-get update || exit 1
  if [[ ! -e $policy ]]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" || exit 1
  fi
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends pgbouncer || exit 1
  if command -v systemctl >/dev/null; then systemctl disable --quiet pgbouncer || true; fi
)

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
  announce "$program: unpacking Debian's, once"
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

# The oldest Debian that the packages are tested on, as a tar file. Where its mirror has it no more, the tests of the packages say so.
debian_11() {
  [[ ! -s $DEBIAN_11 ]] || return 0
  if [[ $(id -u) != 0 || ! -e /etc/debian_version ]]; then
    fail "the tests of the packages need mmdebstrap, and root: apt-get install mmdebstrap"
  fi
  announce "Debian 11: fetching its smallest system, once"
  if ! run_logged debian-11 make_debian_11 9>&-; then
    fail "Debian 11, on which the packages are tested, could not be fetched."
  fi
}

make_debian_11() (
  command -v mmdebstrap >/dev/null || {
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends mmdebstrap
  }
  # The mirror that this machine uses.
  # shellcheck disable=SC2016  # apt's own placeholders
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | grep -v security | head -n 1)
  trap 'rm -f "$DEBIAN_11.new"' EXIT
  # Without security updates: nothing but the tests runs in it.
  mmdebstrap --variant=minbase --include=ca-certificates --format=tar bullseye "$DEBIAN_11.new" "deb $mirror bullseye main"
  mv "$DEBIAN_11.new" "$DEBIAN_11"
)

# Unpacked from what Python's packages hold: nothing of Python runs or stays.
zig() {
  [[ ! -x $ZIG_ROOT/bin/cargo-zigbuild ]] || return 0
  python3 -m pip --version >/dev/null 2>&1 || fail "pip is missing, which fetches Zig: apt-get install python3-pip"
  announce "Zig and cargo-zigbuild: unpacking, about 1 minute, once"
  run_logged zig unpack_zig 9>&-
}

unpack_zig() (
  set -e
  wheels=$(mktemp -d)
  trap 'rm -rf "$wheels" "$ZIG_ROOT.new"' EXIT
  rm -rf "$ZIG_ROOT.new"
  python3 -m pip download --quiet --no-deps --require-hashes --dest "$wheels" --requirement "$ROOT/scripts/zig.txt"
  for wheel in "$wheels"/*.whl; do python3 -m zipfile --extract "$wheel" "$ZIG_ROOT.new"; done
  cd "$ZIG_ROOT.new"
  mkdir bin
  ln -s ../ziglang/zig bin/zig
  mv cargo_zigbuild-*.data/scripts/cargo-zigbuild bin/
  chmod +x ziglang/zig bin/cargo-zigbuild
  mv "$ZIG_ROOT.new" "$ZIG_ROOT"
)

schemathesis() {
  [[ ! -x $SCHEMATHESIS_ROOT/bin/schemathesis ]] || return 0
  python3 -m venv --help >/dev/null 2>&1 || fail "Python's venv is missing, which schemathesis needs: apt-get install python3-venv"
  announce "schemathesis: installing, about 1 minute, once"
  run_logged schemathesis install_schemathesis 9>&-
}

# A virtual environment cannot be moved, so its last file is written at the end.
install_schemathesis() (
  set -e
  rm -rf "$SCHEMATHESIS_ROOT"
  trap 'rm -rf "$SCHEMATHESIS_ROOT"' ERR
  python3 -m venv "$SCHEMATHESIS_ROOT"
  "$SCHEMATHESIS_ROOT/bin/python" -m pip install --quiet --requirement "$ROOT/scripts/schemathesis.txt"
)

# Tailwind, wasm-opt, Playwright, axe and TypeScript, as end2end/package-lock.json pins them.
npm_tools() {
  local stamp=$NODE_MODULES/.installed-from wanted
  wanted=$(cat "$ROOT/end2end/package.json" "$ROOT/end2end/package-lock.json" | sha256sum)
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then return; fi
  announce "npm tools (Tailwind, wasm-opt, Playwright): installing, about 10 seconds"
  run_logged npm-tools npm --prefix "$ROOT/end2end" ci --ignore-scripts --no-audit --no-fund 9>&-
  printf '%s\n' "$wanted" >"$stamp"
}

# Not --locked: the lock file of 0.2.130 names webpki-roots 1.0.11, which the registry does not have. With light optimization it takes half
# the time to build, and the tool runs only once per build.
wasm_bindgen_cli() {
  if [[ $(wasm-bindgen --version 2>/dev/null) == "wasm-bindgen $WASM_BINDGEN_VERSION" ]]; then return; fi
  announce "wasm-bindgen-cli $WASM_BINDGEN_VERSION: installing, about 2 minutes, once"
  run_logged wasm-bindgen-cli env CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_TARGET_DIR="$BUILD_CACHE/tools-target" \
    cargo install --bin wasm-bindgen --root "$WASM_BINDGEN_ROOT" "wasm-bindgen-cli@$WASM_BINDGEN_VERSION" 9>&-
}

# A debug build: the release profile links for ten minutes without a benefit, since this tool mostly waits for others.
# `no_downloads` makes it use the tools on PATH or fail, but never download its own.
cargo_leptos() {
  if [[ $(cargo-leptos --version 2>/dev/null) == "cargo-leptos $CARGO_LEPTOS_VERSION" ]]; then return; fi
  announce "cargo-leptos $CARGO_LEPTOS_VERSION: installing, about 5 minutes, once"
  local openssl=()
  # It bundles OpenSSL's source; using the system's saves two minutes.
  if pkg-config --exists openssl 2>/dev/null; then openssl=(OPENSSL_NO_VENDOR=1); fi
  run_logged cargo-leptos env CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR="$BUILD_CACHE/tools-target" "${openssl[@]}" \
    cargo install --debug --locked --features no_downloads --root "$CARGO_LEPTOS_ROOT" "cargo-leptos@$CARGO_LEPTOS_VERSION" 9>&-
}

cargo_fuzz() {
  command -v c++ >/dev/null || fail "a C++ compiler is missing, which libFuzzer needs: apt-get install build-essential"
  if [[ $(cargo-fuzz --version 2>/dev/null) == "cargo-fuzz $CARGO_FUZZ_VERSION" ]]; then return; fi
  announce "cargo-fuzz $CARGO_FUZZ_VERSION: installing, about 1 minute, once"
  run_logged cargo-fuzz env CARGO_TARGET_DIR="$BUILD_CACHE/tools-target" \
    cargo install --locked --root "$CARGO_FUZZ_ROOT" "cargo-fuzz@$CARGO_FUZZ_VERSION" 9>&-
}

# A debug build takes a fraction of the time, and the tool runs for a second either way.
cargo_deny() {
  if [[ $(cargo-deny --version 2>/dev/null) == "cargo-deny $CARGO_DENY_VERSION" ]]; then return; fi
  announce "cargo-deny $CARGO_DENY_VERSION: installing, about 2 minutes, once"
  run_logged cargo-deny env CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR="$BUILD_CACHE/tools-target" \
    cargo install --debug --locked --no-default-features --root "$CARGO_DENY_ROOT" "cargo-deny@$CARGO_DENY_VERSION" 9>&-
}

cargo_deb() {
  if [[ $(cargo-deb --version 2>/dev/null) == "cargo-deb $CARGO_DEB_VERSION" ]]; then return; fi
  announce "cargo-deb $CARGO_DEB_VERSION: installing, about 1 minute, once"
  # Without the library for xz: the program of that name is everywhere.
  run_logged cargo-deb env CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR="$BUILD_CACHE/tools-target" \
    cargo install --debug --locked --no-default-features --root "$CARGO_DEB_ROOT" "cargo-deb@$CARGO_DEB_VERSION" 9>&-
}

cargo_cyclonedx() {
  if [[ $(cargo-cyclonedx cyclonedx --version 2>/dev/null) == "cargo-cyclonedx-cyclonedx $CARGO_CYCLONEDX_VERSION" ]]; then return; fi
  announce "cargo-cyclonedx $CARGO_CYCLONEDX_VERSION: installing, about 1 minute, once"
  run_logged cargo-cyclonedx env CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR="$BUILD_CACHE/tools-target" \
    cargo install --debug --locked --root "$CARGO_CYCLONEDX_ROOT" "cargo-cyclonedx@$CARGO_CYCLONEDX_VERSION" 9>&-
}

main "$@"
