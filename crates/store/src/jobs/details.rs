//! A job with all that its page shows: its follow-ups, timeline, pull request, retries and typical duration.

use std::collections::BTreeMap;

use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::job::{badge, follow_up, job, select_job, stored_code};
use super::run_times::{began_and_ended, medians};
use crate::dialect::{Dialect, parsed_json};
use crate::platform::direct_projects::is_direct;
use crate::pull_requests::{self, StoredPullRequest};
use crate::{Store, StoreError, instant, optional_word, word};
use base::boxed::Boxed;
use model::id::{JobId, MessageId, ProjectId, TemplateId};
use model::job::{
    DeliveryState, EXCERPT_CHARS, FOLLOW_UPS_SHOWN, FollowUp, Job, LinkedJob, ReasonCode, ShownFollowUps,
    TimelineEntry, TimelineState, pull_requests_of,
};
use model::pull_request::PullRequest;
use model::saved_template::UsedTemplate;
use model::title::title;

/// The typical duration of a job is the median of at most this many jobs.
const USUAL_OF: u32 = 100;

/// The most follow-ups that are loaded at once.
const FOLLOW_UPS_MAX: u32 = 50;

/// The newest entries of a timeline that are loaded.
const TIMELINE_MAX: u32 = 1_000;

/// The maximum number of retries that a job shows.
const RETRIES_MAX: u32 = 5;

/// A follow-up that was sent, without its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentFollowUp {
    pub id: MessageId,
    pub state: DeliveryState,
    pub reason_code: Option<ReasonCode>,
}

impl Store {
    /// A job with its last follow-ups and its timeline, as they were at one moment.
    pub async fn job(&self, project: &ProjectId, id: &JobId) -> Result<Option<Job>, StoreError> {
        self.job_with(project, id, None).await
    }

    /// As [`Store::job`], for its page: the texts of follow-ups that are not shown are empty.
    pub async fn shown_job(
        &self,
        project: &ProjectId,
        id: &JobId,
        shown: ShownFollowUps,
    ) -> Result<Option<Job>, StoreError> {
        self.job_with(project, id, Some(shown)).await
    }

    /// `shown`: the follow-ups whose texts are loaded, of all; `None` for the last follow-ups.
    async fn job_with(
        &self,
        project: &ProjectId,
        id: &JobId,
        shown: Option<ShownFollowUps>,
    ) -> Result<Option<Job>, StoreError> {
        let mut tx = self.begin_to_read().await?;
        let Some((mut found, origin)) = found(&mut tx, project, id).await? else { return Ok(None) };
        (found.follow_ups, found.earlier_follow_ups) = match shown {
            Some(shown) => (shown_follow_ups(&mut tx, id, shown).await?, 0),
            None => follow_ups(&mut tx, id, u32::MAX, FOLLOW_UPS_MAX).await?,
        };
        complete(&mut tx, self.dialect, &mut found, origin.as_ref()).await?;
        Ok(Some(found))
    }

    /// The last follow-ups of a job before number `before`, at most `most`, and how many are before them.
    pub async fn follow_ups_before(
        &self,
        job: &JobId,
        before: u32,
        most: u32,
    ) -> Result<(Vec<FollowUp>, u32), StoreError> {
        follow_ups(&mut *self.pool.acquire().await?, job, before, most.min(FOLLOW_UPS_MAX)).await
    }

    /// The id, the state and its cause of a follow-up.
    pub async fn sent_follow_up(&self, message_id: &str) -> Result<Option<SentFollowUp>, StoreError> {
        let row = sqlx::query("SELECT id, state, reason, reason_code FROM messages WHERE id = $1")
            .bind(message_id)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| {
            let (id, state) = (word(&row, "id")?, word(&row, "state")?);
            Ok(SentFollowUp { id, state, reason_code: stored_code(&row)? })
        })
        .transpose()
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

/// As [`Store::job`], within a transaction that changes the job, which must exist.
pub(crate) async fn job_in(
    connection: &mut AnyConnection,
    dialect: Dialect,
    project: &ProjectId,
    id: &JobId,
) -> Result<Job, StoreError> {
    let found = found(connection, project, id).await?;
    let (mut found, origin) =
        found.ok_or_else(|| StoreError::Corrupt(format!("the job {id}, which is not in its project")))?;
    (found.follow_ups, found.earlier_follow_ups) =
        follow_ups(connection, id, u32::MAX, FOLLOW_UPS_MAX).await?;
    complete(connection, dialect, &mut found, origin.as_ref()).await?;
    Ok(found)
}

/// The row of a job, and the job that it retries.
async fn found(
    connection: &mut AnyConnection,
    project: &ProjectId,
    id: &JobId,
) -> Result<Option<(Job, Option<JobId>)>, StoreError> {
    let row = sqlx::query(AssertSqlSafe(format!("{} WHERE j.id = $1 AND j.project = $2", select_job())))
        .bind(id.as_str())
        .bind(project.as_str())
        .fetch_optional(connection)
        .await?;
    row.map(|row| Ok((job(&row)?, optional_word(&row, "retry_of")?))).transpose()
}

/// Adds what is not in the row of the job nor in its follow-ups.
fn complete<'a>(
    connection: &'a mut AnyConnection,
    dialect: Dialect,
    job: &'a mut Job,
    origin: Option<&'a JobId>,
) -> Boxed<'a, (), StoreError> {
    Box::pin(async move {
        let (project, id) = (job.project.clone(), job.id.clone());
        job.pull_request = pull_request(connection, dialect, &id).await?;
        job.paths = paths(connection, &id).await?;
        job.template = template(connection, &id).await?;
        job.tags = tags(connection, &id).await?;
        job.history = timeline(connection, &id).await?;
        (job.retry_of, job.retries) = retries(connection, &project, &id, origin).await?;
        job.retries_total = retries_total(connection, &id).await?;
        let template = job.template.as_ref().and_then(|template| template.id.as_ref());
        job.usual_millis = usual_millis(connection, &project, template).await?;
        if job.has_unknown_outcome() {
            let link = last_pull_request(connection, &project).await?;
            job.pull_requests_url = link.as_deref().and_then(pull_requests_of);
        }
        Ok(())
    })
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

/// All follow-ups, oldest first. The texts of those that are not shown are empty.
async fn shown_follow_ups(
    connection: &mut AnyConnection,
    id: &JobId,
    shown: ShownFollowUps,
) -> Result<Vec<FollowUp>, StoreError> {
    let query = format!(
        "SELECT m.id, CASE WHEN m.position = $3 OR m.position IN (SELECT s.position FROM messages s
             WHERE s.job_id = $1 AND s.position > 0 AND s.position < $2
             ORDER BY s.position DESC LIMIT {FOLLOW_UPS_SHOWN}) THEN m.prompt ELSE '' END AS prompt,
             u.name AS author, m.state, m.reason, m.reason_code, m.created_at, m.attempt FROM messages m
         JOIN users u ON u.id = m.author_id WHERE m.job_id = $1 AND m.position > 0 ORDER BY m.position"
    );
    let rows = sqlx::query(AssertSqlSafe(query))
        .bind(id.as_str())
        .bind(shown.before().map_or(i64::MAX, i64::from))
        .bind(shown.again.map_or(0, i64::from))
        .fetch_all(connection)
        .await?;
    rows.iter().map(follow_up).collect()
}

/// The last follow-ups before number `before`, at most `most`, oldest first, and how many are before them.
async fn follow_ups(
    connection: &mut AnyConnection,
    id: &JobId,
    before: u32,
    most: u32,
) -> Result<(Vec<FollowUp>, u32), StoreError> {
    let rows = sqlx::query(
        "SELECT m.id, m.position, m.prompt, u.name AS author, m.state, m.reason, m.reason_code, m.created_at, m.attempt FROM messages m
         JOIN users u ON u.id = m.author_id WHERE m.job_id = $1 AND m.position > 0 AND m.position < $2
         ORDER BY m.position DESC LIMIT $3",
    )
    .bind(id.as_str())
    .bind(i64::from(before))
    .bind(i64::from(most))
    .fetch_all(connection)
    .await?;
    let first = rows.last().map(|row| row.try_get::<i64, _>("position")).transpose()?;
    let earlier = first.and_then(|first| u32::try_from(first - 1).ok()).unwrap_or_default();
    Ok((rows.iter().rev().map(follow_up).collect::<Result<_, _>>()?, earlier))
}

async fn pull_request(
    connection: &mut AnyConnection,
    dialect: Dialect,
    id: &JobId,
) -> Result<Option<PullRequest>, StoreError> {
    let column = dialect.json_column(&pull_requests::pull_request_of(dialect, "$1"));
    let row = sqlx::query(AssertSqlSafe(format!("SELECT {column}")))
        .bind(id.as_str())
        .fetch_one(connection)
        .await?;
    let Some(json): Option<String> = row.try_get(0)? else { return Ok(None) };
    let stored: StoredPullRequest = parsed_json(&json)?;
    Ok(Some(stored.into()))
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
    let rows = sqlx::query(
        "SELECT at, position, state, detail FROM job_events WHERE job_id = $1 ORDER BY id DESC LIMIT $2",
    )
    .bind(id.as_str())
    .bind(i64::from(TIMELINE_MAX))
    .fetch_all(connection)
    .await?;
    rows.iter()
        .rev()
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
        "SELECT j.id, j.state, j.remote_status, j.pr_link, j.pr_is_earlier, {} AS pr_state, j.changed_at, j.next_poll_at, j.created_at,
             {} AS is_direct, SUBSTR(m.prompt, 1, {EXCERPT_CHARS}) AS prompt
         FROM jobs j JOIN messages m ON m.job_id = j.id AND m.position = 0
         WHERE j.project = $1 AND (j.id = $2
             OR j.id IN (SELECT r.id FROM jobs r WHERE r.retry_of = $3 ORDER BY r.id DESC LIMIT {RETRIES_MAX}))
         ORDER BY j.id DESC",
        pull_requests::state_of("j.id"),
        is_direct("j.project")
    )))
    .bind(project.as_str())
    .bind(origin.map_or("", JobId::as_str))
    .bind(id.as_str())
    .fetch_all(connection)
    .await?;
    let linked = rows.iter().map(|row| {
        let prompt: String = row.try_get("prompt")?;
        Ok(LinkedJob { status: badge(row)?, title: title(&prompt), created_at: instant(row, "created_at")? })
    });
    let linked = linked.collect::<Result<Vec<_>, StoreError>>()?;
    let (origins, retries): (Vec<_>, Vec<_>) =
        linked.into_iter().partition(|job| Some(&job.status.id) == origin);
    Ok((origins.into_iter().next(), retries))
}

/// How many jobs retry `id`.
async fn retries_total(connection: &mut AnyConnection, id: &JobId) -> Result<u32, StoreError> {
    let total: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM jobs WHERE retry_of = $1")
        .bind(id.as_str())
        .fetch_one(connection)
        .await?;
    Ok(u32::try_from(total).unwrap_or(u32::MAX))
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
    let (times, medians) = (began_and_ended(), medians("runs", "medians"));
    format!(
        "(WITH runs AS (
             SELECT 1 AS kind, {times} FROM {jobs} AND j.remote_id IS NOT NULL ORDER BY j.id DESC LIMIT {USUAL_OF}
         ), {medians} SELECT median FROM medians)"
    )
}
