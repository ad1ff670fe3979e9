# shellcheck shell=bash
# Sourced by every script: paths, the tools on PATH, and functions for messages.
#
# BUILD_CACHE (default ~/.cache/docket-build) holds what clones can share: cargo's target directory, npm's
# cache, the installed tools and their logs. No variable here may begin with DOCKET_: the server refuses the ones it
# does not know.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/versions.sh
source "$ROOT/scripts/versions.sh"

# The wasm-bindgen version the code is compiled with; the command-line tool must have the same version.
locked_wasm_bindgen_version() {
  awk '/^name = "wasm-bindgen"$/ { getline; gsub(/[^0-9.]/, ""); print; exit }' "$ROOT/Cargo.lock"
}

WASM_BINDGEN_VERSION=$(locked_wasm_bindgen_version)

export BUILD_CACHE=${BUILD_CACHE:-$HOME/.cache/docket-build}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$BUILD_CACHE/target}
export npm_config_cache=${npm_config_cache:-$BUILD_CACHE/npm}
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
# Debian's Chromium without windows, for the tests: the same engine as the one with, which takes twice the processor time. That one measures
# what pages cost people, and is for the tests of what only it has: a cache of pages for the Back button.
export CHROMIUM=${CHROMIUM:-/usr/bin/chromium-headless-shell}
export CHROMIUM_WITH_WINDOWS=${CHROMIUM_WITH_WINDOWS:-/usr/bin/chromium}

CARGO_LEPTOS_ROOT=$BUILD_CACHE/tools/cargo-leptos-$CARGO_LEPTOS_VERSION
CARGO_FUZZ_ROOT=$BUILD_CACHE/tools/cargo-fuzz-$CARGO_FUZZ_VERSION
CARGO_DENY_ROOT=$BUILD_CACHE/tools/cargo-deny-$CARGO_DENY_VERSION
CARGO_DEB_ROOT=$BUILD_CACHE/tools/cargo-deb-$CARGO_DEB_VERSION
CARGO_CYCLONEDX_ROOT=$BUILD_CACHE/tools/cargo-cyclonedx-$CARGO_CYCLONEDX_VERSION
ZIG_ROOT=$BUILD_CACHE/tools/zig-$(sed -n 's/^ziglang==\([^ ]*\).*/\1/p' "$ROOT/scripts/zig.txt")
SCHEMATHESIS_ROOT=$BUILD_CACHE/tools/schemathesis-$(sed -n 's/^schemathesis==//p' "$ROOT/scripts/schemathesis.txt")
DEBIAN_11=$BUILD_CACHE/tools/debian-11.tar
CADDY_ROOT=$BUILD_CACHE/tools/caddy
NGINX_ROOT=$BUILD_CACHE/tools/nginx
PROMETHEUS_ROOT=$BUILD_CACHE/tools/prometheus
WASM_BINDGEN_ROOT=$BUILD_CACHE/tools/wasm-bindgen-cli-$WASM_BINDGEN_VERSION
NODE_MODULES=$ROOT/end2end/node_modules
LOGS=$BUILD_CACHE/logs

export PATH="$CARGO_LEPTOS_ROOT/bin:$CARGO_FUZZ_ROOT/bin:$CARGO_DENY_ROOT/bin:$CARGO_DEB_ROOT/bin:$CARGO_CYCLONEDX_ROOT/bin:$ZIG_ROOT/bin:$WASM_BINDGEN_ROOT/bin:$CADDY_ROOT/usr/bin:$NGINX_ROOT/usr/sbin:$PROMETHEUS_ROOT/usr/bin:$NODE_MODULES/.bin:$PATH:/usr/sbin"
# The wrappers that cargo-zigbuild writes, and what Zig builds of a C library.
export CARGO_ZIGBUILD_ZIG_PATH=$ZIG_ROOT/bin/zig CARGO_ZIGBUILD_CACHE_DIR=$BUILD_CACHE/zigbuild ZIG_GLOBAL_CACHE_DIR=$BUILD_CACHE/zig ZIG_LOCAL_CACHE_DIR=$BUILD_CACHE/zig
# Lets Tailwind find `@import "tailwindcss"` from style/, which has no node_modules above it.
export NODE_PATH=$NODE_MODULES

# The packages whose code runs on the server. Always the same: for another set, cargo may choose other features and compile all again.
SERVER_PACKAGES=(--package docket --package docket-api --package docket-base --package docket-client --package docket-clients --package docket-emulator --package docket-model --package docket-service --package docket-store --package docket-web)

say() { printf '%s\n' "$*"; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Before cargo compiles. Clones share its target directory, and it compares only times: what another clone compiled an hour ago would be newer than a
# file that was edited here two hours ago, and be taken for this clone's. So if another clone compiled last, all files are new.
compile_for_this_clone() {
  local last=$CARGO_TARGET_DIR/last-clone
  if [[ -f $last && $(<"$last") != "$ROOT" ]]; then
    find "$ROOT" \( -name target -o -name node_modules -o -name .git \) -prune -o -type f -exec touch -c {} +
  fi
  mkdir -p "$CARGO_TARGET_DIR"
  printf '%s\n' "$ROOT" >"$last"
}

# How long PostgreSQL may take to start, in seconds.
POSTGRES_MAX=${POSTGRES_MAX:-60}

# begin_postgres FOLDER: starts scripts/postgres.sh as the process POSTGRES, and sets POSTGRES_URL. It ends when file descriptor 8 is closed, and so
# with this process. FOLDER is new. (The variables of a coprocess disappear when it ends, even before they are read.)
begin_postgres() {
  local folder=$1 started=$SECONDS
  mkdir -p "$folder"
  mkfifo "$folder/commands"
  "$ROOT/scripts/postgres.sh" >"$folder/url" <"$folder/commands" &
  POSTGRES=$!
  exec 8>"$folder/commands"
  until read -r POSTGRES_URL <"$folder/url"; do
    if ! kill -0 "$POSTGRES" 2>/dev/null; then
      say "== scripts/postgres.sh ended before its server was ready; its message is above"
      return 1
    elif ((SECONDS - started > POSTGRES_MAX)); then
      say "== PostgreSQL was not ready within $POSTGRES_MAX s"
      return 1
    fi
    sleep 0.1
  done
}

# "95" -> "1 min 35 s"
duration() {
  if (($1 < 60)); then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

# ", 12 of 235 crates compiled", from the progress bar that cargo writes into a log.
crates_built() {
  tr '\r' '\n' <"$1" | sed -n 's|.*Building \[.*\] \([0-9]*\)/\([0-9]*\).*|, \1 of \2 crates compiled|p' | tail -n 1
}

# run_logged NAME COMMAND…: runs COMMAND with its output in a log. Reports progress twice a minute; shows the end
# of the log and returns COMMAND's status if it fails.
run_logged() {
  local name=$1 log started=$SECONDS heartbeat status=0
  shift
  mkdir -p "$LOGS"
  log="$LOGS/${name// /-}.log"
  (
    trap 'kill "$!" 2>/dev/null; exit' TERM
    while :; do
      sleep 30 &
      wait "$!"
      say "    $name: running for $(duration $((SECONDS - started)))$(crates_built "$log")"
    done
  ) &
  heartbeat=$!
  CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=60 "$@" >"$log" 2>&1 || status=$?
  kill "$heartbeat" 2>/dev/null || true
  wait "$heartbeat" 2>/dev/null || true
  if ((status != 0)); then
    tr '\r' '\n' <"$log" | grep -v -e "^npm warn" -e "Building \[" | tail -n 30 >&2 || true
    printf 'error: %s failed after %s; the full log is %s\n' "$name" "$(duration $((SECONDS - started)))" "$log" >&2
    return "$status"
  fi
  say "    $name: done in $(duration $((SECONDS - started)))"
}
