//! The list of started batches.

use sqlx::{AssertSqlSafe, Row};

use crate::jobs::job::earlier_outcome;
use crate::platform::direct_projects::is_direct;
use crate::{Store, StoreError, instant, optional_word, word};
use model::batch::{BatchPage, ListedBatch, Progress};
use model::id::ProjectId;
use model::job::{EXCERPT_CHARS, JobState, title};

impl Store {
    /// `count` started batches of the project after the first `before`, newest first.
    pub async fn batches(
        &self,
        project: &ProjectId,
        before: i64,
        count: usize,
    ) -> Result<BatchPage, StoreError> {
        // One row for each batch and state or outcome of its jobs. A job with a retry is not counted.
        let sql = format!(
            "SELECT b.id, b.name, b.started_at, u.name AS author, j.state, j.outcome, COUNT(j.id) AS jobs,
             COUNT(j.pr_link) AS pull_requests,
             COUNT(j.resolved_by) FILTER (WHERE j.pr_link IS NULL) AS resolved,
             COUNT(j.id) FILTER (WHERE j.next_poll_at IS NULL AND (j.resolved_by IS NULL OR j.pr_link IS NOT NULL)) AS untracked,
             {} AS is_direct
             FROM (SELECT id, COALESCE(name, SUBSTR(template, 1, {EXCERPT_CHARS})) AS name, author_id, started_at
                 FROM batches WHERE project = $1 AND started_at IS NOT NULL
                 ORDER BY started_at DESC, id DESC LIMIT $2 OFFSET $3) b
             JOIN users u ON u.id = b.author_id
             LEFT JOIN jobs j ON j.batch_id = b.id
                 AND NOT EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = j.id AND r.batch_id = b.id)
             GROUP BY b.id, b.name, b.started_at, u.name, j.state, j.outcome ORDER BY b.started_at DESC, b.id DESC",
            is_direct("$1")
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(project.as_str())
            .bind(count as i64 + 1)
            .bind(before)
            .fetch_all(&self.pool)
            .await?;
        let mut batches: Vec<ListedBatch> = Vec::new();
        for row in &rows {
            let id = word(row, "id")?;
            if batches.last().is_none_or(|last| last.id != id) {
                batches.push(ListedBatch {
                    id,
                    name: title(&row.try_get::<String, _>("name")?).to_owned(),
                    author: row.try_get("author")?,
                    started_at: instant(row, "started_at")?,
                    progress: Progress::default(),
                });
            }
            let count = |column: &str| row.try_get::<i64, _>(column).map(i64::unsigned_abs);
            let (number, requests, resolved) = (count("jobs")?, count("pull_requests")?, count("resolved")?);
            // A batch without jobs has one row without a state.
            if let (Some(batch), true) = (batches.last_mut(), number > 0) {
                let state = word(row, "state")?;
                let state = earlier_outcome(state, optional_word(row, "outcome")?).unwrap_or(state);
                batch.progress.add(state, number - resolved);
                batch.progress.add_resolved(resolved);
                batch.progress.pull_requests += requests;
                if state == JobState::Other {
                    batch.progress.lost += count("untracked")?;
                }
                if state == JobState::Completed && row.try_get::<i64, _>("is_direct")? == 0 {
                    batch.progress.no_changes += number - resolved - requests;
                }
            }
        }
        let has_more = batches.len() > count;
        batches.truncate(count);
        Ok(BatchPage { batches, has_more })
    }
}
