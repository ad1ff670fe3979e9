#!/usr/bin/env bash
# Prints what a browser must fetch before a page of the built site is interactive, as brotli sends it, and fails if that is
# more than it may be for any page. 1 KB is 1000 bytes.
#
# Every page needs the WebAssembly and scripts of the core, and the stylesheet. A page of its own piece needs in addition what
# the manifest names for it; the others (the overview, the list of jobs, …) are in the core.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

AIM_KB=185
LIMIT_KB=300
PKG=$ROOT/target/site/pkg
MANIFEST=$PKG/__wasm_split_manifest.json

main() {
  [[ -f $MANIFEST ]] || fail "there is no $MANIFEST: was the site built with --split?"
  local core=0 heaviest part bytes page pieces
  say "Every page fetches (brotli):"
  for part in docket.wasm docket.js __wasm_split.______________________.js docket.css; do
    bytes=$(bytes_of "$part")
    line "${part/.*.js/.js}" "$bytes"
    core=$((core + bytes))
  done
  line "together" "$core"
  heaviest=$core
  say "With their own pieces:"
  while read -r page pieces; do
    bytes=$core
    for part in $pieces; do bytes=$((bytes + $(bytes_of "$part.wasm"))); done
    line "$page" "$bytes"
    ((bytes <= heaviest)) || heaviest=$bytes
  done < <(pages)
  line "heaviest" "$heaviest"
  say "  aim ${AIM_KB} KB, limit ${LIMIT_KB} KB"
  ((heaviest <= LIMIT_KB * 1000)) || fail "the front end is heavier than ${LIMIT_KB} KB."
}

# One line for each page that has pieces of its own: its name and theirs.
pages() {
  node -p 'Object.entries(JSON.parse(require("fs").readFileSync(process.argv[1])))
    .map(([page, pieces]) => [page, ...pieces].join(" ")).sort().join("\n")' "$MANIFEST"
}

bytes_of() {
  [[ -s $PKG/$1.br ]] || fail "there is no $1.br in $PKG: was the site built with --precompress?"
  wc -c <"$PKG/$1.br"
}

line() {
  awk -v name="$1" -v bytes="$2" 'BEGIN { printf "  %-18s %7.1f KB\n", name, bytes / 1000 }'
}

main
