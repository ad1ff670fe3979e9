//! The connections to code hosts: pauses that all processes observe, and how the last requests ended.

use sqlx::Row;
use sqlx::any::AnyRow;

use crate::model::time::Timestamp;
use crate::model::upstream::{CodeHostStatus, Failure, RateLimit};
use crate::server::store::{Store, StoreError, optional_instant};
use crate::server::work::Work;

/// How a code host responded.
#[derive(Debug, Clone)]
pub struct HostStatus {
    /// No request before this time.
    pub paused_until: Option<Timestamp>,
    /// `None` if the host did not report it.
    pub limit: Option<RateLimit>,
    /// `None` if it succeeded.
    pub failure: Option<String>,
    /// Failures in a row.
    pub failures: u32,
}

impl Store {
    pub async fn record_code_host(
        &self,
        work: &Work,
        host: &str,
        status: &HostStatus,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let is_well = status.failure.is_none();
        sqlx::query(
            "INSERT INTO code_hosts (host, paused_until, rate_limit, remaining, resets_at, last_success, failure, failing_since, failures)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             ON CONFLICT (host) DO UPDATE SET paused_until = excluded.paused_until,
                 rate_limit = COALESCE(excluded.rate_limit, code_hosts.rate_limit),
                 remaining = COALESCE(excluded.remaining, code_hosts.remaining),
                 resets_at = COALESCE(excluded.resets_at, code_hosts.resets_at),
                 last_success = COALESCE(excluded.last_success, code_hosts.last_success), failure = excluded.failure,
                 failing_since = CASE WHEN excluded.failure IS NULL THEN NULL
                     ELSE COALESCE(code_hosts.failing_since, excluded.failing_since) END,
                 failures = excluded.failures",
        )
        .bind(host)
        .bind(status.paused_until.map_or(0, Timestamp::as_millis))
        .bind(status.limit.map(|limit| i64::try_from(limit.limit).unwrap_or(i64::MAX)))
        .bind(status.limit.map(|limit| i64::try_from(limit.remaining).unwrap_or(i64::MAX)))
        .bind(status.limit.map(|limit| limit.resets_at.as_millis()))
        .bind(is_well.then(|| now.as_millis()))
        .bind(&status.failure)
        .bind((!is_well).then(|| now.as_millis()))
        .bind(i64::from(status.failures))
        .execute(self.write(work).statement())
        .await?;
        Ok(())
    }

    /// How often a code host has failed in a row.
    pub async fn code_host_failures(&self, host: &str) -> Result<u32, StoreError> {
        let failures: Option<i64> = sqlx::query_scalar("SELECT failures FROM code_hosts WHERE host = $1")
            .bind(host)
            .fetch_optional(&self.pool)
            .await?;
        Ok(failures.map_or(0, |failures| u32::try_from(failures).unwrap_or(u32::MAX)))
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
    Ok(CodeHostStatus {
        host: host.to_owned(),
        limit,
        paused_until: optional_instant(row, "paused_until")?.filter(|until| *until > now),
        last_success_at: optional_instant(row, "last_success")?,
        failure: failure.zip(failing_since).map(|(message, at)| Failure { at, message }),
        open: number("open")?.unwrap_or_default(),
    })
}
