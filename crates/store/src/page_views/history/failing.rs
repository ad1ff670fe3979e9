//! Days that could not be fetched or written. A request for a day ends after some failures.

use sqlx::{Any, Transaction};

use super::count;
use crate::{Store, StoreError, word};
use base::work::Work;
use model::day::Day;
use model::history::FetchFailure;
use model::id::ProjectId;
use model::time::Timestamp;

/// The failures after which a requested day is no longer fetched first.
const FAILURES_OF_A_REQUEST: i64 = 5;

/// A day that failed since its last success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedDay {
    pub day: Day,
    pub failures: u32,
    pub cause: FetchFailure,
    pub next_try_at: Timestamp,
}

impl Store {
    /// The days of a project that failed since their last success, newest first.
    pub async fn failing_days(&self, project: &ProjectId) -> Result<Vec<FailedDay>, StoreError> {
        let rows = sqlx::query(
            "SELECT day, failures, cause, next_try_at FROM failing_days WHERE project = $1 ORDER BY day DESC",
        )
        .bind(project.as_str())
        .fetch_all(&self.pool)
        .await?;
        let failed = rows.iter().map(|row| {
            Ok(FailedDay {
                day: word(row, "day")?,
                failures: count(row, "failures")?,
                cause: word(row, "cause")?,
                next_try_at: Timestamp::from_millis(sqlx::Row::try_get(row, "next_try_at")?),
            })
        });
        failed.collect()
    }

    /// Forgets the failures of a day.
    pub async fn forget_failing_day(
        &self,
        work: &Work,
        project: &ProjectId,
        day: Day,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_fetched(work).await?;
        forget(&mut tx, project, day).await?;
        Ok(tx.commit().await?)
    }

    /// Records one more failure of a day, which the last one of a request ends. A request that was made since the call began has no failure yet.
    pub async fn record_failing_day(
        &self,
        work: &Work,
        project: &ProjectId,
        failed: FailedDay,
    ) -> Result<(), StoreError> {
        let FailedDay { day, cause, next_try_at, .. } = failed;
        let mut tx = self.begin_fetched(work).await?;
        let failures: i64 = sqlx::query_scalar(
            "INSERT INTO failing_days (project, day, failures, cause, next_try_at) VALUES ($1, $2, 1, $3, $4)
             ON CONFLICT (project, day) DO UPDATE SET failures = failing_days.failures + 1, cause = excluded.cause,
                 next_try_at = excluded.next_try_at RETURNING failures",
        )
        .bind(project.as_str())
        .bind(day.to_string())
        .bind(cause.into_str())
        .bind(next_try_at.as_millis())
        .fetch_one(&mut *tx)
        .await?;
        if failures >= FAILURES_OF_A_REQUEST {
            sqlx::query("DELETE FROM requested_days WHERE project = $1 AND day = $2")
                .bind(project.as_str())
                .bind(day.to_string())
                .execute(&mut *tx)
                .await?;
        }
        Ok(tx.commit().await?)
    }
}

/// Forgets the failures of a day.
pub(super) async fn forget(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: Day,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM failing_days WHERE project = $1 AND day = $2")
        .bind(project.as_str())
        .bind(day.to_string())
        .execute(&mut **tx)
        .await?;
    Ok(())
}
