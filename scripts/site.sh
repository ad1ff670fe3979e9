#!/usr/bin/env bash
# Builds the front end of a release into target/site, compressed: what `cargo leptos build --release --precompress` does, without a tool whose
# own build takes longer than this. `make dev` uses cargo-leptos, which also watches and reloads; Cargo.toml has the settings of both.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"

SITE=target/site
PKG=$SITE/pkg
TARGET=wasm32-unknown-unknown
PROFILE=wasm-release

main() {
  compiled
  rm -rf "$SITE.new"
  mkdir -p "$SITE.new/pkg"
  cp -R public/. "$SITE.new/"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  wasm-bindgen --target web --no-typescript --out-name docket --out-dir "$work" "$CARGO_TARGET_DIR/front/$TARGET/$PROFILE/docket.wasm"
  local passes
  mapfile -t passes < <(setting wasm-opt-features)
  # docket.wasm is the name that Leptos asks for.
  node scripts/module.mjs "$work" "${passes[@]}"
  mv "$work/docket_bg.wasm" "${PKG/$SITE/$SITE.new}/docket.wasm"
  esbuild "$work/docket.js" --minify --format=esm --target=es2022 --log-level=warning --outfile="${PKG/$SITE/$SITE.new}/docket.js"
  tailwindcss --input "$(setting tailwind-input-file)" --output "$work/docket.css" --minify 2>"$work/tailwind.log" ||
    { cat "$work/tailwind.log" >&2; fail "Tailwind failed."; }
  node scripts/site.mjs "$work/docket.css" "$SITE.new"
  # The server is compiled again whenever these files are newer.
  if diff --recursive --brief "$SITE" "$SITE.new" >/dev/null 2>&1; then
    rm -rf "$SITE.new"
  else
    rm -rf "$SITE"
    mv "$SITE.new" "$SITE"
  fi
}

# With the small standard library, if it could be built: see scripts/wasm-std.sh. What it says of panics names no folder.
compiled() {
  local build=(cargo build --locked --lib --no-default-features --features hydrate --target "$TARGET" --profile "$PROFILE"
    --target-dir "$CARGO_TARGET_DIR/front") std
  std=$(front_std)
  if [[ -d $std ]]; then
    local flags=(--sysroot "$std" "${FRONT_FLAGS[@]}")
    RUSTC_BOOTSTRAP=1 CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; printf '%s' "${flags[*]}") "${build[@]}"
  else
    "${build[@]}"
  fi
}

# setting NAME: a value of [package.metadata.leptos], a list one a line.
setting() {
  cargo metadata --locked --no-deps --format-version 1 | node -p '
    const { packages } = JSON.parse(require("fs").readFileSync(0));
    const value = packages.find(({ name }) => name === "docket").metadata.leptos[process.argv[1]];
    [value].flat().join("\n")' "$1"
}

main
