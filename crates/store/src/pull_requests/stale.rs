//! Reports open pull requests that have waited too long, once each.

use std::time::Duration;

use crate::dialect::select::{bind_projects, sql_placeholders};
use crate::jobs::lifecycle;
use crate::{Store, StoreError, word};
use base::work::Work;
use model::id::JobId;
use model::pull_request::PullRequestEvent;
use model::time::Timestamp;
use model::user::Project;

/// How many are reported in one step.
const AT_ONCE: u32 = 50;

impl Store {
    /// Commits an event for each pull request of `projects` that had waited for the same person for `stale_after` or longer when it was last
    /// checked. One that was not checked since may have been merged.
    pub async fn report_stale_pull_requests(
        &self,
        work: &Work,
        projects: &[Project],
        stale_after: Duration,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let before = now.before(stale_after);
        let sql = format!(
            "SELECT job_id FROM pull_requests WHERE waiting_for <> 'nobody' AND stale = 0 AND waiting_since <= $1
                 AND checked_at >= waiting_since + $2 AND project IN ({}) LIMIT {AT_ONCE}",
            sql_placeholders(3, projects.len())
        );
        let stale = sqlx::query(sqlx::AssertSqlSafe(sql));
        let stale = stale.bind(before.as_millis()).bind(now.as_millis() - before.as_millis());
        let rows = bind_projects(stale, projects).fetch_all(&self.pool).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let mut tx = self.write(work).begin().await?.tx;
        for row in &rows {
            let job: JobId = word(row, "job_id")?;
            let marked = sqlx::query(
                "UPDATE pull_requests SET stale = 1 WHERE job_id = $1 AND waiting_for <> 'nobody' AND stale = 0 AND waiting_since <= $2",
            )
            .bind(job.as_str())
            .bind(before.as_millis())
            .execute(&mut *tx)
            .await?;
            if marked.rows_affected() == 1 {
                lifecycle::pull_request_changed(&mut tx, &job, PullRequestEvent::Stale, now).await?;
            }
        }
        Ok(tx.commit().await?)
    }
}
