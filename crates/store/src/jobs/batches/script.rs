//! Batches of scripts: stored and started in one transaction, once for each idempotency key.

use sqlx::{AssertSqlSafe, Row};

use super::PreparedBatch;
use crate::dialect::select::sql_placeholders;
use crate::jobs::intents::NewIntent;
use crate::jobs::job;
use crate::jobs::states::job_states;
use crate::{Authority, Change, Store, StoreError, new_id, optional_word, word};
use model::id::{BatchId, IntentId, JobId};
use model::job::JobState;

/// A batch of a script, and what belongs to its request.
pub struct ScriptedBatch<'a> {
    pub batch: &'a PreparedBatch,
    pub author_id: &'a str,
    pub key: &'a IntentId,
    /// The hash of all that was submitted.
    pub body_hash: &'a str,
    pub prompts: &'a [NewIntent],
}

/// The batch of an idempotency key.
pub struct BatchOfKey {
    pub id: BatchId,
    /// `None` for a batch of a form.
    pub body_hash: Option<String>,
}

/// A job of a batch, and why it exists.
pub struct JobOfLine {
    pub job: JobId,
    /// The intent of its first prompt.
    pub intent: String,
    /// The job that it retries.
    pub retry_of: Option<JobId>,
}

/// The name of a key in the table of removed intents. It differs from each intent of a prompt.
pub(crate) const REMOVED_KEY: &str = "batch:";

/// A new id of a batch.
pub fn new_batch_id() -> Result<BatchId, StoreError> {
    new_id().parse().map_err(|_| StoreError::Corrupt("a new id".to_owned()))
}

impl Store {
    /// Stores a batch and queues its prompts, all or none. Returns whether it did: not if the author has or had a batch with this key.
    pub async fn start_scripted_batch(
        &self,
        by: Authority<'_>,
        new: &ScriptedBatch<'_>,
        queue_max: u32,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by: author, now } = self.write(by).begin().await?;
        let batch = new.batch;
        let inserted = sqlx::query(
            "INSERT INTO batches (id, project, author_id, intent, template, list, created_at, started_at, template_id, body_hash)
             SELECT $1, $2, $3, $4, $5, $6, $7, $7, $8, $9
             WHERE NOT EXISTS (SELECT 1 FROM removed_intents WHERE author_id = $3 AND intent = $10)
             ON CONFLICT (author_id, intent) DO NOTHING",
        )
        .bind(batch.id.as_str())
        .bind(batch.project.as_str())
        .bind(new.author_id)
        .bind(new.key.as_str())
        .bind(&batch.template)
        .bind(&batch.list)
        .bind(now.as_millis())
        .bind(batch.template_id.as_ref().map(|template| template.as_str()))
        .bind(new.body_hash)
        .bind(removed(new.key))
        .execute(&mut *tx)
        .await?;
        if inserted.rows_affected() != 1 {
            return Ok(false);
        }
        batch.queue_jobs(tx, &author, new.prompts, queue_max, now).await?;
        Ok(true)
    }

    /// The batch that this person started or prepared with this key.
    pub async fn batch_of_key(
        &self,
        author_id: &str,
        key: &IntentId,
    ) -> Result<Option<BatchOfKey>, StoreError> {
        let row = sqlx::query("SELECT id, body_hash FROM batches WHERE author_id = $1 AND intent = $2")
            .bind(author_id)
            .bind(key.as_str())
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| Ok(BatchOfKey { id: word(&row, "id")?, body_hash: row.try_get("body_hash")? }))
            .transpose()
    }

    /// Whether this person started a batch with this key that was removed.
    pub async fn is_removed_batch(&self, author_id: &str, key: &IntentId) -> Result<bool, StoreError> {
        self.is_removed_intent(author_id, &removed(key)).await
    }

    /// The jobs of a batch, in the order of their creation.
    pub async fn lines_of_batch(&self, batch: &BatchId) -> Result<Vec<JobOfLine>, StoreError> {
        let rows = sqlx::query(
            "SELECT j.id, j.retry_of, m.intent FROM jobs j JOIN messages m ON m.job_id = j.id AND m.position = 0
             WHERE j.batch_id = $1 ORDER BY j.id",
        )
        .bind(batch.as_str())
        .fetch_all(&self.pool)
        .await?;
        rows.iter()
            .map(|row| {
                let (intent, retry_of) = (row.try_get("intent")?, optional_word(row, "retry_of")?);
                Ok(JobOfLine { job: word(row, "id")?, intent, retry_of })
            })
            .collect()
    }

    /// Those of `batches` with a job that has not ended (see [`model::job::has_ended`]). A job with a retry in the batch does not count.
    pub async fn batches_in_progress(&self, batches: &[BatchId]) -> Result<Vec<BatchId>, StoreError> {
        if batches.is_empty() {
            return Ok(Vec::new());
        }
        let (moving, accepted) = (job_states(JobState::is_open), job_states(JobState::is_accepted));
        let sql = format!(
            "SELECT DISTINCT j.batch_id FROM jobs j WHERE j.batch_id IN ({})
             AND (j.state IN ({moving}) OR (j.state = 'other' AND j.next_poll_at IS NOT NULL)
                 OR (j.state IN ({accepted}) AND {} = 1))
             AND NOT EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = j.id AND r.batch_id = j.batch_id)",
            sql_placeholders(1, batches.len()),
            job::awaits_follow_up("j"),
        );
        let query = batches.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, id| query.bind(id.as_str()));
        query.fetch_all(&self.pool).await?.iter().map(|row| word(row, "batch_id")).collect()
    }
}

/// A key in the table of removed intents.
fn removed(key: &IntentId) -> String {
    format!("{REMOVED_KEY}{key}")
}
