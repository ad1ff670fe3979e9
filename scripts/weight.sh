#!/usr/bin/env bash
# Prints the size (brotli) of the files that a browser needs before a page of the built site is interactive, and fails above
# the limit. Every page needs the same files: one WebAssembly module, its script and the stylesheet. 1 KB is 1000 bytes.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

AIM_KB=130
LIMIT_KB=150
PKG=$ROOT/target/site/pkg

main() {
  local modules total=0 part bytes
  modules=$(find "$PKG" -name '*.wasm' | wc -l)
  ((modules == 1)) || fail "there are $modules WebAssembly files in $PKG; there must be one."
  say "Every page fetches (brotli):"
  for part in docket.wasm docket.js docket.css; do
    bytes=$(bytes_of "$part")
    line "$part" "$bytes"
    total=$((total + bytes))
  done
  line "total" "$total"
  say "  aim ${AIM_KB} KB, limit ${LIMIT_KB} KB"
  ((total <= LIMIT_KB * 1000)) || fail "the front end is larger than ${LIMIT_KB} KB."
}

bytes_of() {
  [[ -s $PKG/$1.br ]] || fail "there is no $1.br in $PKG: was the site built with --precompress?"
  wc -c <"$PKG/$1.br"
}

line() {
  awk -v name="$1" -v bytes="$2" 'BEGIN { printf "  %-12s %7.1f KB\n", name, bytes / 1000 }'
}

main
