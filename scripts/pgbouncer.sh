#!/usr/bin/env bash
# PgBouncer in front of a PostgreSQL server, for tests: `pgbouncer.sh SERVER LINE…`. SERVER is how it connects (`host=… port=…`), each LINE is one of
# its configuration. Writes its URL to standard output without the name of a database, and stops and removes it at the end of standard input.
set -euo pipefail

folder=
pooler=

main() {
  local server=$1 memory=/dev/shm
  shift
  command -v pgbouncer >/dev/null || fail "the tests need PgBouncer: apt-get install pgbouncer"
  [[ -d $memory && -w $memory ]] || memory=/tmp
  folder=$(mktemp -d "$memory/docket-pgbouncer.XXXXXX")
  trap stop EXIT
  local as=()
  # It refuses to run as root.
  if [[ $(id -u) == 0 ]]; then
    chown postgres "$folder"
    as=(setpriv --reuid=postgres --regid=postgres --init-groups --)
  fi
  printf '"docket" ""\n' >"$folder/users.txt"
  {
    printf '[databases]\n* = %s\n[pgbouncer]\n' "$server"
    printf 'listen_addr =\nunix_socket_dir = %s\nauth_type = trust\nauth_file = %s/users.txt\nadmin_users = docket\n' "$folder" "$folder"
    printf '%s\n' "$@"
  } >"$folder/pgbouncer.ini"
  "${as[@]}" pgbouncer --quiet "$folder/pgbouncer.ini" </dev/null >"$folder/log" 2>&1 &
  pooler=$!
  until [[ -S $folder/.s.PGSQL.6432 ]]; do
    kill -0 "$pooler" 2>/dev/null || fail "PgBouncer did not start: $(cat "$folder/log")"
    sleep 0.05
  done
  printf 'postgres://docket@%s:6432/\n' "${folder//\//%2F}"
  cat >/dev/null
}

stop() {
  if [[ -n $pooler ]]; then
    kill -TERM "$pooler" 2>/dev/null || true
    wait "$pooler" 2>/dev/null || true
  fi
  rm -rf "$folder"
}

fail() {
  printf 'pgbouncer.sh: %s\n' "$1" >&2
  exit 1
}

main "$@"
