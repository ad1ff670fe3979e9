#!/usr/bin/env bash
# `test.sh`: the checks and tests that a change must pass, the fastest first. `test.sh all`: everything, for a release, and before an issue is
# called resolved. Stops at the first stage that fails.
# The last line is `N passed, N failed`, the sum of all Rust tests, all browser tests, and each other stage as one check.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

SUMMARY=target/test-summary
# Of the Rust tests. The binary that they build has the site in it, for the browser tests.
OPTIONS=(--locked --features ssr,embed --no-fail-fast)
# Deadline for the tests of one stage: several times their duration on a busy machine.
TESTS_MAX=${TESTS_MAX:-60m}
passed=0
failed=0
skipped=0

# Most tests wait for a database or a process more than they compute.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))}
# A snapshot that is missing or differs fails its test; nothing is written.
export INSTA_UPDATE=no

main() {
  local all=false
  case ${1:-} in
    "") ;;
    all) all=true ;;
    *) fail "usage: test.sh [all]" ;;
  esac
  cd "$ROOT"
  mkdir -p target
  rm -f "$SUMMARY"
  trap summarise EXIT
  compile_for_this_clone
  if $all; then check "set-up" scripts/setup.sh test-all; else check "set-up" scripts/setup.sh test; fi
  check "format" scripts/lint.sh format
  check "types of the browser tests" scripts/lint.sh end2end
  check "description of the API" scripts/lint.sh api
  if $all; then check "supply chain" scripts/supply-chain.sh; fi
  check "clippy for the browser" scripts/lint.sh browser
  check "clippy for the server" scripts/lint.sh server
  # Before the server, which embeds it.
  check "front end and its weight" scripts/build.sh site
  rust_tests "Rust tests" rust_test "${SERVER_PACKAGES[@]}"
  if $all; then
    postgres_tests "all Rust tests on PostgreSQL"
    check "release build and packages" scripts/dist.sh
    counted_tests "packages" scripts/dist-test.sh
    counted_tests "API and its description" scripts/api-test.sh
    browser_tests target/release/docket
    playwright_tests "pictures of the pages" screenshots.json scripts/screenshots.sh
  else
    local modules
    mapfile -t modules < <(modules_on_postgres)
    postgres_tests "Rust tests on PostgreSQL" "${modules[@]}"
    check "binary for the browser tests" scripts/build.sh development
    browser_tests target/debug/docket
  fi
}

# A stage that counts as one check.
check() {
  local name=$1 started=$SECONDS status=0
  shift
  say "== $name"
  "$@" || status=$?
  judge "$name" "$started" "$status" $((status == 0)) $((status != 0)) 0
}

# postgres_tests NAME [MODULE…]: the Rust tests that use a database, on a PostgreSQL server that ends with this stage; of tests/api, only these
# modules, or all.
postgres_tests() {
  local name=$1 folder=target/postgres-of-tests started=$SECONDS
  shift
  rm -rf "$folder"
  if ! begin_postgres "$folder"; then judge "$name" "$started" 1 0 1 0; fi
  # A test that left a process behind would keep the server running.
  TEST_DATABASE=postgres TEST_POSTGRES_URL=$POSTGRES_URL counted_tests "$name" on_database "$@" 8>&-
  exec 8>&-
  wait "$POSTGRES" || true
}

# on_database [MODULE…]
on_database() {
  local status=0
  rust_test "${SERVER_PACKAGES[@]}" --lib "${OPTIONS[@]}" || status=$?
  rust_test "${SERVER_PACKAGES[@]}" --test crash "${OPTIONS[@]}" || status=$?
  rust_test "${SERVER_PACKAGES[@]}" --test api "${OPTIONS[@]}" -- "${@/%/::}" || status=$?
  return "$status"
}

# The modules of tests/api that run on PostgreSQL each time: the first part of the list.
modules_on_postgres() {
  sed -n '/^## make test$/,/^## make test-all$/ { /^[^#]/p }' tests/api/on_postgres.txt
}

# cargo test with a deadline: a test that waits forever fails the stage. The compilation before it has no deadline. Temporary files are in
# memory if possible: a program that writes much to the disk could delay a commit beyond the server's limits. Other users can enter the
# folder, as they can enter /tmp: tests of file permissions need it.
rust_test() {
  local status=0 folder=
  if [[ -d /dev/shm && -w /dev/shm ]]; then
    folder=$(mktemp -d /dev/shm/docket-tests.XXXXXX)
    chmod 711 "$folder"
  fi
  cargo test --no-run "$@" && TMPDIR=${folder:-${TMPDIR:-/tmp}} timeout --kill-after=30 "$TESTS_MAX" cargo test "$@" || status=$?
  if [[ -n $folder ]]; then rm -rf "$folder"; fi
  case $status in
    124) say "== The time limit of $TESTS_MAX was reached" ;;
    137) say "== The tests were killed: the time limit of $TESTS_MAX was reached, or the memory was used up" ;;
  esac
  return "$status"
}

# rust_tests NAME COMMAND…
rust_tests() {
  counted_tests "$@" "${OPTIONS[@]}"
}

# counted_tests NAME COMMAND…: a stage whose output has counts in the format of cargo test.
counted_tests() {
  local started=$SECONDS log=target/counted-tests.log status=0 good bad left name=$1
  shift
  say "== $name"
  "$@" 2>&1 | tee "$log" || status=$?
  # "test result: ok. 3 passed; 0 failed; 1 ignored; …", once per test binary
  read -r good bad left < <(
    awk '/^test result: / { p += $4; f += $6; i += $8 } END { print p + 0, f + 0, i + 0 }' "$log"
  )
  if ((bad > 0 || status != 0 || good == 0)); then
    say "== Why it failed: $name"
    why_it_failed "$log"
  fi
  judge "$name" "$started" "$status" "$good" "$bad" "$left"
}

# why_it_failed LOG: where tests panicked and why, without backtraces, the errors that tests returned, and binaries that ended before their tests
# did; if there is none of these, the end of the log.
why_it_failed() {
  local reasons
  reasons=$(
    awk '
      / panicked at / { left = 8 }
      /^Error: / { left = 8 }
      /process didn.t exit successfully|overflowed its stack|^fatal runtime error|^memory allocation of|^== The / { left = left > 1 ? left : 1 }
      /^stack backtrace:|^note: run with/ { left = 0 }
      left-- > 0
    ' "$1"
  )
  if [[ -z $reasons ]]; then reasons=$(tail -n 40 "$1"); fi
  cut -c 1-500 <<<"$reasons"
}

# browser_tests BINARY
browser_tests() {
  BINARY=$ROOT/$1 playwright_tests "browser tests" results.json scripts/e2e.sh
}

# playwright_tests NAME REPORT COMMAND…: REPORT is the name of the file with Playwright's JSON.
playwright_tests() {
  local name=$1 report=end2end/test-results/$2 started=$SECONDS status=0 good=0 bad=0 left=0
  shift 2
  say "== $name"
  rm -f "$report"
  "$@" || status=$?
  if [[ -f $report ]]; then
    read -r good bad left < <(
      node -p 'const { stats, errors } = JSON.parse(require("fs").readFileSync(process.argv[1]));
        [stats.expected, stats.unexpected + stats.flaky + errors.length, stats.skipped].join(" ")' "$report"
    )
  fi
  judge "$name" "$started" "$status" "$good" "$bad" "$left"
}

# judge NAME STARTED STATUS PASSED FAILED SKIPPED: counts a stage, and ends the run if it failed. A tool that stopped
# without counting its failure counts as failed, and so does one that ran no test.
judge() {
  local name=$1 started=$2 status=$3 good=$4 bad=$5 left=$6
  if ((bad == 0 && (status != 0 || good == 0))); then bad=1; fi
  passed=$((passed + good))
  failed=$((failed + bad))
  skipped=$((skipped + left))
  say "== $name: $good passed, $bad failed, $(duration $((SECONDS - started)))"
  if ((bad > 0)); then exit 1; fi
}

# Runs on every exit, including signals.
summarise() {
  local status=$?
  if ((status != 0 && failed == 0)); then failed=1; fi
  if ((skipped > 0)); then say "$skipped skipped"; fi
  say "$passed passed, $failed failed" | tee "$SUMMARY"
  exit $((failed > 0))
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then main "$@"; fi
