//! Committing intents: the row that exists before anything is sent.

use sqlx::{Any, AssertSqlSafe, Transaction};

use crate::model::audit::{Action, Actor, AuditEvent};
use crate::model::id::{BatchId, IntentId, JobId, ProjectId, TemplateId};
use crate::model::job::{DeliveryState, JobState};
use crate::model::page_path::PATHS_MAX;
use crate::model::time::Timestamp;
use crate::server::store::{Store, StoreError, audit, jobs, new_id, queue, templates};

/// A prompt to commit: a new job, or (with `job`) a follow-up.
pub struct NewIntent<'a> {
    pub project: &'a ProjectId,
    pub job: Option<&'a JobId>,
    pub author: &'a Actor,
    pub intent: &'a IntentId,
    pub prompt: &'a str,
    pub paths: &'a [String],
    /// The template it came from, if it still exists.
    pub template: Option<&'a TemplateId>,
    /// How many prompts the author may have in the queue, with this one.
    pub queue_max: u32,
}

impl Store {
    /// Commits an intent to be sent at once and returns its message id; `None` if the author's intent id exists, or the
    /// job to follow up was not accepted.
    pub async fn insert_intent(
        &self,
        new: NewIntent<'_>,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        self.insert_one(new, Scheduling::Immediate, now).await
    }

    /// As [`Store::insert_intent`], but puts it in the queue.
    pub async fn insert_queued(
        &self,
        new: NewIntent<'_>,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        self.insert_one(new, Scheduling::Queued(None), now).await
    }

    async fn insert_one(
        &self,
        new: NewIntent<'_>,
        scheduling: Scheduling<'_>,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        let mut tx = self.begin().await?;
        let Some((message, job)) = insert(&mut tx, &new, scheduling, now).await? else { return Ok(None) };
        let action = if new.job.is_some() { Action::FollowUp } else { Action::JobStart };
        let event = AuditEvent::new(action).in_project(new.project).on(job);
        audit::commit(tx, new.author, &event, now).await?;
        Ok(Some(message))
    }
}

/// When a new message is sent.
#[derive(Clone, Copy)]
pub(in crate::server::store) enum Scheduling<'a> {
    Immediate,
    /// From the queue; a new job may belong to a batch.
    Queued(Option<&'a BatchId>),
}

/// As [`Store::insert_intent`], within a transaction, without an audit event; returns the ids of message and job. The
/// transaction must not be committed if this returns `None`.
pub(in crate::server::store) async fn insert(
    tx: &mut Transaction<'static, Any>,
    new: &NewIntent<'_>,
    scheduling: Scheduling<'_>,
    now: Timestamp,
) -> Result<Option<(String, String)>, StoreError> {
    let queued: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM messages WHERE author_id = $1 AND state = 'queued'")
            .bind(&new.author.id)
            .fetch_one(&mut **tx)
            .await?;
    if queued >= i64::from(new.queue_max) {
        return Err(StoreError::QueueFull(new.queue_max));
    }
    let (job, position) = match new.job {
        Some(job) => (job.to_string(), next_position(tx, job).await?),
        None => (insert_job(tx, new, scheduling, now).await?, 0),
    };
    add_paths(tx, &job, new.paths).await?;
    let message_id = new_id();
    let inserted = sqlx::query(AssertSqlSafe(format!(
        "INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at, in_line, rank)
         SELECT $1, $2, $3, $4, $5, $6, 'queued', $7, $7, $8,
             {}
         WHERE NOT EXISTS (SELECT 1 FROM messages
             WHERE job_id = $2 AND position = 0 AND state IN ('rejected', 'cancelled', 'unknown'))
         ON CONFLICT (author_id, intent) DO NOTHING",
        queue::LAST_RANK
    )))
    .bind(&message_id)
    .bind(&job)
    .bind(position)
    .bind(&new.author.id)
    .bind(new.intent.as_str())
    .bind(new.prompt)
    .bind(now.as_millis())
    .bind(i64::from(matches!(scheduling, Scheduling::Queued(_))))
    .execute(&mut **tx)
    .await?;
    if inserted.rows_affected() == 0 {
        return Ok(None);
    }
    jobs::record_event(tx, &job, position, now, DeliveryState::Queued.as_str(), None).await?;
    Ok(Some((message_id, job)))
}

async fn insert_job(
    tx: &mut Transaction<'static, Any>,
    new: &NewIntent<'_>,
    scheduling: Scheduling<'_>,
    now: Timestamp,
) -> Result<String, StoreError> {
    let job = new_id();
    let batch = match scheduling {
        Scheduling::Queued(batch) => batch.map(BatchId::as_str),
        Scheduling::Immediate => None,
    };
    sqlx::query(
        "INSERT INTO jobs (id, project, state, created_at, changed_at, batch_id) VALUES ($1, $2, $3, $4, $4, $5)",
    )
    .bind(&job)
    .bind(new.project.as_str())
    .bind(JobState::Queued.as_str())
    .bind(now.as_millis())
    .bind(batch)
    .execute(&mut **tx)
    .await?;
    if let Some(template) = new.template {
        templates::record_use(tx, &job, template).await?;
    }
    Ok(job)
}

/// Adds the pages that a prompt is about to those of its job, as far as there is room.
async fn add_paths(
    tx: &mut Transaction<'static, Any>,
    job: &str,
    paths: &[String],
) -> Result<(), StoreError> {
    for path in paths {
        sqlx::query(
            "INSERT INTO job_paths (job_id, path) SELECT $1, $2
             WHERE (SELECT COUNT(*) FROM job_paths WHERE job_id = $1) < $3 ON CONFLICT (job_id, path) DO NOTHING",
        )
        .bind(job)
        .bind(path)
        .bind(PATHS_MAX as i64)
        .execute(&mut **tx)
        .await?;
    }
    Ok(())
}

async fn next_position(tx: &mut Transaction<'static, Any>, job: &JobId) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar("SELECT COALESCE(MAX(position), 0) + 1 FROM messages WHERE job_id = $1")
        .bind(job.as_str())
        .fetch_one(&mut **tx)
        .await?)
}
