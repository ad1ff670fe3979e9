//! Removes old finished jobs with all their rows. Their intents stay, so that no form can send a prompt again.

use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::{Cutoff, RowCounts, Rule, Slice, count};
use crate::dialect::Area;
use crate::dialect::select::sql_placeholders;
use crate::jobs::batches::REMOVED_KEY;
use crate::jobs::states::{delivery_states, job_states};
use crate::{Store, StoreError};
use base::work::Work;
use model::job::{DeliveryState, JobState};
use model::time::Timestamp;

/// How many jobs one statement examines.
const EXAMINED_AT_ONCE: i64 = 500;

/// The conditions for removal of a job `j` with its listed job `l`: changed before `$1`, finished, not tracked, no attention needed, no pending
/// prompt or webhook event, no open pull request that was reported since, and no draft of a follow-up.
fn is_removable() -> String {
    let (open, pending) = (job_states(JobState::is_open), delivery_states(DeliveryState::is_pending));
    format!(
        "l.changed_at < $1 AND l.attention = 0 AND l.state NOT IN ({open})
         AND j.next_poll_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.job_id = j.id AND m.state IN ({pending}))
         AND NOT EXISTS (SELECT 1 FROM webhook_deliveries w WHERE w.job_id = j.id AND w.next_try_at IS NOT NULL)
         AND NOT EXISTS (SELECT 1 FROM pull_requests p WHERE p.job_id = j.id AND p.state IN ('open', 'draft') AND p.checked_at >= $1)
         AND NOT EXISTS (SELECT 1 FROM drafts d WHERE d.subject = j.id AND d.project = j.project)"
    )
}

/// The tables whose rows are removed with their job, in an order in which no trigger indexes a text again.
const OF_JOBS: [&str; 7] =
    ["job_paths", "job_tags", "listed_jobs", "job_templates", "job_events", "webhook_deliveries", "messages"];

/// A derived copy, which is not counted.
const COPY: &str = "listed_jobs";

/// Started batches without jobs.
const BATCHES: Rule = Rule {
    table: "batches",
    key: "id",
    old: "started_at < $1 AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.batch_id = batches.id)",
    at_once: 100,
    area: Area::Ledger,
};

/// Jobs that may be removed.
pub struct OldJobs {
    pub ids: Vec<String>,
    /// The start of the next step; `None` at the end.
    pub next: Option<i64>,
}

impl Store {
    /// The finished jobs among the next ones after `start` that last changed before `before`.
    pub async fn old_jobs(&self, start: i64, before: Timestamp) -> Result<OldJobs, StoreError> {
        let end: Option<i64> = sqlx::query_scalar(
            "SELECT MAX(number) FROM (SELECT number FROM listed_jobs WHERE number > $1 ORDER BY number LIMIT $2) n",
        )
        .bind(start)
        .bind(EXAMINED_AT_ONCE)
        .fetch_one(&self.pool)
        .await?;
        let Some(end) = end else { return Ok(OldJobs { ids: Vec::new(), next: None }) };
        let sql = format!(
            "SELECT j.id FROM listed_jobs l CROSS JOIN jobs j
             WHERE l.number > $2 AND l.number <= $3 AND j.id = l.job_id AND {} ORDER BY l.number",
            is_removable()
        );
        let ids = sqlx::query_scalar(AssertSqlSafe(sql))
            .bind(before.as_millis())
            .bind(start)
            .bind(end)
            .fetch_all(&self.pool)
            .await?;
        Ok(OldJobs { ids, next: Some(end) })
    }

    /// Removes those of the jobs that still meet the conditions.
    pub async fn remove_jobs(
        &self,
        work: &Work,
        ids: &[String],
        before: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        let sql = format!(
            "SELECT j.id FROM jobs j JOIN listed_jobs l ON l.job_id = j.id WHERE j.id IN ({}) AND {}",
            sql_placeholders(2, ids.len()),
            is_removable()
        );
        let over = sqlx::query_scalar(AssertSqlSafe(sql)).bind(before.as_millis());
        let over = ids.iter().fold(over, |query, id| query.bind(id.clone()));
        let over: Vec<String> = over.fetch_all(&mut *tx).await?;
        execute(
            &mut tx,
            "INSERT INTO removed_intents (author_id, intent)
             SELECT author_id, intent FROM messages WHERE job_id IN",
            &over,
            "ON CONFLICT (author_id, intent) DO NOTHING",
        )
        .await?;
        for table in OF_JOBS {
            let removed =
                execute(&mut tx, &format!("DELETE FROM {table} WHERE job_id IN"), &over, "").await?;
            if table != COPY {
                count(&mut tx, table, removed).await?;
            }
        }
        let removed = execute(&mut tx, "DELETE FROM jobs WHERE id IN", &over, "").await?;
        count(&mut tx, "jobs", removed).await?;
        Ok(tx.commit().await?)
    }

    /// Counts the rows that removing these jobs would remove.
    pub async fn count_jobs(&self, ids: &[String], counts: &mut RowCounts) -> Result<(), StoreError> {
        if ids.is_empty() {
            return Ok(());
        }
        for table in OF_JOBS.into_iter().filter(|table| *table != COPY) {
            let sql =
                format!("SELECT COUNT(*) FROM {table} WHERE job_id IN ({})", sql_placeholders(1, ids.len()));
            let query = ids.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, id| query.bind(id.clone()));
            let rows = query.fetch_one(&self.pool).await?.try_get::<i64, _>(0)?.unsigned_abs();
            *counts.entry(table.to_owned()).or_default() += rows;
        }
        *counts.entry("jobs".to_owned()).or_default() += ids.len() as u64;
        Ok(())
    }

    /// Removes some batches that started before `before` and whose jobs are all removed. Returns 0 when none are left. The keys of scripts stay, so
    /// that no repeated request starts a batch again.
    pub async fn remove_batches(
        &self,
        work: &Work,
        before: Timestamp,
        slice: Slice,
    ) -> Result<u64, StoreError> {
        let Rule { table, key, old, at_once, area } = BATCHES;
        let sql = format!("SELECT {key} FROM {table} WHERE {old} {}", slice.limits(key, at_once));
        // A read without a lock. A batch without jobs gets none any more.
        let ids: Vec<String> =
            sqlx::query_scalar(AssertSqlSafe(sql)).bind(before.as_millis()).fetch_all(&self.pool).await?;
        if ids.is_empty() {
            return Ok(0);
        }
        let mut tx = self.write_in(area, work.into()).begin().await?.tx;
        let keys = format!(
            "INSERT INTO removed_intents (author_id, intent)
             SELECT author_id, '{REMOVED_KEY}' || intent FROM batches WHERE body_hash IS NOT NULL AND id IN"
        );
        execute(&mut tx, &keys, &ids, "ON CONFLICT (author_id, intent) DO NOTHING").await?;
        let removed = execute(&mut tx, "DELETE FROM batches WHERE id IN", &ids, "").await?;
        count(&mut tx, table, removed).await?;
        tx.commit().await?;
        Ok(removed)
    }

    /// The number of batches that would be empty after removal of the jobs.
    pub async fn old_batches(&self, before: Timestamp) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT COUNT(*) FROM batches b WHERE b.started_at < $1 AND NOT EXISTS (
                 SELECT 1 FROM jobs j JOIN listed_jobs l ON l.job_id = j.id
                 WHERE j.batch_id = b.id AND NOT ({}))",
            is_removable()
        );
        let row = Cutoff::Time(before).bound_to(sql).fetch_one(&self.pool).await?;
        Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
    }

    /// Whether the author sent a form with this intent whose job was removed.
    pub async fn is_removed_intent(&self, author_id: &str, intent: &str) -> Result<bool, StoreError> {
        let found = sqlx::query("SELECT 1 FROM removed_intents WHERE author_id = $1 AND intent = $2")
            .bind(author_id)
            .bind(intent)
            .fetch_optional(&self.pool)
            .await?;
        Ok(found.is_some())
    }
}

/// Executes `head (ids) tail`, and returns the number of affected rows.
async fn execute(
    tx: &mut Transaction<'static, Any>,
    head: &str,
    ids: &[String],
    tail: &str,
) -> Result<u64, StoreError> {
    let sql = format!("{head} ({}) {tail}", sql_placeholders(1, ids.len()));
    let query = ids.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, id| query.bind(id.clone()));
    Ok(query.persistent(false).execute(&mut **tx).await?.rows_affected())
}
