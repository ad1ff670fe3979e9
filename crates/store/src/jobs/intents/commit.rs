//! Commits intents: the row is stored before anything is sent.

use std::slice;

use sqlx::{Any, Transaction};

use crate::jobs::lifecycle::{NewDelivery, NewJob};
use crate::jobs::{archive_and_tags, lifecycle, templates};
use crate::{Authority, Change, Store, StoreError, limits};
use model::audit::Actor;
use model::id::{BatchId, IntentId, JobId, ProjectId, TemplateId};
use model::page_path::PATHS_MAX;
use model::tag::Tag;
use model::time::Timestamp;

/// A prompt to commit: a new job, or (with `job`) a follow-up.
pub struct NewIntent<'a> {
    pub project: &'a ProjectId,
    pub job: Option<&'a JobId>,
    pub author: &'a Actor,
    pub intent: &'a IntentId,
    pub prompt: &'a str,
    pub paths: &'a [String],
    /// The template of the prompt, if it still exists.
    pub template: Option<&'a TemplateId>,
    /// The job of the project that a new job retries.
    pub retry_of: Option<&'a JobId>,
    /// `None` for a form.
    pub script: Option<OfScript<'a>>,
    /// The maximum number of queued prompts of the author, including this one.
    pub queue_max: u32,
}

/// What only the request of a script has.
#[derive(Clone, Copy)]
pub struct OfScript<'a> {
    /// The hash of what the script sent.
    pub request_hash: &'a str,
    /// The tags of a new job.
    pub tags: &'a [Tag],
}

impl Store {
    /// Commits an intent and returns its message id; `None` if the author's intent id exists or existed, or the job to follow up was not accepted.
    pub async fn insert_intent(
        &self,
        by: Authority<'_>,
        new: NewIntent<'_>,
        scheduling: Scheduling<'_>,
    ) -> Result<Option<String>, StoreError> {
        let Change { mut tx, now, .. } = self.write(by).begin().await?;
        let Some(message) = insert(&mut tx, &new, scheduling, true, now).await? else { return Ok(None) };
        tx.commit().await?;
        Ok(Some(message))
    }
}

/// Counts the queued prompts of an author. Reads an index, and no text.
pub(crate) const QUEUED: &str = "SELECT COUNT(*) FROM messages WHERE author_id = $1 AND state = 'queued'";

/// When a new message is sent.
#[derive(Clone, Copy)]
pub enum Scheduling<'a> {
    Immediate,
    /// From the queue; a new job may belong to a batch.
    Queued(Option<&'a BatchId>),
}

/// As [`Store::insert_intent`], within a transaction, with an audit record if `is_audited`. The caller must not commit the transaction if this
/// returns `None`.
pub(crate) async fn insert(
    tx: &mut Transaction<'static, Any>,
    new: &NewIntent<'_>,
    scheduling: Scheduling<'_>,
    is_audited: bool,
    now: Timestamp,
) -> Result<Option<String>, StoreError> {
    let queued: i64 = sqlx::query_scalar(QUEUED).bind(&new.author.id).fetch_one(&mut **tx).await?;
    if queued >= i64::from(new.queue_max) {
        return Err(StoreError::QueueFull(new.queue_max));
    }
    limits::may_submit(tx, &new.author.id, now).await?;
    let (job, position) = match new.job {
        Some(job) => (job.clone(), next_position(tx, job).await?),
        None => {
            let batch = match scheduling {
                Scheduling::Queued(batch) => batch,
                Scheduling::Immediate => None,
            };
            let job = NewJob { project: new.project, batch, retry_of: new.retry_of };
            let job = lifecycle::create_job(tx, job, now).await?;
            if let Some(template) = new.template {
                templates::record_use(tx, job.as_str(), template).await?;
            }
            (job, 0)
        }
    };
    add_paths(tx, &job, new.paths).await?;
    let delivery = NewDelivery {
        project: new.project,
        job: &job,
        position,
        author: new.author,
        intent: new.intent.as_str(),
        prompt: new.prompt,
        request_hash: new.script.map(|script| script.request_hash),
        in_queue: matches!(scheduling, Scheduling::Queued(_)),
        is_audited,
    };
    let committed = lifecycle::commit(tx, &delivery, now).await?;
    if let (Some(_), None, Some(script)) = (&committed, new.job, new.script) {
        for tag in script.tags {
            archive_and_tags::tag(tx, new.project, slice::from_ref(&job), tag, new.author, now).await?;
        }
    }
    Ok(committed)
}

/// Adds the pages of a prompt to those of its job, up to the limit.
async fn add_paths(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    paths: &[String],
) -> Result<(), StoreError> {
    for path in paths {
        sqlx::query(
            "INSERT INTO job_paths (job_id, path) SELECT $1, $2
             WHERE (SELECT COUNT(*) FROM job_paths WHERE job_id = $1) < $3 ON CONFLICT (job_id, path) DO NOTHING",
        )
        .bind(job.as_str())
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
