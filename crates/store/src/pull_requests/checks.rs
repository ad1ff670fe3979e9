//! Which pull requests to check next, and the results of checks. A check is claimed by planning the next one, so that processes share the work.

use std::time::Duration;

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::hosts::PAUSE_MAX;
use crate::dialect::select::{bind_projects, sql_placeholders};
use crate::jobs::lifecycle;
use crate::{Store, StoreError, optional_instant, word};
use base::work::Work;
use model::id::{JobId, ProjectId};
use model::pull_request::{
    CheckFailure, Checks, PullRequestEvent, PullRequestState, Reported, Review, WaitingFor,
};
use model::time::Timestamp;
use model::user::Project;

/// A pull request that is due to be checked, as last reported.
#[derive(Debug, Clone)]
pub struct DueCheck {
    pub job: JobId,
    pub project: ProjectId,
    pub url: String,
    pub state: PullRequestState,
    pub checks: Checks,
    pub review: Review,
    pub failures: u32,
    /// Its plan before it was claimed.
    planned_at: Timestamp,
    /// The time of its plan while it is claimed.
    lease: Timestamp,
}

impl DueCheck {
    /// The plan if it was not fetched: as before, so that it does not lose its place behind others. A plan in the future is not later than `now`.
    pub fn plan_again(&self, now: Timestamp) -> Timestamp {
        self.planned_at.min(now)
    }
}

/// The result of one check.
pub enum CheckResult {
    Reported {
        due: DueCheck,
        reported: Box<Reported>,
        checks: Checks,
        review: Review,
        waiting_for: WaitingFor,
        /// `None`: no further check.
        next: Option<Timestamp>,
    },
    /// The last known state remains.
    Failed { due: DueCheck, failure: CheckFailure, next: Timestamp },
    /// It was not fetched, because the code host failed or its owner is paused. The pull request is due again at `next`.
    Skipped { due: DueCheck, next: Timestamp },
}

impl CheckResult {
    pub const fn due(&self) -> &DueCheck {
        match self {
            Self::Reported { due, .. } | Self::Failed { due, .. } | Self::Skipped { due, .. } => due,
        }
    }
}

/// Which plans are due.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub now: Timestamp,
    /// If one is due, others that are due until then are checked with it.
    pub ahead: Timestamp,
    /// A later plan was made before a clock rollback, and counts as due.
    pub latest: Timestamp,
    /// When a claimed one is due again if its result is not recorded.
    pub lease: Timestamp,
}

/// How recent a merge or a close must be to cause an event if the pull request was not known before, in seconds: an old one is no news.
const NEWS_SECONDS: i64 = 15 * 60;

const COLUMNS: &str = "job_id, project, url, state, checks, review, failures, host, next_check_at";

impl Store {
    /// Links whose code host is not determined yet, each with its job; at most `most`.
    pub async fn pull_requests_without_host(&self, most: usize) -> Result<Vec<(JobId, String)>, StoreError> {
        let sql = format!(
            "SELECT job_id, url FROM pull_requests WHERE host IS NULL AND next_check_at IS NOT NULL LIMIT {most}"
        );
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((word(row, "job_id")?, row.try_get("url")?))).collect()
    }

    /// Sets the code hosts of pull requests; `None` if Docket has no connection to it, so that it is not checked.
    pub async fn assign_code_hosts(
        &self,
        work: &Work,
        assigned: &[(&JobId, Option<&str>)],
    ) -> Result<(), StoreError> {
        if assigned.is_empty() {
            return Ok(());
        }
        let mut tx = self.write(work).begin().await?.tx;
        for (job, host) in assigned {
            sqlx::query(
                "UPDATE pull_requests SET host = $2, next_check_at = CASE WHEN $2 = '' THEN NULL ELSE next_check_at END
                 WHERE job_id = $1",
            )
            .bind(job.as_str())
            .bind(host.unwrap_or_default())
            .execute(&mut *tx)
            .await?;
        }
        Ok(tx.commit().await?)
    }

    /// Forgets that links to `host` had no connection. Its name may end in a dot.
    pub async fn reassign_code_host(&self, work: &Work, host: &str) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE pull_requests SET host = NULL, next_check_at = 0
             WHERE host = '' AND SUBSTR(REPLACE(LOWER(url), './', '/'), 1, LENGTH($1)) = $1",
        )
        .bind([host, "/"].concat().to_lowercase().replace("./", "/"))
        .execute(self.write(work).statement())
        .await?;
        Ok(())
    }

    /// Claims due pull requests of a host in `projects`, longest due first: none while the host is paused. Others that are due soon are claimed
    /// along, at most `most` in all.
    pub async fn claim_checks(
        &self,
        work: &Work,
        projects: &[Project],
        host: &str,
        window: &Window,
        most: usize,
    ) -> Result<Vec<DueCheck>, StoreError> {
        if !self.has_due_check(projects, host, window).await? {
            return Ok(Vec::new());
        }
        let mut tx = self.write(work).begin().await?.tx;
        let sql = format!(
            "SELECT {COLUMNS} FROM pull_requests WHERE host = $1 AND (next_check_at <= $2 OR next_check_at > $3)
                 AND (leased_until IS NULL OR leased_until <= $4 OR leased_until > $3)
                 AND project IN ({})
             ORDER BY next_check_at LIMIT {most}",
            sql_placeholders(5, projects.len())
        );
        let due = sqlx::query(AssertSqlSafe(sql))
            .bind(host)
            .bind(window.ahead.as_millis())
            .bind(window.latest.as_millis())
            .bind(window.now.as_millis());
        let rows = bind_projects(due, projects).fetch_all(&mut *tx).await?;
        let due: Vec<DueCheck> =
            rows.iter().map(|row| due_check(row, window.lease)).collect::<Result<_, _>>()?;
        claim(&mut tx, &due, window.lease).await?;
        tx.commit().await?;
        Ok(due)
    }

    /// Whether the host is not paused and one of its pull requests in `projects` is due.
    async fn has_due_check(
        &self,
        projects: &[Project],
        host: &str,
        window: &Window,
    ) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT COUNT(*) FROM (SELECT 1 AS one FROM pull_requests
                 WHERE host = $1 AND (next_check_at <= $2 OR next_check_at > $3) AND project IN ({}) LIMIT 1) due
             WHERE NOT EXISTS (SELECT 1 FROM code_hosts c WHERE c.host = $1 AND c.paused_until > $2 AND c.paused_until <= $4)",
            sql_placeholders(5, projects.len())
        );
        let due = sqlx::query(AssertSqlSafe(sql))
            .bind(host)
            .bind(window.now.as_millis())
            .bind(window.latest.as_millis())
            .bind(window.now.after(PAUSE_MAX).as_millis());
        let due: i64 = bind_projects(due, projects).fetch_one(&self.pool).await?.try_get(0)?;
        Ok(due > 0)
    }

    /// Claims the pull request of a job, with its host, if it was last reported before `fresh`. `None` also if it is being checked, its host is
    /// paused, its last check failed, or it is no longer checked.
    pub async fn claim_check_of(
        &self,
        work: &Work,
        job: &JobId,
        fresh: Timestamp,
        now: Timestamp,
        lease: Timestamp,
    ) -> Result<Option<(String, DueCheck)>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM pull_requests p WHERE job_id = $1 AND host <> '' AND next_check_at IS NOT NULL
                 AND (checked_at IS NULL OR checked_at < $2) AND failures = 0
                 AND (leased_until IS NULL OR leased_until <= $3)
                 AND NOT EXISTS (SELECT 1 FROM code_hosts c WHERE c.host = p.host AND c.paused_until > $3 AND c.paused_until <= $4)"
        );
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(job.as_str())
            .bind(fresh.as_millis())
            .bind(now.as_millis())
            .bind(now.after(PAUSE_MAX).as_millis())
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let claimed = sqlx::query(
            "UPDATE pull_requests SET next_check_at = $1, leased_until = $1 WHERE job_id = $2 AND next_check_at = $3",
        )
        .bind(lease.as_millis())
        .bind(job.as_str())
        .bind(row.try_get::<i64, _>("next_check_at")?)
        .execute(self.write(work).statement())
        .await?;
        // Another process claimed it meanwhile.
        if claimed.rows_affected() != 1 {
            return Ok(None);
        }
        Ok(Some((row.try_get("host")?, due_check(&row, lease)?)))
    }

    /// Records the results of claimed checks, with their events. A pull request that was replaced or claimed again meanwhile is unchanged.
    pub async fn record_checks(
        &self,
        work: &Work,
        results: &[CheckResult],
        stale_after: Duration,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        for result in results {
            match result {
                CheckResult::Reported { due, reported, checks, review, waiting_for, next } => {
                    let change = Change {
                        due,
                        reported,
                        checks: *checks,
                        review: *review,
                        waiting_for: *waiting_for,
                        next: *next,
                    };
                    change.record(&mut tx, stale_after, now).await?;
                }
                CheckResult::Failed { due, failure, next } => {
                    failed(&mut tx, due, *failure, *next).await?;
                }
                CheckResult::Skipped { due, next } => plan(&mut tx, due, *next).await?,
            }
        }
        Ok(tx.commit().await?)
    }
}

/// A reported pull request.
struct Change<'a> {
    due: &'a DueCheck,
    reported: &'a Reported,
    checks: Checks,
    review: Review,
    waiting_for: WaitingFor,
    next: Option<Timestamp>,
}

/// What is stored about a claimed pull request when its result is recorded.
struct Before {
    state: PullRequestState,
    waiting_for: WaitingFor,
    waiting_since: Option<Timestamp>,
    /// Whether it was ever reported.
    is_known: bool,
}

impl Before {
    /// `None` if the claim is not the last one: its result may be older than what is stored.
    async fn of(tx: &mut Transaction<'static, Any>, due: &DueCheck) -> Result<Option<Self>, StoreError> {
        let row = sqlx::query(
            "SELECT state, waiting_for, waiting_since, checked_at FROM pull_requests
             WHERE job_id = $1 AND url = $2 AND next_check_at = $3",
        )
        .bind(due.job.as_str())
        .bind(&due.url)
        .bind(due.lease.as_millis())
        .fetch_optional(&mut **tx)
        .await?;
        let before = |row: &AnyRow| {
            Ok(Self {
                state: word(row, "state")?,
                waiting_for: word(row, "waiting_for")?,
                waiting_since: optional_instant(row, "waiting_since")?,
                is_known: row.try_get::<Option<i64>, _>("checked_at")?.is_some(),
            })
        };
        row.as_ref().map(before).transpose()
    }
}

impl Change<'_> {
    async fn record(
        &self,
        tx: &mut Transaction<'static, Any>,
        stale_after: Duration,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Self { due, reported, .. } = *self;
        let Some(before) = Before::of(tx, due).await? else { return Ok(()) };
        let waiting_since = self.waiting_since(&before, now);
        // One that is old when Docket first sees it is no news.
        let was_stale =
            !before.is_known && waiting_since.is_some_and(|since| since.after(stale_after) <= now);
        let json = |texts: &[String]| serde_json::to_string(texts).unwrap_or_default();
        sqlx::query(
            "UPDATE pull_requests SET state = $3, checks = $4, review = $5, waiting_for = $6, waiting_since = $7, conflict = $8,
                 reviewers = $9, files = COALESCE($10, files), files_total = $11, opened_at = $12, merged_at = $13, closed_at = $14, checked_at = $15,
                 next_check_at = $16, leased_until = NULL, failure = NULL, failures = 0,
                 stale = CASE WHEN $17 = 1 THEN 1 ELSE stale END
             WHERE job_id = $1 AND url = $2",
        )
        .bind(due.job.as_str())
        .bind(&due.url)
        .bind(reported.state.as_str())
        .bind(self.checks.as_str())
        .bind(self.review.as_str())
        .bind(self.waiting_for.as_str())
        .bind(waiting_since.map(Timestamp::as_millis))
        .bind(i64::from(reported.conflict))
        .bind(json(&reported.reviewers))
        .bind(reported.files.as_deref().map(json))
        .bind(i64::from(reported.files_total))
        .bind(reported.opened_at.map(Timestamp::as_millis))
        .bind(reported.merged_at.map(Timestamp::as_millis))
        .bind(reported.closed_at.map(Timestamp::as_millis))
        .bind(now.as_millis())
        .bind(self.next.map(Timestamp::as_millis))
        .bind(i64::from(was_stale))
        .execute(&mut **tx)
        .await?;
        if let Some(event) = self.event(&before, now) {
            lifecycle::pull_request_changed(tx, &due.job, event, now).await?;
        }
        Ok(())
    }

    /// Since when the same person has to act.
    fn waiting_since(&self, before: &Before, now: Timestamp) -> Option<Timestamp> {
        match self.waiting_for {
            WaitingFor::Nobody => None,
            waiting_for if before.is_known && waiting_for == before.waiting_for => {
                before.waiting_since.or(Some(now))
            }
            _ if before.is_known => Some(now),
            // It may have waited before Docket saw it.
            _ => Some(self.reported.opened_at.map_or(now, |opened_at| opened_at.min(now))),
        }
    }

    /// The event of this change, if it is news.
    fn event(&self, before: &Before, now: Timestamp) -> Option<PullRequestEvent> {
        let (event, at) = match self.reported.state {
            PullRequestState::Merged => (PullRequestEvent::Merged, self.reported.merged_at),
            PullRequestState::Closed => (PullRequestEvent::Closed, self.reported.closed_at),
            _ => return None,
        };
        let is_recent = || at.is_some_and(|at| now.seconds_since(at) <= NEWS_SECONDS);
        let is_new = if before.is_known { before.state != self.reported.state } else { is_recent() };
        is_new.then_some(event)
    }
}

async fn claim(
    tx: &mut Transaction<'static, Any>,
    due: &[DueCheck],
    lease: Timestamp,
) -> Result<(), StoreError> {
    let sql = format!(
        "UPDATE pull_requests SET next_check_at = $1, leased_until = $1 WHERE job_id IN ({})",
        sql_placeholders(2, due.len())
    );
    let mut query = sqlx::query(AssertSqlSafe(sql)).bind(lease.as_millis());
    for due in due {
        query = query.bind(due.job.as_str());
    }
    query.execute(&mut **tx).await?;
    Ok(())
}

async fn failed(
    tx: &mut Transaction<'static, Any>,
    due: &DueCheck,
    failure: CheckFailure,
    next: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE pull_requests SET failure = $3, failures = failures + 1
         WHERE job_id = $1 AND url = $2 AND next_check_at = $4",
    )
    .bind(due.job.as_str())
    .bind(&due.url)
    .bind(failure.as_str())
    .bind(due.lease.as_millis())
    .execute(&mut **tx)
    .await?;
    plan(tx, due, next).await
}

/// Plans the next check, unless the job changed since this one was claimed.
async fn plan(tx: &mut Transaction<'static, Any>, due: &DueCheck, next: Timestamp) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE pull_requests SET next_check_at = $3, leased_until = NULL
         WHERE job_id = $1 AND next_check_at = $2",
    )
    .bind(due.job.as_str())
    .bind(due.lease.as_millis())
    .bind(next.as_millis())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

fn due_check(row: &AnyRow, lease: Timestamp) -> Result<DueCheck, StoreError> {
    let failures: i64 = row.try_get("failures")?;
    let planned_at = Timestamp::from_millis(row.try_get("next_check_at")?);
    Ok(DueCheck {
        job: word(row, "job_id")?,
        project: word(row, "project")?,
        url: row.try_get("url")?,
        state: word(row, "state")?,
        checks: word(row, "checks")?,
        review: word(row, "review")?,
        failures: u32::try_from(failures).unwrap_or(u32::MAX - 1),
        planned_at,
        lease,
    })
}
