#!/usr/bin/env bash
# Checks what others wrote and we ship or build with: licences, sources and bans always (deny.toml); known weaknesses where their
# databases can be reached, and says so where they cannot.
set -euo pipefail
# shellcheck source=scripts/env.sh
source "$(dirname "$0")/env.sh"
cd "$ROOT"

# How long a database may take to answer, in seconds.
PATIENCE=60

deny() { cargo deny --locked --no-default-features --features ssr,hydrate "$@"; }

advisories() {
  local log=$LOGS/advisories.log
  if ! timeout "$PATIENCE" cargo deny --locked fetch db >"$log" 2>&1; then
    say "    advisories of crates: NOT checked, their database cannot be reached from here ($log)"
    return
  fi
  deny --offline check advisories
}

# npm says in the same way that the registry has no answer and that there are weaknesses: only a report is a verdict.
npm_audit() {
  local report=$LOGS/npm-audit.json status=0
  timeout "$PATIENCE" npm --prefix end2end audit --package-lock-only --audit-level=high --json >"$report" 2>/dev/null || status=$?
  if ! node -e 'process.exit("auditReportVersion" in JSON.parse(require("fs").readFileSync(process.argv[1])) ? 0 : 1)' "$report" 2>/dev/null; then
    say "    advisories of npm packages: NOT checked, the registry does not answer an audit here ($report)"
    return
  fi
  if ((status != 0)); then
    npm --prefix end2end audit --package-lock-only --audit-level=high >&2 || true
    fail "an npm package has a known weakness."
  fi
  say "    advisories of npm packages: none that is high"
}

mkdir -p "$LOGS"
deny check licenses bans sources
advisories
npm_audit
