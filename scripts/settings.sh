#!/usr/bin/env bash
# Writes Leptos.toml and the table of settings from the documentation of RawConfig. With all packages of the server, the dependencies have the
# same features as in the other tests, and are not compiled again.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"
compile_for_this_clone

UPDATE_DOCS=1 cargo test --locked "${SERVER_PACKAGES[@]}" --features ssr --test generated
