//! Retries of jobs. A retry that opened a pull request, or was completed in a project without pull requests, resolves the job, and the job that this one retried.

use sqlx::{Any, AssertSqlSafe, Transaction};

use super::{StateChange, refresh_attention};
use crate::dialect::select::sql_placeholders;
use crate::jobs::states::job_states;
use crate::platform::direct_projects::is_direct;
use crate::{StoreError, word};
use model::id::JobId;
use model::job::JobState;

/// The maximum length of a chain of retries that is resolved.
const ORIGINS_MAX: u32 = 20;

/// Whether a step to this state is a success if there is a pull request.
pub(super) fn succeeds(change: StateChange) -> bool {
    change.after == JobState::Completed && change.before != JobState::Completed
}

/// Resolves the jobs that `job` retried, if it opened a pull request, or its project has none.
pub(super) async fn resolve(tx: &mut Transaction<'static, Any>, job: &JobId) -> Result<(), StoreError> {
    let open = job_states(JobState::is_open);
    let rows = sqlx::query(AssertSqlSafe(format!(
        "WITH RECURSIVE origins (id, depth) AS (
             SELECT retry_of, 1 FROM jobs WHERE id = $1 AND (pr_link IS NOT NULL OR {} > 0)
             UNION ALL SELECT j.retry_of, o.depth + 1 FROM origins o JOIN jobs j ON j.id = o.id WHERE o.depth < {ORIGINS_MAX})
         SELECT j.id FROM origins o JOIN jobs j ON j.id = o.id
         WHERE j.resolved_by IS NULL AND j.state NOT IN ({open})",
        is_direct("jobs.project")
    )))
    .bind(job.as_str())
    .fetch_all(&mut **tx)
    .await?;
    let origins: Vec<JobId> = rows.iter().map(|row| word(row, "id")).collect::<Result<_, _>>()?;
    if origins.is_empty() {
        return Ok(());
    }
    let sql =
        format!("UPDATE jobs SET resolved_by = $1 WHERE id IN ({})", sql_placeholders(2, origins.len()));
    let update = sqlx::query(AssertSqlSafe(sql)).bind(job.as_str());
    origins.iter().fold(update, |update, origin| update.bind(origin.as_str())).execute(&mut **tx).await?;
    refresh_attention(tx, &origins).await
}
