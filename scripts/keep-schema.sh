#!/usr/bin/env bash
# keep-schema.sh VERSION: stores a database of the current schema, with rows in every table, as tests/schemas/VERSION.sqlite.gz and, dumped,
# as tests/schemas/VERSION.postgres.sql.gz. Run it at each release; tests/api/stored_schemas.rs opens all of them.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/env.sh
source scripts/env.sh
compile_for_this_clone

version=${1:-}
if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
  echo 'usage: scripts/keep-schema.sh VERSION, such as 0.2.0' >&2
  exit 2
fi
for file in "tests/schemas/$version".{sqlite,postgres.sql}.gz; do
  if [[ -e $file ]]; then
    echo "keep-schema.sh: $file is there already; a kept schema never changes" >&2
    exit 1
  fi
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The test of `docket copy` fills every table, and moves all of it to PostgreSQL.
PG_DUMP=$(scripts/postgres.sh programs)/pg_dump KEEP_SCHEMA=$folder \
  cargo test --locked --features ssr --test api copy::database_copied_to_postgres_and_back_is_identical
gzip --best --no-name <"$folder/sqlite" >"tests/schemas/$version.sqlite.gz"
gzip --best --no-name <"$folder/postgres.sql" >"tests/schemas/$version.postgres.sql.gz"
ls -l tests/schemas/"$version".*
