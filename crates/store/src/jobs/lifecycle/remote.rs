//! Stores the platform's data about accepted jobs.

use std::slice::from_ref;

use sqlx::{Any, Transaction};

use super::{StateChange, after, expect_one, refresh_attention, retries};
use crate::StoreError;
use crate::jobs::job;
use crate::webhooks::events;
use base::boxed::Boxed;
use model::id::JobId;
use model::job::{JobState, RemoteJob, TimelineState};
use model::lifecycle::JobStep;
use model::pull_request::PullRequestEvent;
use model::time::Timestamp;

/// A poll that returned the job.
pub(crate) struct Polled<'a> {
    pub(crate) remote: &'a RemoteJob,
    /// The last accepted prompt.
    pub(crate) position: i64,
    /// Whether the job object differs from the stored one.
    pub(crate) is_changed: bool,
    /// Whether its status is added to the timeline.
    pub(crate) is_recorded: bool,
    /// Whether the last turn ended without a poll that returned it as running.
    pub(crate) is_over: bool,
}

/// Stores the result of a poll.
pub(crate) fn polled<'a>(
    tx: &'a mut Transaction<'static, Any>,
    job: &'a JobId,
    before: JobState,
    polled: &'a Polled<'_>,
    now: Timestamp,
) -> Boxed<'a, (), StoreError> {
    Box::pin(async move {
        let state = after(JobStep::Poll, before, Some(polled.remote))?;
        if polled.is_changed {
            write(tx, job, StateChange { before, after: state }, polled.remote, now).await?;
        }
        if before.shows_follow_up(state) {
            job::follow_up_shown(tx, job).await?;
        }
        if polled.is_recorded {
            job::record_status(tx, job, polled.position, now, polled.remote).await?;
        }
        if JobStep::Poll.is_reported(before, state) || (polled.is_over && !state.is_moving()) {
            events::job_finished(tx, job, now).await?;
        }
        refresh_attention(tx, from_ref(job)).await
    })
}

/// Shows `status` and `reason` for a job whose outcome cannot be determined.
pub(crate) async fn give_up(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    position: i64,
    status: &str,
    reason: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let before = job::state(tx, job).await?;
    let state = after(JobStep::GiveUp, before, None)?;
    let set = sqlx::query(
        "UPDATE jobs SET dismissed_at = CASE WHEN state = $3 AND remote_status = $4 THEN dismissed_at END,
             dismissed_by = CASE WHEN state = $3 AND remote_status = $4 THEN dismissed_by END,
             resolved_by = CASE WHEN state = $3 AND remote_status = $4 THEN resolved_by END,
             state = $3, remote_status = $4, reason = $5, changed_at = $6
         WHERE id = $1 AND state = $2",
    )
    .bind(job.as_str())
    .bind(before.as_str())
    .bind(state.as_str())
    .bind(status)
    .bind(reason)
    .bind(now.as_millis())
    .execute(&mut **tx)
    .await?;
    expect_one(set.rows_affected(), job)?;
    let entry = TimelineState::from(status);
    job::record_event(tx, job.as_str(), position, now, &entry, Some(reason)).await?;
    if JobStep::GiveUp.is_reported(before, state) {
        events::job_finished(tx, job, now).await?;
    }
    refresh_attention(tx, from_ref(job)).await
}

/// Stores the platform's job object with the resulting state. An opened pull request stays, as an earlier one: the platform returns none while a
/// follow-up runs. So does the outcome of a job that the platform archives, with its reason. A visible change clears a dismissal, and the resolution
/// by a retry.
pub(super) async fn write(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    change: StateChange,
    remote: &RemoteJob,
    now: Timestamp,
) -> Result<(), StoreError> {
    let written = sqlx::query(
        "UPDATE jobs SET
             dismissed_at = CASE WHEN state = $3 AND remote_status = $7 AND COALESCE($11, pr_link, '') = COALESCE(pr_link, '')
                 THEN dismissed_at END,
             dismissed_by = CASE WHEN state = $3 AND remote_status = $7 AND COALESCE($11, pr_link, '') = COALESCE(pr_link, '')
                 THEN dismissed_by END,
             resolved_by = CASE WHEN state = $3 AND remote_status = $7 AND COALESCE($11, pr_link, '') = COALESCE(pr_link, '')
                 THEN resolved_by END,
             reason = CASE WHEN $3 = 'archived' AND state IN ('archived', 'failed') THEN reason ELSE $4 END,
             outcome = CASE WHEN $3 IN ('completed', 'failed') THEN $3 ELSE outcome END,
             pr_is_earlier = CASE WHEN $11 IS NULL AND pr_link IS NOT NULL THEN 1 ELSE 0 END,
             state = $3, changed_at = $5, remote_id = $6, remote_status = $7, model = $8, repository = $9,
             git_ref = $10, pr_link = COALESCE($11, pr_link), remote_created_at = $12, remote_archived_at = $13
         WHERE id = $1 AND state = $2",
    )
    .bind(job.as_str())
    .bind(change.before.as_str())
    .bind(change.after.as_str())
    .bind(remote.error.as_ref().filter(|_| change.after == JobState::Failed))
    .bind(now.as_millis())
    .bind(&remote.id)
    .bind(&remote.status)
    .bind(&remote.model)
    .bind(&remote.repository)
    .bind(&remote.git_ref)
    .bind(&remote.pr_link)
    .bind(remote.created_at.map(Timestamp::as_millis))
    .bind(remote.archived_at.map(Timestamp::as_millis))
    .execute(&mut **tx)
    .await?;
    expect_one(written.rows_affected(), job)?;
    match retries::succeeds(change) {
        true => retries::resolve(tx, job).await,
        false => Ok(()),
    }
}

/// Records a change of a job's pull request: in the timeline, in the notifications, and as an event for webhooks. The state of the job does not change.
pub(crate) async fn pull_request_changed(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    event: PullRequestEvent,
    now: Timestamp,
) -> Result<(), StoreError> {
    job::record_event(tx, job.as_str(), 0, now, &TimelineState::PullRequest(event), None).await?;
    sqlx::query("UPDATE jobs SET changed_at = $2 WHERE id = $1")
        .bind(job.as_str())
        .bind(now.as_millis())
        .execute(&mut **tx)
        .await?;
    events::pull_request_changed(tx, job, event, now).await
}
