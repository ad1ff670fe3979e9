//! The only writer of the states of deliveries (`messages.state`) and jobs (`jobs.state`). It applies the steps of `model::lifecycle` within the
//! caller's transaction: it compares the state and sets it. It also writes the timeline, the audit log, webhook events and whether the job needs
//! attention. Callers decide which step to apply.
//!
//! Triggers update the row of the list (`listed_jobs`) and the change counter of the project.

mod attention;
mod create;
mod remote;
mod retries;

use sqlx::{Any, AssertSqlSafe, Transaction};

pub(crate) use attention::refresh as refresh_attention;
#[cfg(test)]
pub(crate) use attention::standings;
pub(crate) use create::{NewDelivery, NewJob, commit, create_job, import};
pub use create::{NewImport, NewIntent, Subject};
pub(crate) use remote::{Polled, give_up, polled, pull_request_changed};

use super::job;
use super::messages::{self, Intent, SELECT_INTENT, last_rank};
use crate::dialect::select::sql_list;
use crate::webhooks::events;
use crate::{StoreError, audit, word};
use base::boxed::Boxed;
use model::audit::{Actor, AuditEvent};
use model::id::JobId;
use model::job::{DeliveryState, JobState, Reason, ReasonCode, RemoteJob, TimelineState};
use model::lifecycle::{DeliveryStep, JobStep, Text};
use model::time::Timestamp;

const NOTHING_TO_FOLLOW: Reason<'_> =
    ReasonCode::JobNotStarted.with("Its job was not started, so this follow-up was not sent.");

/// A step of a delivery with its details.
pub(crate) struct Transition<'a> {
    step: DeliveryStep,
    sender: Option<&'a str>,
    text: Option<&'a str>,
    code: Option<ReasonCode>,
    accepted: Option<Acceptance<'a>>,
    by: Option<&'a Actor>,
    refused_until: Option<Timestamp>,
    in_queue: bool,
}

/// The details of an accepted prompt.
#[derive(Clone, Copy)]
pub(crate) struct Acceptance<'a> {
    /// The platform's job object, if it sent one.
    pub(crate) remote: Option<&'a RemoteJob>,
    pub(crate) next_poll_at: Timestamp,
}

/// The state of a job before and after a step. Both may be the same.
#[derive(Clone, Copy)]
struct StateChange {
    before: JobState,
    after: JobState,
}

impl<'a> Transition<'a> {
    pub(crate) const fn new(step: DeliveryStep) -> Self {
        Self {
            step,
            sender: None,
            text: None,
            code: None,
            accepted: None,
            by: None,
            refused_until: None,
            in_queue: false,
        }
    }

    /// The process that sends it.
    pub(crate) const fn sent_by(self, instance: &'a str) -> Self {
        Self { sender: Some(instance), ..self }
    }

    /// Its reason: see [`Text`].
    pub(crate) const fn because(self, Reason { code, text }: Reason<'a>) -> Self {
        Self { text: Some(text), code: Some(code), ..self }
    }

    /// Its note: see [`Text`].
    pub(crate) const fn noted(self, text: &'a str) -> Self {
        Self { text: Some(text), ..self }
    }

    /// Stores and tracks the job.
    pub(crate) const fn with(self, accepted: Acceptance<'a>) -> Self {
        Self { accepted: Some(accepted), ..self }
    }

    /// The platform refused it with status 403, which is counted. It is not sent again before this time.
    pub(crate) const fn refused(self, again_at: Timestamp) -> Self {
        Self { refused_until: Some(again_at), ..self }
    }

    /// A prompt that is sent again joins its queue.
    pub(crate) const fn in_queue(self) -> Self {
        Self { in_queue: true, ..self }
    }

    /// The person in the audit log. Without one, nobody acted, or the caller records several steps as one action.
    pub(crate) const fn by(self, person: &'a Actor) -> Self {
        Self { by: Some(person), ..self }
    }

    /// The reason that is stored with the prompt.
    fn reason(&self) -> Option<&'a str> {
        self.text.filter(|_| self.step.row().text == Text::Reason)
    }

    fn reason_code(&self) -> Option<&'static str> {
        self.code.filter(|_| self.step.row().text == Text::Reason).map(ReasonCode::as_str)
    }
}

/// Applies a step of a delivery, and of its job; `false` if the delivery is in another state, attempt or claim by now: a step that is repeated,
/// because the reply to its commit was lost, changes nothing. The transaction's earlier changes stay.
pub(crate) fn apply<'a>(
    tx: &'a mut Transaction<'static, Any>,
    delivery: &'a Intent,
    transition: &'a Transition<'_>,
    now: Timestamp,
) -> Boxed<'a, bool, StoreError> {
    Box::pin(async move {
        if !apply_one(tx, delivery, transition, now).await? {
            return Ok(false);
        }
        if delivery.position == 0 && transition.step.row().to.ends_follow_ups() {
            let rejected = Transition::new(DeliveryStep::RejectFollowUp).because(NOTHING_TO_FOLLOW);
            for follow_up in queued_follow_ups(tx, &delivery.job).await? {
                apply_one(tx, &follow_up, &rejected, now).await?;
            }
        }
        refresh_attention(tx, std::slice::from_ref(&delivery.job)).await?;
        Ok(true)
    })
}

async fn apply_one(
    tx: &mut Transaction<'static, Any>,
    delivery: &Intent,
    transition: &Transition<'_>,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let report = follow_up_event(tx, delivery, transition).await?;
    if !set_delivery(tx, delivery, transition, now).await? {
        return Ok(false);
    }
    let job = &delivery.job;
    let to = transition.step.row().to;
    let remote = transition.accepted.and_then(|accepted| accepted.remote);
    let step = match (delivery.position, remote) {
        (0, _) => Some(JobStep::FirstPrompt(transition.step)),
        (_, Some(_)) => Some(JobStep::Response),
        (_, None) => None,
    };
    let before = job::state(tx, job).await?;
    let after = match step {
        Some(step) => after(step, before, remote)?,
        None => before,
    };
    if let Some(remote) = remote {
        remote::write(tx, job, StateChange { before, after }, remote, now).await?;
    }
    if let Some(accepted) = transition.accepted {
        job::track_from(tx, job, accepted.next_poll_at, now).await?;
        if delivery.position > 0 {
            job::follow_up_accepted(tx, job, before, after).await?;
        }
    }
    if delivery.position > 0 && to == DeliveryState::Unknown {
        job::track_unknown_follow_up(tx, job, now).await?;
    }
    let state = TimelineState::Delivery(to);
    job::record_event(tx, job.as_str(), delivery.position, now, &state, transition.text).await?;
    if delivery.position == 0 && remote.is_none() {
        set_job(tx, job, StateChange { before, after }, transition.reason()).await?;
    }
    count_step(tx, job, now).await?;
    if step.is_some_and(|step| step.is_reported(before, after)) {
        if let Some(remote) = remote {
            job::record_status(tx, job, delivery.position, now, remote).await?;
        }
        events::job_finished(tx, job, now).await?;
    }
    if let Some(event) = report {
        events::follow_up_ended(tx, delivery, event, now).await?;
    }
    if let (Some(action), Some(by)) = (transition.step.audit(delivery.position), transition.by) {
        let event = AuditEvent::new(action).in_project(&delivery.project).on(job);
        audit::record(tx, by, &event, now).await?;
    }
    Ok(true)
}

/// The webhook event of a step of a follow-up. It depends on the stored state: another process may have changed it.
async fn follow_up_event(
    tx: &mut Transaction<'static, Any>,
    delivery: &Intent,
    transition: &Transition<'_>,
) -> Result<Option<&'static str>, StoreError> {
    let is_reportable = transition.step.follow_up_event(DeliveryState::Sending).is_some();
    if delivery.position == 0 || !is_reportable {
        return Ok(None);
    }
    let row = sqlx::query("SELECT state FROM messages WHERE id = $1")
        .bind(&delivery.message_id)
        .fetch_one(&mut **tx)
        .await?;
    Ok(transition.step.follow_up_event(word(&row, "state")?))
}

/// Compares and sets the state of a delivery. A sender's *unknown* may replace that of another process, whose reason differs.
async fn set_delivery(
    tx: &mut Transaction<'static, Any>,
    delivery: &Intent,
    transition: &Transition<'_>,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let row = transition.step.row();
    let set = sqlx::query(AssertSqlSafe(format!(
        "UPDATE messages SET state = $3, reason = $4, reason_code = $7, outcome_at = $5
         WHERE id = $1 AND attempt = $2 AND claim = $6 AND state IN ({}) AND (state <> $3 OR reason <> $4)",
        sql_list(row.from.iter().map(|state| state.as_str()))
    )))
    .bind(&delivery.message_id)
    .bind(delivery.attempt)
    .bind(row.to.as_str())
    .bind(transition.reason())
    .bind(Some(now.as_millis()).filter(|_| row.to.has_outcome()))
    .bind(delivery.claim)
    .bind(transition.reason_code())
    .execute(&mut **tx)
    .await?;
    if set.rows_affected() != 1 {
        return Ok(false);
    }
    match transition.step {
        DeliveryStep::Claim => {
            sqlx::query("UPDATE messages SET sent_at = $2, sender = $3, claim = claim + 1 WHERE id = $1")
                .bind(&delivery.message_id)
                .bind(now.as_millis())
                .bind(transition.sender)
                .execute(&mut **tx)
                .await?;
        }
        DeliveryStep::Requeue => {
            let Some(again_at) = transition.refused_until else { return Ok(true) };
            let last_rank = last_rank();
            sqlx::query(AssertSqlSafe(format!(
                "UPDATE messages SET refusals = refusals + 1, due_at = $2, rank = {last_rank} WHERE id = $1"
            )))
            .bind(&delivery.message_id)
            .bind(again_at.as_millis())
            .execute(&mut **tx)
            .await?;
        }
        DeliveryStep::SendAgain => {
            let last_rank = last_rank();
            sqlx::query(AssertSqlSafe(format!(
                "UPDATE messages SET attempt = attempt + 1, in_queue = $3, may_queue = 1, due_at = $2, sent_at = NULL, rank = {last_rank},
                     on_hold_since = NULL
                 WHERE id = $1"
            )))
            .bind(&delivery.message_id)
            .bind(now.as_millis())
            .bind(i64::from(transition.in_queue))
            .execute(&mut **tx)
            .await?;
        }
        _ => {}
    }
    Ok(true)
}

/// Compares and sets the state of a job that the platform has not accepted.
async fn set_job(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    change: StateChange,
    reason: Option<&str>,
) -> Result<(), StoreError> {
    let set = sqlx::query("UPDATE jobs SET state = $3, reason = $4 WHERE id = $1 AND state = $2")
        .bind(job.as_str())
        .bind(change.before.as_str())
        .bind(change.after.as_str())
        .bind(reason)
        .execute(&mut **tx)
        .await?;
    expect_one(set.rows_affected(), job)
}

/// Counts a step of a delivery in its job, so that a poll that started earlier stores nothing. Clears a dismissal, and the resolution by a retry.
async fn count_step(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE jobs SET revision = revision + 1, changed_at = $2, dismissed_at = NULL, dismissed_by = NULL, resolved_by = NULL
         WHERE id = $1",
    )
    .bind(job.as_str())
    .bind(now.as_millis())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

async fn queued_follow_ups(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
) -> Result<Vec<Intent>, StoreError> {
    let rows = sqlx::query(AssertSqlSafe(format!(
        "{SELECT_INTENT} WHERE m.job_id = $1 AND m.position > 0 AND m.state = '{}' ORDER BY m.position",
        DeliveryState::Queued.as_str()
    )))
    .bind(job.as_str())
    .fetch_all(&mut **tx)
    .await?;
    rows.iter().map(messages::intent).collect()
}

/// The state of a job after a step that must be possible: the step of its first prompt, or one from the platform.
fn after(step: JobStep, before: JobState, remote: Option<&RemoteJob>) -> Result<JobState, StoreError> {
    let status = remote.map(|remote| remote.status.as_str());
    step.after(Some(before), status).ok_or_else(|| {
        StoreError::Corrupt(format!("a job in the state “{before}”, which {step:?} cannot follow"))
    })
}

fn expect_one(rows: u64, job: &JobId) -> Result<(), StoreError> {
    match rows {
        1 => Ok(()),
        _ => Err(StoreError::Corrupt(format!("the job {job} in a state that it was not in before"))),
    }
}

/// Removes the try before the last one from the timeline of a prompt if both ended for the same reason: a prompt can wait for weeks, and is tried every
/// hour.
pub(crate) async fn forget_repeated_try(
    tx: &mut Transaction<'static, Any>,
    delivery: &Intent,
) -> Result<(), StoreError> {
    let last: Vec<(String, String, Option<String>)> = sqlx::query_as(
        "SELECT id, state, detail FROM job_events WHERE job_id = $1 AND position = $2 ORDER BY id DESC LIMIT 3",
    )
    .bind(delivery.job.as_str())
    .bind(delivery.position)
    .fetch_all(&mut **tx)
    .await?;
    let [(_, state, reason), (sending, ..), (queued, earlier_state, earlier_reason)] = &last[..] else {
        return Ok(());
    };
    if (state, reason) != (earlier_state, earlier_reason) {
        return Ok(());
    }
    sqlx::query("DELETE FROM job_events WHERE id IN ($1, $2)")
        .bind(sending)
        .bind(queued)
        .execute(&mut **tx)
        .await?;
    Ok(())
}
