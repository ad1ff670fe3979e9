# shellcheck shell=bash
# The versions of the build tools; sourced by scripts/env.sh.
#
# Pinned elsewhere:
#   wasm-bindgen-cli            the version of wasm-bindgen in Cargo.lock
#   Tailwind, wasm-opt, Playwright, TypeScript   end2end/package-lock.json
#   the Rust compiler           any version that satisfies rust-version in Cargo.toml

# shellcheck disable=SC2034  # used by the scripts that source this
{
  CARGO_LEPTOS_VERSION=0.3.10
  CARGO_FUZZ_VERSION=0.13.2
  CARGO_DENY_VERSION=0.20.2
  NODE_MAJOR_MINIMUM=20
  # The Debian suite with the compiler's source, for machines where rustup may not install.
  RUST_SRC_SUITE=trixie-backports
}
