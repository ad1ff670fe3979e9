# shellcheck shell=bash
# The versions of the build tools; sourced by scripts/env.sh.
#
# Pinned elsewhere:
#   wasm-bindgen-cli            the version of wasm-bindgen in Cargo.lock
#   cargo-zigbuild, Zig          scripts/zig.txt, with their checksums
#   Tailwind, wasm-opt, Playwright, TypeScript   end2end/package-lock.json
#   the Rust compiler           any version that satisfies rust-version in Cargo.toml

# shellcheck disable=SC2034  # used by the scripts that source this
{
  CARGO_LEPTOS_VERSION=0.3.10
  CARGO_FUZZ_VERSION=0.13.2
  CARGO_DENY_VERSION=0.20.2
  CARGO_DEB_VERSION=3.8.0
  CARGO_CYCLONEDX_VERSION=0.5.9
  NODE_MAJOR_MINIMUM=20
  # The Debian suite with the compiler's source, for machines where rustup may not install.
  RUST_SRC_SUITE=trixie-backports
}
