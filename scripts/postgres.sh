#!/usr/bin/env bash
# A PostgreSQL server for tests, in a temporary folder with its socket. Writes its URL to standard output without
# the name of a database, restarts it without an orderly shutdown for each line `restart` of standard input, and stops and removes it
# at the end of standard input. Its data is temporary, so nothing is synced to disk.
# `postgres.sh tls FOLDER` starts one that accepts only TLS, with the certificate server.pem and its key server.key in FOLDER.
# `postgres.sh programs` only prints the folder of the server's programs.
set -euo pipefail

folder=
server=

main() {
  local bin
  if [[ ${1:-} == programs ]]; then
    server_programs
    return
  fi
  bin=$(server_programs) || fail "the tests need PostgreSQL 14 or later: apt-get install postgresql"
  # In memory if possible: each test has a database of some hundred files.
  local memory=/dev/shm
  [[ -d $memory && -w $memory ]] || memory=/tmp
  folder=$(mktemp -d "$memory/docket-postgres.XXXXXX")
  trap stop EXIT
  local as=()
  # The server refuses to run as root.
  if [[ $(id -u) == 0 ]]; then
    chown postgres "$folder"
    as=(setpriv --reuid=postgres --regid=postgres --init-groups --)
  fi
  cd "$folder"
  "${as[@]}" "$bin/initdb" --pgdata="$folder/data" --username=docket --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >/dev/null
  # Tests of passwords connect as this role.
  printf 'local all guarded scram-sha-256\nlocal all all trust\n' >"$folder/data/pg_hba.conf"
  local options=(-c listen_addresses=) host=${folder//\//%2F}
  if [[ ${1:-} == tls ]]; then
    local port=$((20000 + RANDOM % 12000))
    "${as[@]}" tee "$folder/server.pem" <"$2/server.pem" >/dev/null
    (umask 077 && "${as[@]}" tee "$folder/server.key" <"$2/server.key" >/dev/null)
    printf 'local all all trust\nhostssl all all 127.0.0.1/32 trust\n' >"$folder/data/pg_hba.conf"
    options=(-c listen_addresses=127.0.0.1 -c "port=$port" -c ssl=on -c "ssl_cert_file=$folder/server.pem" -c "ssl_key_file=$folder/server.key")
    host=localhost:$port
    export PGPORT=$port
  fi
  begin
  printf 'postgres://docket@%s/\n' "$host"
  local command
  while read -r command; do
    [[ $command == restart ]] || fail "unknown command: $command"
    # An immediate shutdown, like a crash.
    kill -QUIT "$server"
    wait "$server" || true
    begin
    echo restarted
  done
}

# Starts the server, and waits until it responds. Uses the variables of `main`.
begin() {
  "${as[@]}" "$bin/postgres" -D "$folder/data" -k "$folder" "${options[@]}" -c max_connections=400 \
    -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0 \
    -c autovacuum=off -c log_min_messages=panic </dev/null >"$folder/log" 2>&1 &
  server=$!
  until "$bin/pg_isready" --quiet --host="$folder"; do
    kill -0 "$server" 2>/dev/null || fail "PostgreSQL did not start: $(cat "$folder/log")"
    sleep 0.05
  done
}

server_programs() {
  local bin
  bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort --version-sort | tail -n 1)
  if [[ -x $bin/postgres ]]; then
    printf '%s\n' "$bin"
  elif command -v postgres >/dev/null; then
    dirname "$(command -v postgres)"
  else
    return 1
  fi
}

stop() {
  if [[ -n $server ]]; then
    # Does not wait for connections.
    kill -QUIT "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  cd /
  rm -rf "$folder"
}

fail() {
  printf 'postgres.sh: %s\n' "$1" >&2
  exit 1
}

main "$@"
