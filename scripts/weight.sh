#!/usr/bin/env bash
# Prints the size (brotli) of the files that every page of the built site loads, and fails above the limit: one WebAssembly module,
# its script, the stylesheet and the icons. 1 KB is 1000 bytes.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

AIM_KB=130
LIMIT_KB=150
SITE=$ROOT/target/site

main() {
  local modules total=0 part bytes
  modules=$(find "$SITE" -name '*.wasm' | wc -l)
  ((modules == 1)) || fail "there are $modules WebAssembly files in $SITE; there must be one."
  say "Every page fetches (brotli):"
  for part in pkg/docket.{wasm,js,css} icons.svg; do
    bytes=$(bytes_of "$part")
    line "$part" "$bytes"
    total=$((total + bytes))
  done
  line "total" "$total"
  say "  aim ${AIM_KB} KB, limit ${LIMIT_KB} KB"
  ((total <= LIMIT_KB * 1000)) || fail "the front end is larger than ${LIMIT_KB} KB."
}

bytes_of() {
  [[ -s $SITE/$1.br ]] || fail "there is no $1.br in $SITE: was the site built with --precompress?"
  wc -c <"$SITE/$1.br"
}

line() {
  awk -v name="$1" -v bytes="$2" 'BEGIN { printf "  %-16s %7.1f KB\n", name, bytes / 1000 }'
}

main
