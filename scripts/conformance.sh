#!/usr/bin/env bash
# Checks a server against the specification of the interface, point by point (tests/conformance). Environment variables:
#
#   URL      the base URL; default: the built-in emulator
#   PROJECT  a project of the server
#   KEY      the admin key, or KEY_FILE, a file with the key; default: a prompt. With `KEY=… make conformance` the key is on no
#            command line, where other users of the machine could read it; with `make conformance KEY=…` it is.
#   JOB      a job of the project to read; default: a job is read only if WRITES=1 creates one
#   WRITES   1: also starts a job and sends a follow-up. Otherwise nothing is written.
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
# Only the test needs the key, but make passes its variables on to all child processes.
unset KEY MAKEFLAGS MAKEOVERRIDES
compile_for_this_clone
exec cargo test --locked --quiet --features ssr --test conformance
