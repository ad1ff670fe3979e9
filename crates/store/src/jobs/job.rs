//! The row of a job, and the events of its timeline.

use sqlx::any::AnyRow;
use sqlx::{Any, Row, Transaction};

use super::states::delivery_states;
use crate::platform::direct_projects::is_direct;
use crate::{Store, StoreError, instant, new_id, optional_instant, optional_word, word};
use model::id::{JobId, ProjectId};
use model::job::{
    DeliveryState, FollowUp, Job, JobBadge, JobState, LocalArchive, NO_CHANGES, ReasonCode, RemoteJob,
    TimelineState,
};
use model::time::Timestamp;

/// The columns of `jobs` (as `j`) with the first message (as `m`) and its author (as `u`). Also who archived the job (as `a`), who dismissed it (as
/// `d`), whether it needs attention, and whether the platform publishes the changes of its project directly.
pub(crate) fn select_job() -> String {
    let (is_direct, awaits_follow_up) = (is_direct("j.project"), awaits_follow_up("j"));
    format!(
        "SELECT j.*, m.prompt, m.attempt, m.reason_code, u.name AS author, a.name AS archiver, d.name AS dismisser, {is_direct} AS is_direct,
             {awaits_follow_up} AS awaits_follow_up,
             (SELECT l.attention FROM listed_jobs l WHERE l.job_id = j.id) AS attention FROM jobs j
         JOIN messages m ON m.job_id = j.id AND m.position = 0 JOIN users u ON u.id = m.author_id
         LEFT JOIN users a ON a.id = j.archived_by LEFT JOIN users d ON d.id = j.dismissed_by"
    )
}

/// An expression: 1 if a follow-up of the job is pending, or the platform accepted one, or may have, and its status does not show yet that it works on it;
/// else 0.
pub(crate) fn awaits_follow_up(job: &str) -> String {
    let pending = delivery_states(DeliveryState::is_pending);
    format!(
        "CASE WHEN ({job}.next_poll_at IS NOT NULL AND {job}.follow_up_unseen = 1) OR EXISTS (
             SELECT 1 FROM messages w WHERE w.job_id = {job}.id AND w.position > 0 AND w.state IN ({pending})) THEN 1 ELSE 0 END"
    )
}

impl Store {
    /// Whether the job exists in the project.
    pub async fn has_job(&self, project: &ProjectId, id: &JobId) -> Result<bool, StoreError> {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM jobs WHERE id = $1 AND project = $2")
            .bind(id.as_str())
            .bind(project.as_str())
            .fetch_one(&self.pool)
            .await?;
        Ok(count == 1)
    }

    /// The state of a job. Reads none of its texts.
    pub async fn job_state(&self, project: &ProjectId, id: &JobId) -> Result<Option<JobState>, StoreError> {
        let row = sqlx::query("SELECT state FROM jobs WHERE id = $1 AND project = $2")
            .bind(id.as_str())
            .bind(project.as_str())
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| word(&row, "state")).transpose()
    }
}

/// The badge of a job from a row with its columns.
pub(crate) fn badge(row: &AnyRow) -> Result<JobBadge, StoreError> {
    Ok(JobBadge {
        id: word(row, "id")?,
        state: word(row, "state")?,
        status: row.try_get("remote_status")?,
        pr_link: row.try_get("pr_link")?,
        pr_link_is_earlier: row.try_get::<i64, _>("pr_is_earlier")? == 1,
        pr_state: optional_word(row, "pr_state")?,
        changed_at: instant(row, "changed_at")?,
        tracked: is_tracked(row)?,
        is_direct: row.try_get::<i64, _>("is_direct")? > 0,
    })
}

/// After the platform accepted a follow-up: records whether its answer, which changed the state from `before` to `after`, shows that it works on it. An
/// earlier follow-up that is still to be shown comes first.
pub(crate) async fn follow_up_accepted(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    before: JobState,
    after: JobState,
) -> Result<(), StoreError> {
    let unseen = "UPDATE jobs SET follow_up_unseen = CASE WHEN CAST($2 AS BIGINT) = 1 THEN follow_up_unseen ELSE 1 END WHERE id = $1";
    sqlx::query(unseen)
        .bind(job.as_str())
        .bind(i64::from(before.shows_follow_up(after)))
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// The time before the first poll after an unknown outcome: the platform may be failing.
const UNKNOWN_POLL_SECONDS: i64 = 10;

/// After a follow-up whose outcome is unknown: the platform may work on it, which the next polls show.
pub(crate) async fn track_unknown_follow_up(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    now: Timestamp,
) -> Result<(), StoreError> {
    track_from(tx, job, now.plus_seconds(UNKNOWN_POLL_SECONDS), now).await?;
    sqlx::query("UPDATE jobs SET follow_up_unseen = 1 WHERE id = $1")
        .bind(job.as_str())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// After a poll that shows that the platform works on its follow-up.
pub(crate) async fn follow_up_shown(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE jobs SET follow_up_unseen = 0 WHERE id = $1")
        .bind(job.as_str())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Starts tracking a job.
pub(crate) async fn track_from(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    next_poll_at: Timestamp,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE jobs SET next_poll_at = $2, tracked_since = $3, missing_since = NULL WHERE id = $1")
        .bind(job.as_str())
        .bind(next_poll_at.as_millis())
        .bind(now.as_millis())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// The state of an existing job.
pub(crate) async fn state(tx: &mut Transaction<'static, Any>, job: &JobId) -> Result<JobState, StoreError> {
    let row =
        sqlx::query("SELECT state FROM jobs WHERE id = $1").bind(job.as_str()).fetch_one(&mut **tx).await?;
    word(&row, "state")
}

/// Appends an entry to a job's timeline.
pub(crate) async fn record_event(
    tx: &mut Transaction<'static, Any>,
    job: &str,
    position: i64,
    now: Timestamp,
    state: &TimelineState,
    detail: Option<&str>,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO job_events (id, job_id, position, at, state, detail) VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(new_id())
    .bind(job)
    .bind(position)
    .bind(now.as_millis())
    .bind(state.as_str())
    .bind(detail)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Appends the upstream's status to a job's timeline. For a completed turn, adds its pull request or [`NO_CHANGES`].
pub(crate) async fn record_status(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    position: i64,
    now: Timestamp,
    remote: &RemoteJob,
) -> Result<(), StoreError> {
    let is_completed = JobState::of(DeliveryState::Accepted, Some(&remote.status)) == JobState::Completed;
    let brought = is_completed.then(|| remote.pr_link.as_deref().unwrap_or(NO_CHANGES));
    let state = TimelineState::reported(&remote.status);
    record_event(tx, job.as_str(), position, now, &state, brought).await
}

/// A job without follow-ups, paths, tags and timeline.
pub(crate) fn job(row: &AnyRow) -> Result<Job, StoreError> {
    Ok(Job {
        id: word(row, "id")?,
        project: word(row, "project")?,
        prompt: row.try_get("prompt")?,
        author: row.try_get("author")?,
        state: word(row, "state")?,
        earlier_outcome: earlier_outcome(word(row, "state")?, optional_word(row, "outcome")?),
        reason_code: reason_code_of_job(row)?,
        reason: row.try_get("reason")?,
        created_at: instant(row, "created_at")?,
        changed_at: instant(row, "changed_at")?,
        tracked: is_tracked(row)?,
        awaits_follow_up: row.try_get::<i64, _>("awaits_follow_up")? == 1,
        is_direct: row.try_get::<i64, _>("is_direct")? > 0,
        remote: remote(row)?,
        pull_request: None,
        follow_ups: Vec::new(),
        earlier_follow_ups: 0,
        paths: Vec::new(),
        attempt: attempt(row)?,
        batch: optional_word(row, "batch_id")?,
        template: None,
        tags: Vec::new(),
        archived_here: done_by(row, "archived_here_at", "archiver")?,
        dismissed: done_by(row, "dismissed_at", "dismisser")?,
        retry_of: None,
        retries: Vec::new(),
        retries_total: 0,
        resolved_by: optional_word(row, "resolved_by")?,
        needs_attention: row.try_get::<Option<i64>, _>("attention")? == Some(1),
        usual_millis: None,
        pull_requests_url: None,
        history: Vec::new(),
    })
}

fn done_by(row: &AnyRow, at: &str, by: &str) -> Result<Option<LocalArchive>, StoreError> {
    let Some(at) = optional_instant(row, at)? else { return Ok(None) };
    Ok(Some(LocalArchive { at, by: row.try_get::<Option<String>, _>(by)?.unwrap_or_default() }))
}

/// A row with the columns `id`, `prompt`, `author`, `state`, `reason`, `reason_code`, `created_at` and `attempt`.
pub(crate) fn follow_up(row: &AnyRow) -> Result<FollowUp, StoreError> {
    Ok(FollowUp {
        id: word(row, "id")?,
        prompt: row.try_get("prompt")?,
        author: row.try_get("author")?,
        state: word(row, "state")?,
        reason_code: stored_code(row)?,
        reason: row.try_get("reason")?,
        created_at: instant(row, "created_at")?,
        attempt: attempt(row)?,
    })
}

/// From the columns `reason` and `reason_code`.
pub(crate) fn stored_code(row: &AnyRow) -> Result<Option<ReasonCode>, StoreError> {
    let (code, reason): (Option<String>, Option<String>) =
        (row.try_get("reason_code")?, row.try_get("reason")?);
    Ok(ReasonCode::stored(code.as_deref(), reason.as_deref()))
}

fn reason_code_of_job(row: &AnyRow) -> Result<Option<ReasonCode>, StoreError> {
    let (state, status): (_, Option<String>) = (word(row, "state")?, row.try_get("remote_status")?);
    let outcome = earlier_outcome(state, optional_word(row, "outcome")?);
    Ok(ReasonCode::of_job(state, outcome, status.as_deref(), stored_code(row)?))
}

fn attempt(row: &AnyRow) -> Result<u32, StoreError> {
    Ok(u32::try_from(row.try_get::<i64, _>("attempt")?).unwrap_or(u32::MAX))
}

pub(crate) fn remote(row: &AnyRow) -> Result<Option<RemoteJob>, StoreError> {
    let Some(id) = row.try_get::<Option<String>, _>("remote_id")? else { return Ok(None) };
    let status = row.try_get::<Option<String>, _>("remote_status")?.unwrap_or_default();
    let error = row.try_get::<Option<String>, _>("reason")?.filter(|_| has_failed(&status));
    Ok(Some(RemoteJob {
        id,
        status,
        model: row.try_get("model")?,
        repository: row.try_get("repository")?,
        git_ref: row.try_get("git_ref")?,
        pr_link: row.try_get("pr_link")?,
        pr_link_is_earlier: row.try_get::<i64, _>("pr_is_earlier")? == 1,
        created_at: optional_instant(row, "remote_created_at")?,
        archived_at: optional_instant(row, "remote_archived_at")?,
        error,
    }))
}

/// The stored outcome of an archived job. In other states, the state says it.
pub(crate) fn earlier_outcome(state: JobState, outcome: Option<JobState>) -> Option<JobState> {
    outcome.filter(|_| state == JobState::Archived)
}

/// Whether the upstream's status means that the job failed. Only then its reason comes from the upstream.
pub(crate) fn has_failed(status: &str) -> bool {
    JobState::of(DeliveryState::Accepted, Some(status)) == JobState::Failed
}

/// Whether a row with the column `next_poll_at` belongs to a tracked job.
pub(crate) fn is_tracked(row: &AnyRow) -> Result<bool, StoreError> {
    Ok(row.try_get::<Option<i64>, _>("next_poll_at")?.is_some())
}
