//! Commits intents: the row is stored before anything is sent.

use std::slice;

use sqlx::{Any, Transaction};

use crate::jobs::lifecycle::{NewDelivery, NewIntent, NewJob, Subject};
use crate::jobs::{archive_and_tags, details, lifecycle, templates};
use crate::{Authority, Change, Store, StoreError, limits};
use base::boxed::Boxed;
use model::audit::Actor;
use model::id::{BatchId, JobId};
use model::job::Job;
use model::page_path::PATHS_MAX;
use model::time::Timestamp;

impl Store {
    /// Commits an intent of `author`; `None` if the author's intent id exists or existed, or the job to follow up was not accepted. `queue_max`: the
    /// maximum number of queued prompts of the author, including this one.
    pub async fn commit_intent(
        &self,
        by: Authority<'_>,
        author: &Actor,
        new: &NewIntent,
        scheduling: Scheduling<'_>,
        queue_max: u32,
    ) -> Result<Option<CommittedPrompt>, StoreError> {
        let Change { mut tx, now, .. } = self.write(by).begin().await?;
        let inserted = Insertion { author, scheduling, queue_max, is_audited: true };
        let Some((message_id, job)) = insert(&mut tx, new, inserted, now).await? else { return Ok(None) };
        let job = details::job_in(&mut tx, self.dialect, &new.project, &job).await?;
        tx.commit().await?;
        Ok(Some(CommittedPrompt { message_id, job }))
    }

    /// As [`Self::commit_intent`], with the id of the message only.
    pub async fn insert_intent(
        &self,
        by: Authority<'_>,
        author: &Actor,
        new: &NewIntent,
        scheduling: Scheduling<'_>,
        queue_max: u32,
    ) -> Result<Option<String>, StoreError> {
        let committed = self.commit_intent(by, author, new, scheduling, queue_max).await?;
        Ok(committed.map(|committed| committed.message_id))
    }
}

/// A prompt, and its job as the transaction left it. From now on the prompt may be sent, so this is the answer if the job cannot be read again.
pub struct CommittedPrompt {
    pub message_id: String,
    pub job: Job,
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

/// How a prompt is committed.
#[derive(Clone, Copy)]
pub(crate) struct Insertion<'a> {
    pub(crate) author: &'a Actor,
    pub(crate) scheduling: Scheduling<'a>,
    pub(crate) queue_max: u32,
    /// Whether it gets its own audit record.
    pub(crate) is_audited: bool,
}

/// As [`Store::commit_intent`], within a transaction; returns the ids of the message and of the job. The caller must not commit the transaction if
/// this returns `None`.
pub(crate) fn insert<'a>(
    tx: &'a mut Transaction<'static, Any>,
    new: &'a NewIntent,
    Insertion { author, scheduling, queue_max, is_audited }: Insertion<'a>,
    now: Timestamp,
) -> Boxed<'a, Option<(String, JobId)>, StoreError> {
    Box::pin(async move {
        let queued: i64 = sqlx::query_scalar(QUEUED).bind(&author.id).fetch_one(&mut **tx).await?;
        if queued >= i64::from(queue_max) {
            return Err(StoreError::QueueFull(queue_max));
        }
        limits::may_submit(tx, &author.id, now).await?;
        let (job, position) = match &new.subject {
            Subject::FollowUp(job) => (job.clone(), next_position(tx, job).await?),
            Subject::NewJob { template, retry_of, .. } => {
                let batch = match scheduling {
                    Scheduling::Queued(batch) => batch,
                    Scheduling::Immediate => None,
                };
                let job = NewJob { project: &new.project, batch, retry_of: retry_of.as_ref() };
                let job = lifecycle::create_job(tx, job, now).await?;
                if let Some(template) = template {
                    templates::record_use(tx, job.as_str(), template).await?;
                }
                (job, 0)
            }
        };
        add_paths(tx, &job, &new.pages).await?;
        let in_queue = matches!(scheduling, Scheduling::Queued(_));
        let delivery =
            NewDelivery { project: &new.project, job: &job, position, author, in_queue, is_audited };
        let committed = lifecycle::commit(tx, new, &delivery, now).await?;
        if let (Some(_), Subject::NewJob { tags, .. }) = (&committed, &new.subject) {
            for tag in tags {
                archive_and_tags::tag(tx, &new.project, slice::from_ref(&job), tag, author, now).await?;
            }
        }
        Ok(committed.map(|message| (message, job)))
    })
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
