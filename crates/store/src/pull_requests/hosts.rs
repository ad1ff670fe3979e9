//! The connections to code hosts: pauses that all processes observe, and how the last requests ended.

use std::time::Duration;

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::{Store, StoreError, optional_instant, optional_word};
use base::work::Work;
use model::time::Timestamp;
use model::upstream::{CodeHostStatus, Failure, PauseReason, RateLimit};

/// The longest pause. A later end was recorded before a clock rollback, and does not count.
pub const PAUSE_MAX: Duration = Duration::from_secs(3_600);

/// How a code host responded.
#[derive(Debug, Clone)]
pub struct HostStatus {
    /// No request before this time.
    pub paused_until: Option<Timestamp>,
    pub pause_reason: Option<PauseReason>,
    /// `None` if the host did not report it.
    pub limit: Option<RateLimit>,
    /// Whether it reported any pull request.
    pub is_success: bool,
    pub failure: Option<String>,
    /// Pauses because of failures in a row.
    pub failures: u32,
    /// What failed last, if nothing succeeded since.
    pub suspect: Option<String>,
}

/// What the next result of a host depends on.
#[derive(Debug, Clone, Default)]
pub struct HostMemory {
    pub failures: u32,
    pub suspect: Option<String>,
}

impl Store {
    /// Records how a host responded. Of two pauses, such as those of two processes, the one that ends later remains, with its reason. A success
    /// without a pause ends it.
    pub async fn record_code_host(
        &self,
        work: &Work,
        host: &str,
        status: &HostStatus,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let paused_until = status.paused_until.map(|until| until.min(now.after(PAUSE_MAX)));
        // The pause that is recorded remains.
        let remains =
            "$12 = 0 AND code_hosts.paused_until > excluded.paused_until AND code_hosts.paused_until > $13
            AND code_hosts.paused_until <= $14";
        let sql = format!(
            "INSERT INTO code_hosts (host, paused_until, rate_limit, remaining, resets_at, last_success, failure, failing_since, failures,
                 pause_reason, suspect)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
             ON CONFLICT (host) DO UPDATE SET
                 paused_until = CASE WHEN {remains} THEN code_hosts.paused_until ELSE excluded.paused_until END,
                 pause_reason = CASE WHEN {remains} THEN code_hosts.pause_reason ELSE excluded.pause_reason END,
                 rate_limit = COALESCE(excluded.rate_limit, code_hosts.rate_limit),
                 remaining = COALESCE(excluded.remaining, code_hosts.remaining),
                 resets_at = COALESCE(excluded.resets_at, code_hosts.resets_at),
                 last_success = COALESCE(excluded.last_success, code_hosts.last_success), failure = excluded.failure,
                 failing_since = CASE WHEN excluded.failure IS NULL THEN NULL
                     ELSE COALESCE(code_hosts.failing_since, excluded.failing_since) END,
                 failures = excluded.failures, suspect = excluded.suspect"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(host)
            .bind(paused_until.map_or(0, Timestamp::as_millis))
            .bind(status.limit.map(|limit| i64::try_from(limit.limit).unwrap_or(i64::MAX)))
            .bind(status.limit.map(|limit| i64::try_from(limit.remaining).unwrap_or(i64::MAX)))
            .bind(status.limit.map(|limit| limit.resets_at.as_millis()))
            .bind(status.is_success.then(|| now.as_millis()))
            .bind(&status.failure)
            .bind(status.failure.is_some().then(|| now.as_millis()))
            .bind(i64::from(status.failures))
            .bind(status.pause_reason.map(PauseReason::as_str))
            .bind(&status.suspect)
            .bind(i64::from(status.is_success && status.paused_until.is_none()))
            .bind(now.as_millis())
            .bind(now.after(PAUSE_MAX).as_millis())
            .execute(self.write(work).statement())
            .await?;
        Ok(())
    }

    /// How a code host responded before.
    pub async fn code_host_memory(&self, host: &str) -> Result<HostMemory, StoreError> {
        let row = sqlx::query("SELECT failures, suspect FROM code_hosts WHERE host = $1")
            .bind(host)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(HostMemory::default()) };
        let failures = u32::try_from(row.try_get::<i64, _>("failures")?).unwrap_or(u32::MAX);
        Ok(HostMemory { failures, suspect: row.try_get("suspect")? })
    }

    /// How often a code host was paused in a row because of failures.
    pub async fn code_host_failures(&self, host: &str) -> Result<u32, StoreError> {
        Ok(self.code_host_memory(host).await?.failures)
    }

    /// The state of connections, in this order.
    pub async fn code_hosts(
        &self,
        hosts: &[String],
        now: Timestamp,
    ) -> Result<Vec<CodeHostStatus>, StoreError> {
        let mut all = Vec::new();
        for host in hosts {
            let row = sqlx::query(
                "SELECT c.*, (SELECT COUNT(*) FROM pull_requests p WHERE p.host = $1 AND p.next_check_at IS NOT NULL) AS open
                 FROM (SELECT 1 AS one) o LEFT JOIN code_hosts c ON c.host = $1",
            )
            .bind(host)
            .fetch_one(&self.pool)
            .await?;
            all.push(status(host, &row, now)?);
        }
        Ok(all)
    }
}

fn status(host: &str, row: &AnyRow, now: Timestamp) -> Result<CodeHostStatus, StoreError> {
    let number = |column: &str| -> Result<Option<u64>, StoreError> {
        Ok(row.try_get::<Option<i64>, _>(column)?.and_then(|number| u64::try_from(number).ok()))
    };
    let limit = match (number("rate_limit")?, number("remaining")?, optional_instant(row, "resets_at")?) {
        (Some(limit), Some(remaining), Some(resets_at)) => Some(RateLimit { limit, remaining, resets_at }),
        _ => None,
    };
    let failure: Option<String> = row.try_get("failure")?;
    let failing_since = optional_instant(row, "failing_since")?;
    let is_current = |until: &Timestamp| *until > now && *until <= now.after(PAUSE_MAX);
    let paused_until = optional_instant(row, "paused_until")?.filter(is_current);
    // A process of an earlier version records no reason.
    let reason: Option<PauseReason> = optional_word(row, "pause_reason")?;
    let reason = reason.unwrap_or(if failure.is_some() { PauseReason::Failing } else { PauseReason::Limit });
    Ok(CodeHostStatus {
        host: host.to_owned(),
        limit,
        paused_until,
        pause_reason: paused_until.map(|_| reason),
        last_success_at: optional_instant(row, "last_success")?,
        failure: failure.zip(failing_since).map(|(message, at)| Failure { at, message }),
        open: number("open")?.unwrap_or_default(),
        paused_owners: Vec::new(),
    })
}
