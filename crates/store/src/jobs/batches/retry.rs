//! Retries the failed jobs of a batch, each once.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Row};

use super::{PreparedBatch, queue_job};
use crate::jobs::intents::NewIntent;
use crate::jobs::states::job_states;
use crate::limits::leave_room;
use crate::{Authority, Change, Store, StoreError, audit, dialect, word};
use model::audit::{Action, AuditEvent};
use model::id::{BatchId, JobId};
use model::job::JobState;
use model::limits::JOBS_OF_BATCH;
use model::page_path::Pages;

/// A job to retry.
pub struct FailedJob {
    pub id: JobId,
    pub prompt: String,
    pub pages: Pages,
}

/// $1: the batch. Jobs that failed or were not accepted, and that have no retry.
fn retryable() -> String {
    let failures = job_states(JobState::is_failure);
    format!(
        "jobs j WHERE j.batch_id = $1 AND j.state IN ({failures})
         AND NOT EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = j.id)"
    )
}

impl Store {
    /// The jobs of a batch that can be retried, in the order of their creation.
    pub async fn failed_jobs(&self, batch: &BatchId) -> Result<Vec<FailedJob>, StoreError> {
        let paths = self.dialect.json_values("p.path", "job_paths p WHERE p.job_id = j.id");
        let sql = format!(
            "SELECT {}, j.id, (SELECT m.prompt FROM messages m WHERE m.job_id = j.id AND m.position = 0) AS prompt
             FROM {} ORDER BY j.id",
            self.dialect.json_column(&paths),
            retryable()
        );
        let rows = sqlx::query(AssertSqlSafe(sql)).bind(batch.as_str()).fetch_all(&self.pool).await?;
        rows.iter()
            .map(|row| {
                Ok(FailedJob {
                    pages: Pages::stored(dialect::read_json(row, 0)?),
                    id: word(row, "id")?,
                    prompt: row.try_get("prompt")?,
                })
            })
            .collect()
    }

    /// Queues these retries of failed jobs, all or none. Skips those whose job was retried meanwhile.
    pub async fn retry_jobs(
        &self,
        by: Authority<'_>,
        batch: &PreparedBatch,
        retries: &[NewIntent],
        queue_max: u32,
    ) -> Result<(), StoreError> {
        let Change { mut tx, by: author, now } = self.write(by).begin().await?;
        let rows = sqlx::query(AssertSqlSafe(format!("SELECT j.id FROM {}", retryable())))
            .bind(batch.id.as_str())
            .fetch_all(&mut *tx)
            .await?;
        let retryable: BTreeSet<JobId> = rows.iter().map(|row| word(row, "id")).collect::<Result<_, _>>()?;
        let is_retryable = |new: &&NewIntent| new.retry_of().is_some_and(|job| retryable.contains(job));
        let retries: Vec<_> = retries.iter().filter(is_retryable).collect();
        if retries.is_empty() {
            return Ok(());
        }
        let jobs: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM jobs WHERE batch_id = $1")
            .bind(batch.id.as_str())
            .fetch_one(&mut *tx)
            .await?;
        leave_room(&JOBS_OF_BATCH, jobs + retries.len() as i64 - 1)?;
        for retry in &retries {
            queue_job(&mut tx, batch, &author, retry, queue_max, now).await?;
        }
        let event = AuditEvent::new(Action::BatchRetry).in_project(&batch.project).on(&batch.id);
        let event = event.with_detail(format!("{} jobs", retries.len()));
        audit::commit(tx, &author, &event, now).await
    }
}
