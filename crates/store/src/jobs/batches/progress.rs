//! How far the jobs of batches are.

use std::collections::BTreeMap;

use sqlx::{AssertSqlSafe, Row};

use crate::dialect::select::sql_placeholders;
use crate::jobs::job::earlier_outcome;
use crate::platform::direct_projects::is_direct;
use crate::{Store, StoreError, optional_word, word};
use model::batch::Progress;
use model::id::BatchId;
use model::job::JobState;

/// The maximum length of a chain of retries outside the batch.
const RETRIES_MAX: u32 = 20;

impl Store {
    /// The progress of each of `batches` that has jobs. A retry in the batch replaces its job. So does the last retry elsewhere, unless the job or an
    /// earlier retry opened a pull request.
    pub async fn progress_of(&self, batches: &[BatchId]) -> Result<BTreeMap<BatchId, Progress>, StoreError> {
        if batches.is_empty() {
            return Ok(BTreeMap::new());
        }
        let chosen = format!(
            "o.batch_id IN ({}) AND NOT EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = o.id AND r.batch_id = o.batch_id)",
            sql_placeholders(1, batches.len())
        );
        // `o` is a job of the batch, and `j` the job that counts for it. Ids grow with time.
        let sql = format!(
            "WITH RECURSIVE retries (origin, id, depth) AS (
                 SELECT o.id, r.id, 1 FROM jobs o JOIN jobs r ON r.retry_of = o.id
                 WHERE o.pr_link IS NULL AND o.resolved_by IS NULL AND {chosen}
                 UNION ALL SELECT t.origin, r.id, t.depth + 1 FROM retries t JOIN jobs r ON r.retry_of = t.id WHERE t.depth < {RETRIES_MAX})
             SELECT o.batch_id, j.state, j.outcome, COUNT(*) AS jobs, COUNT(j.pr_link) AS pull_requests,
             COUNT(j.resolved_by) FILTER (WHERE j.pr_link IS NULL) AS resolved,
             COUNT(*) FILTER (WHERE j.next_poll_at IS NULL AND (j.resolved_by IS NULL OR j.pr_link IS NOT NULL)) AS untracked,
             {} AS is_direct
             FROM jobs o JOIN jobs j ON j.id = COALESCE((SELECT MAX(t.id) FROM retries t WHERE t.origin = o.id), o.id)
             WHERE {chosen} GROUP BY o.batch_id, o.project, j.state, j.outcome",
            is_direct("o.project")
        );
        let query = batches.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, id| query.bind(id.as_str()));
        let rows = query.fetch_all(&self.pool).await?;
        let mut all = BTreeMap::<BatchId, Progress>::new();
        for row in &rows {
            let count = |column: &str| row.try_get::<i64, _>(column).map(i64::unsigned_abs);
            let (jobs, requests, resolved) = (count("jobs")?, count("pull_requests")?, count("resolved")?);
            let state = word(row, "state")?;
            let state = earlier_outcome(state, optional_word(row, "outcome")?).unwrap_or(state);
            let progress = all.entry(word(row, "batch_id")?).or_default();
            progress.add(state, jobs - resolved);
            progress.add_resolved(resolved);
            progress.pull_requests += requests;
            if state == JobState::Other {
                progress.lost += count("untracked")?;
            }
            if state == JobState::Completed && row.try_get::<i64, _>("is_direct")? == 0 {
                progress.no_changes += jobs - resolved - requests;
            }
        }
        Ok(all)
    }
}
