#!/usr/bin/env bash
# Compares the JSON API of target/release/docket with its own description, with schemathesis: on SQLite and on PostgreSQL, with valid and invalid
# requests. Fails at undocumented responses and server errors. `api-test.sh [EXAMPLES]`: how many requests of each kind per endpoint.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"

BINARY=${BINARY:-$ROOT/target/release/docket}
EXAMPLES=${1:-30}
# Each token can send 60 requests a minute.
TOKENS=40
CHECKS=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance
CHECKS+=,negative_data_rejection,missing_required_header,unsupported_method,allow_header_conformance,ignored_auth

folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT

main() {
  [[ -x $BINARY ]] || fail "there is no $BINARY: make build"
  "$BINARY" emulator --addr 127.0.0.1:0 --key mint_of_the_api_test --per-hour 100000 >"$folder/emulator.log" &
  local platform
  platform=$(word_after 'Base address  ' "$folder/emulator.log")
  check sqlite "sqlite://$folder/docket.db"
  begin_postgres "$folder/postgres" || fail "there is no PostgreSQL to compare with"
  check postgresql "${POSTGRES_URL}postgres"
}

# check NAME DATABASE_URL
check() {
  local name=$1 address tokens=() status=0
  export DOCKET_DATABASE_URL=$2 DOCKET_UPSTREAM_URL=$platform DOCKET_API_KEY=mint_of_the_api_test
  export DOCKET_PROJECTS=docs=Docs,api=API DOCKET_ADDR=127.0.0.1:0 DOCKET_ADMIN_PASSWORD=of-the-api-test DOCKET_AGENT_PER_HOUR=100000
  "$BINARY" serve 2>"$folder/$name.log" &
  local process=$!
  address=$(word_after 'listening address=' "$folder/$name.log")
  for number in $(seq "$TOKENS"); do
    tokens+=("$("$BINARY" token create --user admin --name "Check $number" --scopes jobs:read,jobs:write,analytics:read)")
  done
  # It leaves a cache in its folder. With several workers, CPython 3.11 fails now and then (“AST constructor recursion depth mismatch”).
  cd "$folder"
  API_TOKENS=${tokens[*]} SCHEMATHESIS_HOOKS=api-test PYTHONPATH=$ROOT/scripts \
    "$SCHEMATHESIS_ROOT/bin/schemathesis" --config-file "$ROOT/scripts/api-test.toml" run "http://$address/api/v1/openapi.json" \
    --checks "$CHECKS" --max-examples "$EXAMPLES" --workers 1 --continue-on-failure --generation-deterministic || status=$?
  kill "$process" && wait "$process" || true
  if ((status > 0)); then grep -h "ERROR\|WARN" "$folder/$name.log" | head -20 || true; fi
  # In the format of cargo test, which test.sh counts.
  printf 'test result: %s. %d passed; %d failed; 0 ignored\n' "$name" $((status == 0)) $((status != 0))
  return "$status"
}

# word_after TEXT FILE: the word after this text, as soon as a process writes it.
word_after() {
  local line
  for _ in $(seq 600); do
    line=$(grep -o "$1[^ ]*" "$2" 2>/dev/null || true)
    if [[ -n $line ]]; then
      printf '%s\n' "${line#"$1"}"
      return
    fi
    sleep 0.1
  done
  fail "no “$1” in $2: $(cat "$2")"
}

main
