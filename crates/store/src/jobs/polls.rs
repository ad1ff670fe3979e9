//! Which jobs to poll next, and the results of polls.

use sqlx::any::AnyRow;
use sqlx::{Any, Row, Transaction};

use super::lifecycle::Polled;
use super::{job, lifecycle};
use crate::dialect::select::{bind_projects, sql_placeholders};
use crate::{Authority, Change, Store, StoreError, audit, instant, optional_instant, word};
use base::work::Work;
use model::audit::{Action, AuditEvent};
use model::id::{JobId, ProjectId};
use model::job::RemoteJob;
use model::time::Timestamp;
use model::user::Project;

/// A job that is due to be polled.
#[derive(Debug, Clone)]
pub struct DuePoll {
    pub job: JobId,
    pub project: ProjectId,
    pub remote_id: String,
    /// When the poll was planned.
    pub planned_at: Timestamp,
    pub tracked_since: Timestamp,
    /// When the upstream first reported the job as unknown, if it also did so the last time.
    pub missing_since: Option<Timestamp>,
    /// The displayed upstream status.
    pub status: Option<String>,
    /// Whether it is tracked because of a follow-up.
    pub after_follow_up: bool,
    revision: i64,
}

const SELECT_DUE: &str =
    "SELECT id, project, remote_id, tracked_since, next_poll_at, revision, missing_since, remote_status,
     (SELECT MAX(position) FROM messages WHERE job_id = jobs.id AND state IN ('accepted', 'unknown')) AS turn FROM jobs";

impl Store {
    /// Jobs of `projects` to poll by `now`, longest due first. A plan later than `latest` was made before a clock rollback, and counts as due.
    pub async fn due_polls(
        &self,
        projects: &[Project],
        now: Timestamp,
        latest: Timestamp,
    ) -> Result<Vec<DuePoll>, StoreError> {
        let due = sqlx::query(sqlx::AssertSqlSafe(format!(
            "{SELECT_DUE} WHERE (next_poll_at <= $1 OR next_poll_at > $2) AND remote_id IS NOT NULL
             AND project IN ({}) ORDER BY next_poll_at LIMIT 100",
            sql_placeholders(3, projects.len())
        )));
        let due = due.bind(now.as_millis()).bind(latest.as_millis());
        bind_projects(due, projects).fetch_all(&self.pool).await?.iter().map(due_poll).collect()
    }

    /// The upstream's id of one of the newest jobs of `project` that the upstream accepted, at random: one of them may be unreadable.
    pub async fn any_remote_job(&self, project: &ProjectId) -> Result<Option<String>, StoreError> {
        let id = sqlx::query_scalar(
            "SELECT remote_id FROM (SELECT remote_id FROM jobs WHERE project = $1 AND remote_id IS NOT NULL ORDER BY id DESC LIMIT 20) newest
             ORDER BY random() LIMIT 1",
        );
        Ok(id.bind(project.as_str()).fetch_optional(&self.pool).await?)
    }

    /// Claims a poll by planning the next one at `next`; `false` if another caller claimed it.
    pub async fn claim_poll(
        &self,
        work: &Work,
        due: &DuePoll,
        next: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let claimed = sqlx::query(
            "UPDATE jobs SET next_poll_at = $3, tracked_since = $4, missing_since = $5, polled_at = $6
             WHERE id = $1 AND next_poll_at = $2",
        )
        .bind(due.job.as_str())
        .bind(due.planned_at.as_millis())
        .bind(next.as_millis())
        .bind(due.tracked_since.as_millis())
        .bind(due.missing_since.map(Timestamp::as_millis))
        .bind(now.as_millis())
        .execute(self.write(work).statement())
        .await?;
        Ok(claimed.rows_affected() == 1)
    }

    /// Postpones the poll of a job until `next`, because it may not be polled earlier.
    pub async fn postpone_poll(&self, work: &Work, due: &DuePoll, next: Timestamp) -> Result<(), StoreError> {
        sqlx::query("UPDATE jobs SET next_poll_at = $3 WHERE id = $1 AND next_poll_at = $2")
            .bind(due.job.as_str())
            .bind(due.planned_at.as_millis())
            .bind(next.as_millis())
            .execute(self.write(work).statement())
            .await?;
        Ok(())
    }

    /// Claims one poll of a job that is no longer tracked, unless its last poll was after `not_since`. The next one would be at `next`.
    pub async fn claim_check(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        job: &JobId,
        not_since: Timestamp,
        next: Timestamp,
    ) -> Result<Option<DuePoll>, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let claimed = sqlx::query(
            "UPDATE jobs SET next_poll_at = $4, tracked_since = $5, polled_at = $5
             WHERE id = $1 AND project = $2 AND remote_id IS NOT NULL AND next_poll_at IS NULL
             AND (polled_at IS NULL OR polled_at <= $3 OR polled_at > $5)",
        )
        .bind(job.as_str())
        .bind(project.as_str())
        .bind(not_since.as_millis())
        .bind(next.as_millis())
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        if claimed.rows_affected() != 1 {
            return Ok(None);
        }
        let row = sqlx::query(sqlx::AssertSqlSafe(format!("{SELECT_DUE} WHERE id = $1")))
            .bind(job.as_str())
            .fetch_one(&mut *tx)
            .await?;
        let due = due_poll(&row)?;
        let event = AuditEvent::new(Action::JobCheck).in_project(project).on(job);
        audit::record_often(&mut tx, &by, &event, now).await?;
        tx.commit().await?;
        Ok(Some(due))
    }

    /// Stores the result of a poll if it differs, nothing was sent to the job meanwhile and no other poll has recorded its result since this one
    /// started. A `next_poll_at` of `None` stops tracking. Returns whether the job changed. The same poll may record another result afterwards.
    pub async fn record_poll(
        &self,
        work: &Work,
        due: &mut DuePoll,
        remote: &RemoteJob,
        next_poll_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        if !plan(&mut tx, due, next_poll_at, None).await? {
            return Ok(false);
        }
        let row = sqlx::query("SELECT * FROM jobs WHERE id = $1")
            .bind(due.job.as_str())
            .fetch_one(&mut *tx)
            .await?;
        let before = job::remote(&row)?;
        // A pull request stays: see `lifecycle::polled`.
        let link = remote.pr_link.as_ref().or(before.as_ref().and_then(|before| before.pr_link.as_ref()));
        let error = remote.error.clone().filter(|_| job::has_failed(&remote.status));
        let pr_link_is_earlier = remote.pr_link.is_none() && link.is_some();
        let known = RemoteJob { pr_link: link.cloned(), pr_link_is_earlier, error, ..remote.clone() };
        let position = last_position(&mut tx, &due.job).await?;
        // A follow-up may be finished before any poll saw the agent work on it.
        let is_over =
            next_poll_at.is_none() && position > 0 && !has_ended(&mut tx, &due.job, position).await?;
        let is_changed = before.as_ref() != Some(&known);
        let is_recorded = is_over || before.is_none_or(|before| before.status != remote.status);
        let polled = Polled { remote, position, is_changed, is_recorded, is_over };
        lifecycle::polled(&mut tx, &due.job, word(&row, "state")?, &polled, now).await?;
        tx.commit().await?;
        due.revision += 1;
        Ok(is_changed)
    }

    /// Records that the upstream reports the job as unknown; the poll at `next` decides whether it is lost.
    pub async fn record_missing(
        &self,
        work: &Work,
        due: &DuePoll,
        since: Timestamp,
        next: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        plan(&mut tx, due, Some(next), Some(since)).await?;
        Ok(tx.commit().await?)
    }

    /// Stops tracking a job whose outcome cannot be determined: shows `status` and the reason.
    pub async fn record_lost(
        &self,
        work: &Work,
        due: &DuePoll,
        status: &str,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        if plan(&mut tx, due, None, None).await? {
            let position = last_position(&mut tx, &due.job).await?;
            lifecycle::give_up(&mut tx, &due.job, position, status, reason, now).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Stops tracking a job without changing it.
    pub async fn stop_tracking(&self, work: &Work, due: &DuePoll) -> Result<(), StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        plan(&mut tx, due, None, None).await?;
        Ok(tx.commit().await?)
    }
}

/// Plans the next poll, unless something was sent to the job or another poll recorded its result since this one started. Of overlapping polls
/// only the first that responds counts: the revision is raised when a result is recorded. If it were raised when a poll starts, responses
/// slower than the interval would never count.
async fn plan(
    tx: &mut Transaction<'static, Any>,
    due: &DuePoll,
    next_poll_at: Option<Timestamp>,
    missing_since: Option<Timestamp>,
) -> Result<bool, StoreError> {
    let planned = sqlx::query(
        "UPDATE jobs SET next_poll_at = $3, missing_since = $4, revision = revision + 1,
             follow_up_unseen = CASE WHEN CAST($3 AS BIGINT) IS NULL THEN 0 ELSE follow_up_unseen END
         WHERE id = $1 AND revision = $2",
    )
    .bind(due.job.as_str())
    .bind(due.revision)
    .bind(next_poll_at.map(Timestamp::as_millis))
    .bind(missing_since.map(Timestamp::as_millis))
    .execute(&mut **tx)
    .await?;
    Ok(planned.rows_affected() == 1)
}

/// The position of the last accepted prompt.
async fn last_position(tx: &mut Transaction<'static, Any>, job: &JobId) -> Result<i64, StoreError> {
    let last: Option<i64> =
        sqlx::query_scalar("SELECT MAX(position) FROM messages WHERE job_id = $1 AND state = 'accepted'")
            .bind(job.as_str())
            .fetch_one(&mut **tx)
            .await?;
    Ok(last.unwrap_or_default())
}

/// Whether the timeline has an upstream status since the prompt at `position` was accepted.
async fn has_ended(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    position: i64,
) -> Result<bool, StoreError> {
    let statuses: i64 = sqlx::query_scalar(
        "SELECT COUNT(*) FROM job_events e WHERE e.job_id = $1 AND e.position = $2 AND e.id >
         (SELECT MAX(a.id) FROM job_events a WHERE a.job_id = $1 AND a.position = $2 AND a.state = 'accepted')",
    )
    .bind(job.as_str())
    .bind(position)
    .fetch_one(&mut **tx)
    .await?;
    Ok(statuses > 0)
}

fn due_poll(row: &AnyRow) -> Result<DuePoll, StoreError> {
    let planned_at = instant(row, "next_poll_at")?;
    Ok(DuePoll {
        job: word(row, "id")?,
        project: word(row, "project")?,
        remote_id: row.try_get("remote_id")?,
        planned_at,
        tracked_since: optional_instant(row, "tracked_since")?.unwrap_or(planned_at),
        missing_since: optional_instant(row, "missing_since")?,
        status: row.try_get("remote_status")?,
        after_follow_up: row.try_get::<Option<i64>, _>("turn")?.is_some_and(|position| position > 0),
        revision: row.try_get("revision")?,
    })
}
