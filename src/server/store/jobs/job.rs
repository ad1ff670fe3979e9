//! One job: its row, its messages and its timeline.

use std::collections::BTreeMap;

use sqlx::any::AnyRow;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Row, Transaction};

use super::run_times::{MEDIANS, began_and_ended};
use crate::model::id::{JobId, ProjectId, TemplateId};
use crate::model::job::{
    DeliveryState, EXCERPT_CHARS, FollowUp, Job, JobBadge, JobState, LinkedJob, LocalArchive, NO_CHANGES,
    RemoteJob, TimelineEntry, TimelineState, pull_requests_of, title,
};
use crate::model::saved_template::UsedTemplate;
use crate::model::time::Timestamp;
use crate::server::store::{Store, StoreError, new_id, optional_word, word};

/// The typical duration of a job is the median of at most this many jobs.
const USUAL_OF: u32 = 100;

/// The maximum number of retries that a job shows.
const RETRIES_MAX: u32 = 5;

/// The columns of `jobs` (as `j`) with the first message (as `m`) and its author (as `u`). Also who archived the job (as `a`), who dismissed it (as
/// `d`), and whether it needs attention.
pub(crate) const SELECT_JOB: &str =
    "SELECT j.*, m.prompt, m.attempt, u.name AS author, a.name AS archiver, d.name AS dismisser,
         (SELECT l.attention FROM listed_jobs l WHERE l.job_id = j.id) AS attention FROM jobs j
     JOIN messages m ON m.job_id = j.id AND m.position = 0 JOIN users u ON u.id = m.author_id
     LEFT JOIN users a ON a.id = j.archived_by LEFT JOIN users d ON d.id = j.dismissed_by";

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

    /// A job with its follow-ups and timeline, as they were at one moment.
    pub async fn job(&self, project: &ProjectId, id: &JobId) -> Result<Option<Job>, StoreError> {
        let mut tx = self.begin_to_read().await?;
        let row =
            sqlx::query(sqlx::AssertSqlSafe(format!("{SELECT_JOB} WHERE j.id = $1 AND j.project = $2")))
                .bind(id.as_str())
                .bind(project.as_str())
                .fetch_optional(&mut *tx)
                .await?;
        let Some(row) = row else { return Ok(None) };
        let mut job = job(&row)?;
        job.follow_ups = follow_ups(&mut tx, id).await?;
        job.paths = paths(&mut tx, id).await?;
        job.template = template(&mut tx, id).await?;
        job.tags = tags(&mut tx, id).await?;
        job.history = timeline(&mut tx, id).await?;
        let origin: Option<JobId> = optional_word(&row, "retry_of")?;
        (job.retry_of, job.retries) = retries(&mut tx, project, id, origin.as_ref()).await?;
        let template = job.template.as_ref().and_then(|template| template.id.as_ref());
        job.usual_millis = usual_millis(&mut tx, project, template).await?;
        if job.has_unknown_outcome() {
            let link = last_pull_request(&mut tx, project).await?;
            job.pull_requests_url = link.as_deref().and_then(pull_requests_of);
        }
        Ok(Some(job))
    }

    /// The median duration of the last jobs of the same template, or else of the project.
    pub async fn usual_millis(
        &self,
        project: &ProjectId,
        template: Option<&TemplateId>,
    ) -> Result<Option<i64>, StoreError> {
        usual_millis(&mut *self.pool.acquire().await?, project, template).await
    }

    /// As [`Store::usual_millis`], for each of these jobs that has one.
    pub async fn usual_times(&self, jobs: &[JobId]) -> Result<BTreeMap<JobId, i64>, StoreError> {
        let sql = format!(
            "SELECT o.id, CASE WHEN t.template_id IS NULL THEN {} ELSE {} END AS usual FROM jobs o
             LEFT JOIN job_templates t ON t.job_id = o.id WHERE o.id IN (",
            median_time(&of_project("o.project")),
            median_time(&of_template("t.template_id")),
        );
        let mut times = BTreeMap::new();
        for row in self.rows_of(&sql, jobs.iter(), ")").await? {
            if let Some(usual) = row.try_get("usual")? {
                times.insert(word(&row, "id")?, usual);
            }
        }
        Ok(times)
    }
}

/// The link to the project's newest pull request.
async fn last_pull_request(
    connection: &mut AnyConnection,
    project: &ProjectId,
) -> Result<Option<String>, StoreError> {
    Ok(sqlx::query_scalar(
        "SELECT j.pr_link FROM listed_jobs l JOIN jobs j ON j.id = l.job_id
         WHERE l.project = $1 AND l.archived = 0 AND l.has_pr = 1 ORDER BY l.number DESC LIMIT 1",
    )
    .bind(project.as_str())
    .fetch_optional(connection)
    .await?)
}

async fn follow_ups(connection: &mut AnyConnection, id: &JobId) -> Result<Vec<FollowUp>, StoreError> {
    let rows = sqlx::query(
        "SELECT m.prompt, u.name AS author, m.state, m.reason, m.created_at, m.attempt FROM messages m
         JOIN users u ON u.id = m.author_id WHERE m.job_id = $1 AND m.position > 0 ORDER BY m.position",
    )
    .bind(id.as_str())
    .fetch_all(connection)
    .await?;
    rows.iter().map(follow_up).collect()
}

async fn paths(connection: &mut AnyConnection, id: &JobId) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar("SELECT path FROM job_paths WHERE job_id = $1 ORDER BY path")
        .bind(id.as_str())
        .fetch_all(connection)
        .await?)
}

async fn tags(connection: &mut AnyConnection, id: &JobId) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar("SELECT tag FROM job_tags WHERE job_id = $1 ORDER BY folded")
        .bind(id.as_str())
        .fetch_all(connection)
        .await?)
}

/// The template that a job was created from.
async fn template(connection: &mut AnyConnection, id: &JobId) -> Result<Option<UsedTemplate>, StoreError> {
    let row = sqlx::query("SELECT template_id, name FROM job_templates WHERE job_id = $1")
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(UsedTemplate { id: optional_word(&row, "template_id")?, name: row.try_get("name")? }))
}

async fn timeline(connection: &mut AnyConnection, id: &JobId) -> Result<Vec<TimelineEntry>, StoreError> {
    let rows =
        sqlx::query("SELECT at, position, state, detail FROM job_events WHERE job_id = $1 ORDER BY id")
            .bind(id.as_str())
            .fetch_all(connection)
            .await?;
    rows.iter()
        .map(|row| {
            Ok(TimelineEntry {
                at: instant(row, "at")?,
                message: u32::try_from(row.try_get::<i64, _>("position")?).unwrap_or(u32::MAX),
                state: TimelineState::from(row.try_get::<String, _>("state")?),
                detail: row.try_get("detail")?,
            })
        })
        .collect()
}

/// The job that `id` retries, and its own latest retries.
async fn retries(
    connection: &mut AnyConnection,
    project: &ProjectId,
    id: &JobId,
    origin: Option<&JobId>,
) -> Result<(Option<LinkedJob>, Vec<LinkedJob>), StoreError> {
    let rows = sqlx::query(sqlx::AssertSqlSafe(format!(
        "SELECT j.id, j.state, j.remote_status, j.pr_link, j.changed_at, j.next_poll_at, j.created_at,
             SUBSTR(m.prompt, 1, {EXCERPT_CHARS}) AS prompt
         FROM jobs j JOIN messages m ON m.job_id = j.id AND m.position = 0
         WHERE j.project = $1 AND (j.id = $2
             OR j.id IN (SELECT r.id FROM jobs r WHERE r.retry_of = $3 ORDER BY r.id DESC LIMIT {RETRIES_MAX}))
         ORDER BY j.id DESC"
    )))
    .bind(project.as_str())
    .bind(origin.map_or("", JobId::as_str))
    .bind(id.as_str())
    .fetch_all(connection)
    .await?;
    let linked = rows.iter().map(|row| {
        let prompt: String = row.try_get("prompt")?;
        Ok(LinkedJob {
            status: badge(row)?,
            title: title(&prompt).to_owned(),
            created_at: instant(row, "created_at")?,
        })
    });
    let linked = linked.collect::<Result<Vec<_>, StoreError>>()?;
    let (origins, retries): (Vec<_>, Vec<_>) =
        linked.into_iter().partition(|job| Some(&job.status.id) == origin);
    Ok((origins.into_iter().next(), retries))
}

/// The badge of a job from a row with its columns.
pub(crate) fn badge(row: &AnyRow) -> Result<JobBadge, StoreError> {
    Ok(JobBadge {
        id: word(row, "id")?,
        state: word(row, "state")?,
        status: row.try_get("remote_status")?,
        pr_link: row.try_get("pr_link")?,
        changed_at: instant(row, "changed_at")?,
        tracked: is_tracked(row)?,
    })
}

async fn usual_millis(
    connection: &mut AnyConnection,
    project: &ProjectId,
    template: Option<&TemplateId>,
) -> Result<Option<i64>, StoreError> {
    let (jobs, of) = match template {
        Some(template) => (of_template("$1"), template.as_str()),
        None => (of_project("$1"), project.as_str()),
    };
    let sql = format!("SELECT {}", median_time(&jobs));
    Ok(sqlx::query_scalar(AssertSqlSafe(sql)).bind(of).fetch_one(connection).await?)
}

/// The jobs `j` of a template, as a table and its condition.
fn of_template(template: &str) -> String {
    format!("job_templates u JOIN jobs j ON j.id = u.job_id WHERE u.template_id = {template}")
}

/// As [`of_template`], of a project.
fn of_project(project: &str) -> String {
    format!("jobs j WHERE j.project = {project}")
}

/// An expression for the median duration of the last of these jobs, in milliseconds; NULL if none has ended.
fn median_time(jobs: &str) -> String {
    let times = began_and_ended();
    format!(
        "(WITH runs AS (
             SELECT 1 AS kind, {times} FROM {jobs} AND j.remote_id IS NOT NULL ORDER BY j.id DESC LIMIT {USUAL_OF}
         ), {MEDIANS} SELECT median FROM medians)"
    )
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
    let state = TimelineState::from(remote.status.as_str());
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
        reason: row.try_get("reason")?,
        created_at: instant(row, "created_at")?,
        changed_at: instant(row, "changed_at")?,
        tracked: is_tracked(row)?,
        remote: remote(row)?,
        follow_ups: Vec::new(),
        paths: Vec::new(),
        attempt: attempt(row)?,
        batch: optional_word(row, "batch_id")?,
        template: None,
        tags: Vec::new(),
        archived_here: done_by(row, "archived_here_at", "archiver")?,
        dismissed: done_by(row, "dismissed_at", "dismisser")?,
        retry_of: None,
        retries: Vec::new(),
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

/// A row with the columns `prompt`, `author`, `state`, `reason`, `created_at` and `attempt`.
pub(crate) fn follow_up(row: &AnyRow) -> Result<FollowUp, StoreError> {
    Ok(FollowUp {
        prompt: row.try_get("prompt")?,
        author: row.try_get("author")?,
        state: word(row, "state")?,
        reason: row.try_get("reason")?,
        created_at: instant(row, "created_at")?,
        attempt: attempt(row)?,
    })
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
        created_at: optional_instant(row, "remote_created_at")?,
        archived_at: optional_instant(row, "remote_archived_at")?,
        error,
    }))
}

/// Whether the upstream's status means that the job failed. Only then its reason comes from the upstream.
pub(crate) fn has_failed(status: &str) -> bool {
    JobState::of(DeliveryState::Accepted, Some(status)) == JobState::Failed
}

/// Whether a row with the column `next_poll_at` belongs to a tracked job.
pub(crate) fn is_tracked(row: &AnyRow) -> Result<bool, StoreError> {
    Ok(row.try_get::<Option<i64>, _>("next_poll_at")?.is_some())
}

pub(crate) fn instant(row: &AnyRow, column: &str) -> Result<Timestamp, StoreError> {
    Ok(Timestamp::from_millis(row.try_get(column)?))
}

pub(crate) fn optional_instant(row: &AnyRow, column: &str) -> Result<Option<Timestamp>, StoreError> {
    Ok(row.try_get::<Option<i64>, _>(column)?.map(Timestamp::from_millis))
}
