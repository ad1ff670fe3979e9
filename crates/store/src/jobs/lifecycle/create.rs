//! Creates deliveries and jobs: committed by a person, or imported.

use std::slice::from_ref;

use sqlx::{Any, AssertSqlSafe, Transaction};

use super::{StateChange, refresh_attention, remote};
use crate::jobs::job;
use crate::jobs::messages::last_rank;
use crate::jobs::states::delivery_states;
use crate::{StoreError, audit, new_id};
use base::prompt::Prompt;
use model::audit::{Actor, AuditEvent};
use model::id::{BatchId, IntentId, JobId, ProjectId, TemplateId};
use model::job::{JobState, RemoteJob, TimelineState};
use model::lifecycle::{DeliveryStep, JobStep};
use model::page_path::Pages;
use model::tag::Tag;
use model::time::Timestamp;

/// A prompt to commit.
#[derive(Debug)]
pub struct NewIntent {
    pub project: ProjectId,
    pub intent: IntentId,
    pub prompt: Prompt,
    /// They are added to those of its job.
    pub pages: Pages,
    pub subject: Subject,
    /// Whether it may wait in the queue. Otherwise it is rejected if it cannot be sent at once.
    pub may_queue: bool,
    /// The hash of what a script sent; `None` for a form.
    pub request_hash: Option<String>,
    /// The hash of all that was submitted; `None` for a prompt of a batch.
    pub body_hash: Option<String>,
    /// The draft that it is the only prompt of, by the intent of the form that began it.
    pub draft: Option<IntentId>,
}

/// What a prompt is for.
#[derive(Debug)]
pub enum Subject {
    NewJob {
        /// The template of the prompt, if it still exists.
        template: Option<TemplateId>,
        /// The job of the project that it retries.
        retry_of: Option<JobId>,
        tags: Vec<Tag>,
    },
    FollowUp(JobId),
}

impl NewIntent {
    /// A prompt for a new job, without anything else.
    pub fn new_job(project: ProjectId, intent: IntentId, prompt: Prompt) -> Self {
        let subject = Subject::NewJob { template: None, retry_of: None, tags: Vec::new() };
        Self {
            project,
            intent,
            prompt,
            pages: Pages::default(),
            subject,
            may_queue: true,
            request_hash: None,
            body_hash: None,
            draft: None,
        }
    }

    pub fn follow_up(project: ProjectId, job: JobId, intent: IntentId, prompt: Prompt) -> Self {
        Self { subject: Subject::FollowUp(job), ..Self::new_job(project, intent, prompt) }
    }

    /// The job to follow up; `None` for a new job.
    pub fn followed_up(&self) -> Option<&JobId> {
        match &self.subject {
            Subject::FollowUp(job) => Some(job),
            Subject::NewJob { .. } => None,
        }
    }

    /// The job that a new one retries.
    pub fn retry_of(&self) -> Option<&JobId> {
        match &self.subject {
            Subject::NewJob { retry_of, .. } => retry_of.as_ref(),
            Subject::FollowUp(_) => None,
        }
    }
}

/// A job to create.
#[derive(Clone, Copy)]
pub(crate) struct NewJob<'a> {
    pub(crate) project: &'a ProjectId,
    pub(crate) batch: Option<&'a BatchId>,
    /// The job of the project that it retries.
    pub(crate) retry_of: Option<&'a JobId>,
}

/// The delivery of a prompt, to create.
pub(crate) struct NewDelivery<'a> {
    pub(crate) project: &'a ProjectId,
    pub(crate) job: &'a JobId,
    pub(crate) position: i64,
    pub(crate) author: &'a Actor,
    pub(crate) in_queue: bool,
    /// Whether it gets its own audit record.
    pub(crate) is_audited: bool,
}

/// A job to import.
pub struct NewImport<'a> {
    pub project: &'a ProjectId,
    pub author: &'a Actor,
    /// Replaces the prompt, which is unknown.
    pub text: &'a str,
    pub remote: &'a RemoteJob,
    /// An entry for the timeline.
    pub note: &'a str,
}

/// Creates a job before its first prompt is committed.
pub(crate) async fn create_job(
    tx: &mut Transaction<'static, Any>,
    new: NewJob<'_>,
    now: Timestamp,
) -> Result<JobId, StoreError> {
    insert_job(tx, new, DeliveryStep::Commit, None, now).await.map(|(job, _)| job)
}

/// Commits a prompt and returns its id; `None` if the author's intent exists or existed, another prompt of its draft exists, or the job does not allow a
/// follow-up.
pub(crate) async fn commit(
    tx: &mut Transaction<'static, Any>,
    intent: &NewIntent,
    new: &NewDelivery<'_>,
    now: Timestamp,
) -> Result<Option<String>, StoreError> {
    let id = new_id();
    let refusing = delivery_states(|state| !state.accepts_follow_ups());
    let last_rank = last_rank();
    let inserted = sqlx::query(AssertSqlSafe(format!(
        "INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at, in_queue, rank, request_hash, body_hash, may_queue, draft)
         SELECT $1, $2, $3, $4, $5, $6, '{}', $7, $7, $8, {last_rank}, $9, $10, $11, $12
         WHERE NOT EXISTS (SELECT 1 FROM messages WHERE job_id = $2 AND position = 0 AND state IN ({}))
         AND NOT EXISTS (SELECT 1 FROM removed_intents WHERE author_id = $4 AND intent = $5)
         ON CONFLICT DO NOTHING",
        DeliveryStep::Commit.row().to.as_str(),
        refusing,
    )))
    .bind(&id)
    .bind(new.job.as_str())
    .bind(new.position)
    .bind(&new.author.id)
    .bind(intent.intent.as_str())
    .bind(intent.prompt.as_str())
    .bind(now.as_millis())
    .bind(i64::from(new.in_queue))
    .bind(intent.request_hash.as_deref())
    .bind(intent.body_hash.as_deref())
    .bind(i64::from(intent.may_queue))
    .bind(intent.draft.as_ref().map(IntentId::as_str))
    .execute(&mut **tx)
    .await?;
    if inserted.rows_affected() == 0 {
        return Ok(None);
    }
    created(tx, new, DeliveryStep::Commit, None, now).await?;
    Ok(Some(id))
}

/// Creates a job that was started elsewhere, and tracks it. The text replaces its prompt, which is unknown.
pub(crate) async fn import(
    tx: &mut Transaction<'static, Any>,
    import: &NewImport<'_>,
    next_poll_at: Timestamp,
    now: Timestamp,
) -> Result<JobId, StoreError> {
    let NewImport { project, author, text, remote, note } = *import;
    let new = NewJob { project, batch: None, retry_of: None };
    let (job, state) = insert_job(tx, new, DeliveryStep::Import, Some(&remote.status), now).await?;
    sqlx::query(
        "INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at, outcome_at)
         VALUES ($1, $2, 0, $3, $2, $4, $5, $6, $6, $6)",
    )
    .bind(new_id())
    .bind(job.as_str())
    .bind(&author.id)
    .bind(text)
    .bind(DeliveryStep::Import.row().to.as_str())
    .bind(now.as_millis())
    .execute(&mut **tx)
    .await?;
    remote::write(tx, &job, StateChange { before: state, after: state }, remote, now).await?;
    job::track_from(tx, &job, next_poll_at, now).await?;
    let new = NewDelivery { project, job: &job, position: 0, author, in_queue: false, is_audited: true };
    created(tx, &new, DeliveryStep::Import, Some(note), now).await?;
    Ok(job)
}

async fn insert_job(
    tx: &mut Transaction<'static, Any>,
    new: NewJob<'_>,
    step: DeliveryStep,
    status: Option<&str>,
    now: Timestamp,
) -> Result<(JobId, JobState), StoreError> {
    let id = new_id();
    let state = JobStep::FirstPrompt(step).after(None, status);
    let state = state.ok_or_else(|| StoreError::Corrupt(format!("a job that begins with {step:?}")))?;
    sqlx::query(
        "INSERT INTO jobs (id, project, state, created_at, changed_at, batch_id, retry_of)
         VALUES ($1, $2, $3, $4, $4, $5, (SELECT id FROM jobs WHERE id = $6 AND project = $2))",
    )
    .bind(&id)
    .bind(new.project.as_str())
    .bind(state.as_str())
    .bind(now.as_millis())
    .bind(new.batch.map(BatchId::as_str))
    .bind(new.retry_of.map(JobId::as_str))
    .execute(&mut **tx)
    .await?;
    let id: JobId = id.parse().map_err(|_| StoreError::Corrupt(format!("“{id}” as a new id")))?;
    Ok((id, state))
}

/// Records that a delivery was created.
async fn created(
    tx: &mut Transaction<'static, Any>,
    new: &NewDelivery<'_>,
    step: DeliveryStep,
    note: Option<&str>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let state = TimelineState::Delivery(step.row().to);
    job::record_event(tx, new.job.as_str(), new.position, now, &state, note).await?;
    refresh_attention(tx, from_ref(new.job)).await?;
    if let Some(action) = step.audit(new.position).filter(|_| new.is_audited) {
        let event = AuditEvent::new(action).in_project(new.project).on(new.job);
        audit::record(tx, new.author, &event, now).await?;
    }
    Ok(())
}
