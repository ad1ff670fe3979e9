//! Maintains the column of the list for whether a job needs attention.

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use crate::dialect::select::sql_placeholders;
use crate::platform::direct_projects::is_direct;
use crate::{StoreError, word};
use model::id::JobId;
use model::lifecycle::Standing;

/// Updates the column after a change of these jobs.
pub(crate) async fn refresh(tx: &mut Transaction<'static, Any>, jobs: &[JobId]) -> Result<(), StoreError> {
    if jobs.is_empty() {
        return Ok(());
    }
    let query = sqlx::query(AssertSqlSafe(standings(jobs.len())));
    let query = jobs.iter().fold(query, |query, job| query.bind(job.to_string()));
    let rows = query.fetch_all(&mut **tx).await?;
    for needs in [false, true] {
        let mut changed = Vec::new();
        for row in &rows {
            let is_shown = row.try_get::<i64, _>("attention")? == 1;
            if is_shown != needs && standing(row)?.needs_attention() == needs {
                changed.push(row.try_get::<String, _>("id")?);
            }
        }
        if !changed.is_empty() {
            let sql = format!(
                "UPDATE listed_jobs SET attention = $1 WHERE job_id IN ({})",
                sql_placeholders(2, changed.len())
            );
            let update = sqlx::query(AssertSqlSafe(sql)).bind(i64::from(needs));
            changed.into_iter().fold(update, |update, job| update.bind(job)).execute(&mut **tx).await?;
        }
    }
    Ok(())
}

/// The statement that reads the inputs for so many jobs. Of their messages it reads an index, and no text.
pub(crate) fn standings(jobs: usize) -> String {
    format!(
        "SELECT j.id, j.state, j.archived_here_at, j.dismissed_at, j.resolved_by, j.pr_link, j.remote_status, l.attention, {} AS is_direct,
             (SELECT COUNT(*) FROM messages m WHERE m.job_id = j.id AND m.state = 'unknown') AS unknown_deliveries,
             (SELECT COUNT(*) FROM messages m WHERE m.job_id = j.id AND m.state = 'rejected'
                 AND m.position = (SELECT MAX(b.position) FROM messages b WHERE b.job_id = j.id)) AS last_rejected
         FROM jobs j JOIN listed_jobs l ON l.job_id = j.id WHERE j.id IN ({})",
        is_direct("j.project"),
        sql_placeholders(1, jobs)
    )
}

fn standing(row: &AnyRow) -> Result<Standing, StoreError> {
    let has_happened = |column: &str| row.try_get::<Option<i64>, _>(column).map(|at| at.is_some());
    Ok(Standing {
        state: word(row, "state")?,
        is_archived: has_happened("archived_here_at")?,
        is_dismissed: has_happened("dismissed_at")?,
        is_resolved: row.try_get::<Option<String>, _>("resolved_by")?.is_some(),
        has_pull_request: row.try_get::<Option<String>, _>("pr_link")?.is_some(),
        is_direct: row.try_get::<i64, _>("is_direct")? > 0,
        is_lost: Standing::is_lost(row.try_get::<Option<String>, _>("remote_status")?.as_deref()),
        has_unknown_delivery: row.try_get::<i64, _>("unknown_deliveries")? > 0,
        last_was_rejected: row.try_get::<i64, _>("last_rejected")? > 0,
    })
}
