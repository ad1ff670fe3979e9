//! The notifications that a person archived: of jobs, up to a change.

use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;

use crate::dialect::select::sql_placeholders;
use crate::{Authority, Change, Store, StoreError, instant, word};
use model::id::{JobId, ProjectId};
use model::time::Timestamp;

/// How many are stored for each person: the newest ones.
const ARCHIVED_MAX: u32 = 1_000;

impl Store {
    /// Archives this person's notifications of `jobs` up to now. Jobs of other projects are ignored.
    pub async fn archive_notifications(
        &self,
        by: Authority<'_>,
        user: &str,
        project: &ProjectId,
        jobs: &[JobId],
    ) -> Result<(), StoreError> {
        if jobs.is_empty() {
            return Ok(());
        }
        let Change { mut tx, now, .. } = self.write(by).begin().await?;
        let archived = format!(
            "INSERT INTO archived_notifications (user_id, job_id, at)
             SELECT $1, id, CAST($2 AS BIGINT) FROM jobs WHERE project = $3 AND id IN ({})
             ON CONFLICT (user_id, job_id) DO UPDATE SET at = excluded.at",
            sql_placeholders(4, jobs.len())
        );
        let query =
            sqlx::query(AssertSqlSafe(archived)).bind(user).bind(now.as_millis()).bind(project.as_str());
        jobs.iter().fold(query, |query, job| query.bind(job.as_str())).execute(&mut *tx).await?;
        let removed = format!(
            "DELETE FROM archived_notifications WHERE user_id = $1 AND job_id NOT IN (
                 SELECT job_id FROM archived_notifications WHERE user_id = $1 ORDER BY at DESC, job_id DESC LIMIT {ARCHIVED_MAX})"
        );
        sqlx::query(AssertSqlSafe(removed)).bind(user).execute(&mut *tx).await?;
        Ok(tx.commit().await?)
    }

    /// Up to when this person archived the notifications of each of `jobs`.
    pub async fn archived_notifications(
        &self,
        user: &str,
        jobs: &[JobId],
    ) -> Result<BTreeMap<JobId, Timestamp>, StoreError> {
        if jobs.is_empty() {
            return Ok(BTreeMap::new());
        }
        let sql = format!(
            "SELECT job_id, at FROM archived_notifications WHERE user_id = $1 AND job_id IN ({})",
            sql_placeholders(2, jobs.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(user);
        let query = jobs.iter().fold(query, |query, job| query.bind(job.as_str()));
        let rows = query.fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((word(row, "job_id")?, instant(row, "at")?))).collect()
    }
}
