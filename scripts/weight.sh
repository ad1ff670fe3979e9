#!/usr/bin/env bash
# Prints what a browser must fetch before a page of the built site is interactive, as brotli sends it, and fails if that is
# more than it may be. 1 KB is 1000 bytes.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

AIM_KB=185
LIMIT_KB=300
PKG=$ROOT/target/site/pkg

main() {
  local total=0 kind
  say "A browser must fetch (brotli):"
  for kind in wasm js css; do
    local bytes
    bytes=$(bytes_of "$kind")
    ((bytes > 0)) || fail "there is no .$kind.br in $PKG: was the site built with --precompress?"
    line "$kind" "$bytes"
    total=$((total + bytes))
  done
  line total "$total"
  say "  aim ${AIM_KB} KB, limit ${LIMIT_KB} KB"
  ((total <= LIMIT_KB * 1000)) || fail "the front end is heavier than ${LIMIT_KB} KB."
}

bytes_of() {
  find "$PKG" -name "*.$1.br" -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }'
}

line() {
  awk -v name="$1" -v bytes="$2" 'BEGIN { printf "  %-6s %7.1f KB\n", name, bytes / 1000 }'
}

main
