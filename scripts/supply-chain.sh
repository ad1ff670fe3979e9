#!/usr/bin/env bash
# Checks the dependencies: licenses, sources and bans always (deny.toml); known vulnerabilities where their
# databases can be reached, with a message where they cannot.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"

# How long to wait for a database, in seconds.
PATIENCE=60

deny() { cargo deny --locked --no-default-features --features ssr,hydrate "$@"; }

advisories() {
  local log=$LOGS/advisories.log
  if ! timeout "$PATIENCE" cargo deny --locked fetch db >"$log" 2>&1; then
    say "    advisories of crates: NOT checked, the database cannot be reached ($log)"
    return
  fi
  deny --offline check advisories
}

# npm exits with the same status for an unreachable registry and for vulnerabilities: only a report is a result.
npm_audit() {
  local report=$LOGS/npm-audit.json status=0
  timeout "$PATIENCE" npm --prefix end2end audit --package-lock-only --audit-level=high --json >"$report" 2>/dev/null || status=$?
  if ! node -e 'process.exit("auditReportVersion" in JSON.parse(require("fs").readFileSync(process.argv[1])) ? 0 : 1)' "$report" 2>/dev/null; then
    say "    advisories of npm packages: NOT checked, the registry does not answer an audit ($report)"
    return
  fi
  if ((status != 0)); then
    npm --prefix end2end audit --package-lock-only --audit-level=high >&2 || true
    fail "an npm package has a known vulnerability."
  fi
  say "    advisories of npm packages: none of high severity"
}

mkdir -p "$LOGS"
deny check licenses bans sources
advisories
npm_audit
