//! Which jobs to read next from the upstream, and what the reads said.

use sqlx::Row;

use super::{Store, StoreError, jobs, word};
use crate::model::id::{JobId, ProjectId};
use crate::model::job::RemoteJob;
use crate::model::time::Timestamp;

/// A job whose time to be read has come.
#[derive(Debug, Clone)]
pub struct DueRead {
    pub job: JobId,
    pub project: ProjectId,
    pub remote_id: String,
    pub followed_since: Timestamp,
    /// Whether a follow-up is what it is followed for.
    pub after_follow_up: bool,
    next_read_at: i64,
    revision: i64,
}

impl Store {
    /// Jobs to read by `now`, the longest due first.
    pub async fn due_reads(&self, now: Timestamp) -> Result<Vec<DueRead>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, project, remote_id, followed_since, next_read_at, revision,
             (SELECT MAX(position) FROM messages WHERE job_id = jobs.id AND state = 'accepted') AS turn
             FROM jobs WHERE next_read_at <= $1 AND remote_id IS NOT NULL ORDER BY next_read_at LIMIT 100",
        )
        .bind(now.as_millis())
        .fetch_all(&self.pool)
        .await?;
        rows.iter()
            .map(|row| {
                let next_read_at = row.try_get("next_read_at")?;
                Ok(DueRead {
                    job: word(row, "id")?,
                    project: word(row, "project")?,
                    remote_id: row.try_get("remote_id")?,
                    followed_since: Timestamp::from_millis(
                        row.try_get::<Option<i64>, _>("followed_since")?.unwrap_or(next_read_at),
                    ),
                    after_follow_up: row.try_get::<Option<i64>, _>("turn")?.is_some_and(|turn| turn > 0),
                    next_read_at,
                    revision: row.try_get("revision")?,
                })
            })
            .collect()
    }

    /// Takes the read for the caller alone by moving the next one to `next`; `false` if somebody else has it.
    pub async fn claim_read(&self, due: &DueRead, next: Timestamp) -> Result<bool, StoreError> {
        let claimed = sqlx::query("UPDATE jobs SET next_read_at = $3 WHERE id = $1 AND next_read_at = $2")
            .bind(due.job.as_str())
            .bind(due.next_read_at)
            .bind(next.as_millis())
            .execute(&self.pool)
            .await?;
        Ok(claimed.rows_affected() == 1)
    }

    /// Writes what a read said, if it says something new and nothing was sent to the job meanwhile.
    /// `next_read_at`: nothing to stop following. Gives whether the job changed.
    pub async fn record_read(
        &self,
        due: &DueRead,
        remote: &RemoteJob,
        next_read_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let current = sqlx::query("UPDATE jobs SET next_read_at = $3 WHERE id = $1 AND revision = $2")
            .bind(due.job.as_str())
            .bind(due.revision)
            .bind(next_read_at.map(Timestamp::as_millis))
            .execute(&mut *tx)
            .await?;
        if current.rows_affected() != 1 {
            return Ok(false);
        }
        let row = sqlx::query("SELECT * FROM jobs WHERE id = $1")
            .bind(due.job.as_str())
            .fetch_one(&mut *tx)
            .await?;
        let before = jobs::remote(&row)?;
        let changed = before.as_ref() != Some(remote);
        if changed {
            jobs::write_remote(&mut tx, &due.job, remote, now).await?;
        }
        if before.is_none_or(|before| before.status != remote.status) {
            let last: i64 = sqlx::query_scalar(
                "SELECT MAX(position) FROM messages WHERE job_id = $1 AND state = 'accepted'",
            )
            .bind(due.job.as_str())
            .fetch_one(&mut *tx)
            .await?;
            jobs::record_event(&mut tx, due.job.as_str(), last, now, &remote.status, None).await?;
        }
        tx.commit().await?;
        Ok(changed)
    }

    /// Stops following a job that the upstream no longer knows.
    pub async fn record_lost(&self, due: &DueRead, status: &str, now: Timestamp) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let stopped = sqlx::query(
            "UPDATE jobs SET next_read_at = NULL, state = 'other', remote_status = $3, changed_at = $4
             WHERE id = $1 AND revision = $2",
        )
        .bind(due.job.as_str())
        .bind(due.revision)
        .bind(status)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        if stopped.rows_affected() == 1 {
            jobs::record_event(&mut tx, due.job.as_str(), 0, now, status, None).await?;
        }
        Ok(tx.commit().await?)
    }
}
