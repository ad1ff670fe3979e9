#!/usr/bin/env bash
# Checks an upstream against the specification of the interface, point by point (tests/conformance). From the environment:
#
#   URL      its base address; nothing: the built-in emulator
#   PROJECT  a project of it
#   KEY      the admin key, or KEY_FILE, a file that holds it; nothing: asked for. `KEY=… make conformance` keeps it off every
#            command line, where other people on the machine could read it; `make conformance KEY=…` does not.
#   JOB      a job of the project to read; nothing: one is read only if one may be created
#   WRITES   1: also starts a job and follows it up. Otherwise nothing is written.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"

if [[ -n ${URL:-} ]]; then
  [[ -n ${PROJECT:-} ]] || fail "PROJECT is missing: make conformance URL=… PROJECT=…"
  if [[ -z ${KEY:-} && -n ${KEY_FILE:-} ]]; then KEY=$(<"$KEY_FILE"); fi
  if [[ -z ${KEY:-} && -t 0 ]]; then read -rsp 'Key: ' KEY && echo; fi
  [[ -n ${KEY:-} ]] || fail "KEY is missing: KEY=… make conformance URL=… PROJECT=…"
  export CONFORMANCE_URL=$URL CONFORMANCE_PROJECT=$PROJECT CONFORMANCE_KEY=$KEY
  export CONFORMANCE_JOB=${JOB:-} CONFORMANCE_WRITES=${WRITES:-}
fi
# The test alone needs the key, and make hands its variables on to everything below.
unset KEY MAKEFLAGS MAKEOVERRIDES
exec cargo test --locked --quiet --features ssr --test conformance
