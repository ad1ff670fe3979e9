#!/usr/bin/env bash
# Prints the size (brotli) of the files that every page of the built site loads, and fails above the limit: the WebAssembly module, its
# scripts, the stylesheet and the icons. Also prints what is loaded on demand. 1 KB is 1000 bytes.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

LIMIT_KB=165
# Parts of the module that a page loads when they are used. One more is a decision: each is a file more, and a click that waits.
ON_DEMAND=(pkg/split_on_demand.wasm)
# The script that loads them, as cargo-leptos names it.
SPLIT_SCRIPT=__wasm_split.______________________.js
SITE=$ROOT/target/site

main() {
  local modules total=0 part bytes
  modules=$(find "$SITE" -name '*.wasm' | wc -l)
  ((modules == 1 + ${#ON_DEMAND[@]})) || fail "there are $modules WebAssembly files in $SITE; expected are docket.wasm and ${ON_DEMAND[*]}."
  say "Every page fetches (brotli):"
  for part in pkg/docket.{wasm,js,css} "pkg/$SPLIT_SCRIPT" icons.svg; do
    bytes=$(bytes_of "$part")
    line "$part" "$bytes"
    total=$((total + bytes))
  done
  line "total" "$total"
  say "  limit ${LIMIT_KB} KB"
  say "On demand:"
  for part in "${ON_DEMAND[@]}"; do
    line "$part" "$(bytes_of "$part")"
  done
  ((total <= LIMIT_KB * 1000)) || fail "the front end is larger than ${LIMIT_KB} KB."
}

bytes_of() {
  [[ -s $SITE/$1.br ]] || fail "there is no $1.br in $SITE: was the site built with --precompress?"
  wc -c <"$SITE/$1.br"
}

line() {
  awk -v name="$1" -v bytes="$2" 'BEGIN { printf "  %-44s %7.1f KB\n", name, bytes / 1000 }'
}

main
