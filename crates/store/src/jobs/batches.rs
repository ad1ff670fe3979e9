//! Batches: preparing them, starting them once, and listing their jobs.

mod list;
mod progress;
mod retry;
mod script;
mod unstarted;

use std::collections::BTreeMap;

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::intents::{Insertion, NewIntent, Scheduling, Subject, insert};
use super::listed_job::{ListedJob, columns};
use crate::dialect::select::sql_placeholders;
use crate::{Authority, Change, Store, StoreError, audit, dialect, instant, new_id, optional_word, word};
use base::prompt::Prompt;
use model::audit::{Action, Actor, AuditEvent};
use model::batch;
use model::id::{BatchId, IntentId, JobId, MessageId, ProjectId, TemplateId};
use model::job::{EXCERPT_CHARS, Job};
use model::job_list::BatchSummary;
use model::limits::PREPARED_BATCHES;
use model::page_path::Pages;
use model::time::Timestamp;

pub use retry::FailedJob;
pub(crate) use script::REMOVED_KEY;
pub use script::{BatchOfKey, JobOfLine, ScriptedBatch, new_batch_id};

/// How long a batch that was not started is stored.
const PREPARED_MILLIS: i64 = 7 * 86_400_000;

/// A stored batch.
#[derive(Debug)]
pub struct PreparedBatch {
    pub id: BatchId,
    pub project: ProjectId,
    /// The name from a person.
    pub name: Option<String>,
    pub author: String,
    pub template: String,
    /// The saved template of the text, if it still exists.
    pub template_id: Option<TemplateId>,
    pub list: String,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
}

/// A batch to store.
pub struct NewBatch<'a> {
    pub project: &'a ProjectId,
    pub author_id: &'a str,
    pub intent: &'a IntentId,
    pub template: &'a str,
    pub template_id: Option<&'a TemplateId>,
    pub list: &'a str,
}

/// The jobs of a batch, as in lists, in the order of their creation.
pub struct JobsOfBatch {
    pub jobs: Vec<Job>,
    /// Those of `jobs` that were run again, each with the batch of its retry, if any.
    pub retries: Vec<(JobId, Option<BatchId>)>,
}

const SELECT_BATCH: &str = "SELECT b.*, t.id AS known_template, u.name AS author FROM batches b
     JOIN users u ON u.id = b.author_id LEFT JOIN templates t ON t.id = b.template_id";

impl PreparedBatch {
    /// The prompt of a job of this batch.
    pub fn job(&self, intent: IntentId, prompt: Prompt, pages: Pages, retry_of: Option<JobId>) -> NewIntent {
        let subject = Subject::NewJob { template: self.template_id.clone(), retry_of, tags: Vec::new() };
        NewIntent { pages, subject, ..NewIntent::new_job(self.project.clone(), intent, prompt) }
    }

    /// Queues the prompts of a batch that is being started, and commits the transaction.
    async fn queue_jobs(
        &self,
        mut tx: Transaction<'static, Any>,
        author: &Actor,
        prompts: &[NewIntent],
        queue_max: u32,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        for prompt in prompts {
            queue_job(&mut tx, self, author, prompt, queue_max, now).await?;
        }
        let event = AuditEvent::new(Action::BatchStart).in_project(&self.project).on(&self.id);
        let event = event.with_detail(format!("{} jobs", prompts.len()));
        audit::commit(tx, author, &event, now).await
    }
}

/// Queues a job of the batch. An existing intent is an error.
async fn queue_job(
    tx: &mut Transaction<'static, Any>,
    batch: &PreparedBatch,
    author: &Actor,
    new: &NewIntent,
    queue_max: u32,
    now: Timestamp,
) -> Result<(), StoreError> {
    let scheduling = Scheduling::Queued(Some(&batch.id));
    let inserted = Insertion { author, scheduling, queue_max, is_audited: false };
    match insert(tx, new, inserted, now).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::Corrupt(format!("the intent {}", new.intent))),
    }
}

impl Store {
    /// Stores a batch to be started later. Deletes old batches that were not started, and those beyond [`PREPARED_BATCHES`] of the author. Returns
    /// the existing batch if the author already has one with this intent.
    pub async fn prepare_batch(
        &self,
        by: Authority<'_>,
        new: &NewBatch<'_>,
    ) -> Result<Option<PreparedBatch>, StoreError> {
        let Change { mut tx, now, .. } = self.write(by).begin().await?;
        sqlx::query(
            "INSERT INTO batches (id, project, author_id, intent, template, list, created_at, template_id)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (author_id, intent) DO NOTHING",
        )
        .bind(new_id())
        .bind(new.project.as_str())
        .bind(new.author_id)
        .bind(new.intent.as_str())
        .bind(new.template)
        .bind(new.list)
        .bind(now.as_millis())
        .bind(new.template_id.map(TemplateId::as_str))
        .execute(&mut *tx)
        .await?;
        sqlx::query(
            "DELETE FROM batches WHERE started_at IS NULL AND (created_at < $1 OR (author_id = $2 AND intent <> $3 AND id NOT IN (
                 SELECT id FROM batches WHERE author_id = $2 AND intent <> $3 AND started_at IS NULL ORDER BY id DESC LIMIT $4)))",
        )
        .bind(now.as_millis() - PREPARED_MILLIS)
        .bind(new.author_id)
        .bind(new.intent.as_str())
        .bind(PREPARED_BATCHES - 1)
        .execute(&mut *tx)
        .await?;
        let row =
            sqlx::query(AssertSqlSafe(format!("{SELECT_BATCH} WHERE b.author_id = $1 AND b.intent = $2")))
                .bind(new.author_id)
                .bind(new.intent.as_str())
                .fetch_optional(&mut *tx)
                .await?;
        tx.commit().await?;
        row.as_ref().map(prepared).transpose()
    }

    pub async fn batch(
        &self,
        project: &ProjectId,
        id: &BatchId,
    ) -> Result<Option<PreparedBatch>, StoreError> {
        let row = sqlx::query(AssertSqlSafe(format!("{SELECT_BATCH} WHERE b.project = $1 AND b.id = $2")))
            .bind(project.as_str())
            .bind(id.as_str())
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(prepared).transpose()
    }

    /// Queues each prompt as a new job of the batch, all or none. Does nothing if the batch was started already.
    pub async fn start_batch(
        &self,
        by: Authority<'_>,
        batch: &PreparedBatch,
        prompts: &[NewIntent],
        queue_max: u32,
    ) -> Result<(), StoreError> {
        let Change { mut tx, by: author, now } = self.write(by).begin().await?;
        let started = sqlx::query("UPDATE batches SET started_at = $2 WHERE id = $1 AND started_at IS NULL")
            .bind(batch.id.as_str())
            .bind(now.as_millis())
            .execute(&mut *tx)
            .await?;
        if started.rows_affected() != 1 {
            return Ok(());
        }
        batch.queue_jobs(tx, &author, prompts, queue_max, now).await
    }

    /// Renames a batch; without a name, the name of its template applies again.
    pub async fn rename_batch(
        &self,
        by: Authority<'_>,
        batch: &PreparedBatch,
        name: Option<&str>,
    ) -> Result<(), StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        sqlx::query("UPDATE batches SET name = $2 WHERE id = $1")
            .bind(batch.id.as_str())
            .bind(name)
            .execute(&mut *tx)
            .await?;
        let event = AuditEvent::new(Action::BatchRename).in_project(&batch.project).on(&batch.id);
        audit::record_often(&mut tx, &by, &event, now).await?;
        Ok(tx.commit().await?)
    }

    pub async fn jobs_of_batch(&self, batch: &BatchId) -> Result<JobsOfBatch, StoreError> {
        let jobs = self.dialect.json_rows(
            &columns(self.dialect),
            "jobs j CROSS JOIN messages m WHERE j.batch_id = $1 AND m.job_id = j.id AND m.position = 0",
        );
        let retries = self.dialect.json_rows(
            "r.retry_of, r.batch_id",
            "jobs o JOIN jobs r ON r.retry_of = o.id WHERE o.batch_id = $1",
        );
        let resolved = self
            .dialect
            .json_rows("o.id, o.resolved_by", "jobs o WHERE o.batch_id = $1 AND o.resolved_by IS NOT NULL");
        let [jobs, retries, resolved] = [jobs, retries, resolved].map(|json| self.dialect.json_column(&json));
        let row = sqlx::query(AssertSqlSafe(format!("SELECT {jobs}, {retries}, {resolved}")))
            .bind(batch.as_str())
            .fetch_one(&self.pool)
            .await?;
        let jobs: Vec<ListedJob> = dialect::read_json(&row, 0)?;
        let mut jobs: Vec<Job> = jobs.into_iter().map(Job::from).collect();
        jobs.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        let mut resolved: BTreeMap<JobId, JobId> =
            dialect::read_json::<Vec<_>>(&row, 2)?.into_iter().collect();
        for job in &mut jobs {
            job.resolved_by = resolved.remove(&job.id);
        }
        Ok(JobsOfBatch { jobs, retries: dialect::read_json(&row, 1)? })
    }

    /// Those batches, in no particular order.
    pub async fn batch_summaries(&self, batches: &[BatchId]) -> Result<Vec<BatchSummary>, StoreError> {
        if batches.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT b.id, b.name, SUBSTR(b.template, 1, {EXCERPT_CHARS}) AS template, COUNT(r.id) AS retried
             FROM batches b JOIN jobs j ON j.batch_id = b.id LEFT JOIN jobs r ON r.retry_of = j.id AND r.batch_id = b.id
             WHERE b.id IN ({}) GROUP BY b.id, b.name, b.template",
            sql_placeholders(1, batches.len())
        );
        let query = batches.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, id| query.bind(id.as_str()));
        let rows = query.fetch_all(&self.pool).await?;
        let mut progress = self.progress_of(batches).await?;
        let summary = |row: &AnyRow| {
            let id = word(row, "id")?;
            let progress = progress.remove(&id).unwrap_or_default();
            Ok(BatchSummary {
                name: batch::name(
                    row.try_get("name")?,
                    &row.try_get::<String, _>("template")?,
                    progress.jobs,
                ),
                retried: row.try_get::<i64, _>("retried")?.unsigned_abs(),
                progress,
                id,
            })
        };
        rows.iter().map(summary).collect()
    }

    /// The prompts of a batch that are queued.
    pub async fn queued_of_batch(&self, batch: &BatchId) -> Result<Vec<MessageId>, StoreError> {
        let rows = sqlx::query(
            "SELECT m.id FROM jobs j JOIN messages m ON m.job_id = j.id AND m.position = 0
             WHERE j.batch_id = $1 AND m.state = 'queued'",
        )
        .bind(batch.as_str())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| word(row, "id")).collect()
    }
}

fn prepared(row: &sqlx::any::AnyRow) -> Result<PreparedBatch, StoreError> {
    Ok(PreparedBatch {
        id: word(row, "id")?,
        project: word(row, "project")?,
        name: row.try_get("name")?,
        author: row.try_get("author")?,
        template: row.try_get("template")?,
        template_id: optional_word(row, "known_template")?,
        list: row.try_get("list")?,
        created_at: instant(row, "created_at")?,
        started_at: row.try_get::<Option<i64>, _>("started_at")?.map(Timestamp::from_millis),
    })
}
