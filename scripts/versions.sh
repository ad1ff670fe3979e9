# shellcheck shell=bash
# The one place where the versions of the build tools are written down; sourced by scripts/env.sh.
#
# Not here, because they are pinned elsewhere already:
#   wasm-bindgen-cli            the wasm-bindgen of Cargo.lock, to which it must be equal
#   Tailwind, wasm-opt, Playwright, TypeScript   end2end/package-lock.json
#   the Rust compiler           any that satisfies rust-version in Cargo.toml

# shellcheck disable=SC2034  # used by the scripts that source this
{
  CARGO_LEPTOS_VERSION=0.3.10
  CARGO_FUZZ_VERSION=0.13.2
  CARGO_DENY_VERSION=0.20.2
  NODE_MAJOR_MINIMUM=20
  # Where set-up looks for the compiler's own source if rustup may not install.
  RUST_SRC_SUITE=trixie-backports
}
