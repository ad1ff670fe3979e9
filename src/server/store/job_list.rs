//! Many jobs at once: the list with its filters and counts, and the badges.

use std::collections::BTreeMap;

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe, Row};

use super::{Store, StoreError, jobs, word};
use crate::model::id::{JobId, ProjectId};
use crate::model::job::{Job, JobBadge, JobPage, JobState, cut};

/// Jobs on one page of the list.
const PAGE_JOBS: usize = 50;

/// Which jobs to list; what is left out does not filter.
#[derive(Debug, Default)]
pub struct JobFilter {
    pub state: Option<JobState>,
    /// Part of a prompt or follow-up, whatever the case of its ASCII letters.
    pub text: Option<String>,
    /// A person's name.
    pub author: Option<String>,
    /// Only jobs older than this one.
    pub before: Option<JobId>,
}

/// The conditions that the list and its counts share: $1 project, $2 author, $3 text as a LIKE pattern.
const CONDITIONS: &str = "WHERE j.project = $1 AND ($2 IS NULL OR u.name = $2)
     AND ($3 IS NULL OR EXISTS (
         SELECT 1 FROM messages t WHERE t.job_id = j.id AND LOWER(t.prompt) LIKE $3 ESCAPE '!'))";

impl Store {
    /// A page of jobs, newest first, with prompts cut to an excerpt.
    pub async fn jobs(&self, project: &ProjectId, filter: &JobFilter) -> Result<JobPage, StoreError> {
        let sql = format!(
            "{} {CONDITIONS} AND ($4 IS NULL OR j.state = $4) AND ($5 IS NULL OR j.id < $5) ORDER BY j.id DESC LIMIT $6",
            jobs::SELECT_JOB
        );
        let rows = bind_conditions(sqlx::query(AssertSqlSafe(sql)), project, filter)
            .bind(filter.state.map(JobState::as_str))
            .bind(filter.before.as_ref().map(JobId::to_string))
            .bind(PAGE_JOBS as i64 + 1)
            .fetch_all(&self.pool)
            .await?;
        let mut page = rows.iter().take(PAGE_JOBS).map(jobs::job).collect::<Result<Vec<Job>, _>>()?;
        self.attach(&mut page).await?;
        let next = (rows.len() > PAGE_JOBS).then(|| page.last().map(|job| job.id.to_string())).flatten();
        Ok(JobPage { jobs: page, next, counts: self.counts(project, filter).await? })
    }

    /// The badges of those jobs that exist in the project, in no particular order.
    pub async fn badges(&self, project: &ProjectId, ids: &[JobId]) -> Result<Vec<JobBadge>, StoreError> {
        let rows = self
            .rows_of(
                "SELECT id, state, remote_status, pr_link, changed_at, next_read_at, project FROM jobs WHERE id IN (",
                ids.iter(),
                ")",
            )
            .await?;
        rows.iter()
            .filter(|row| row.try_get::<String, _>("project").is_ok_and(|owner| owner == project.as_str()))
            .map(|row| {
                Ok(JobBadge {
                    id: word(row, "id")?,
                    state: word(row, "state")?,
                    status: row.try_get("remote_status")?,
                    pr_link: row.try_get("pr_link")?,
                    changed_at: jobs::instant(row, "changed_at")?,
                    followed: jobs::is_followed(row)?,
                })
            })
            .collect()
    }

    async fn counts(
        &self,
        project: &ProjectId,
        filter: &JobFilter,
    ) -> Result<BTreeMap<JobState, u64>, StoreError> {
        let sql = format!(
            "SELECT j.state, COUNT(*) AS jobs FROM jobs j
             JOIN messages m ON m.job_id = j.id AND m.position = 0 JOIN users u ON u.id = m.author_id
             {CONDITIONS} GROUP BY j.state"
        );
        let rows =
            bind_conditions(sqlx::query(AssertSqlSafe(sql)), project, filter).fetch_all(&self.pool).await?;
        rows.iter()
            .map(|row| Ok((word(row, "state")?, row.try_get::<i64, _>("jobs")?.unsigned_abs())))
            .collect()
    }

    /// Adds follow-ups and paths to jobs, and cuts all prompts to an excerpt.
    pub(super) async fn attach(&self, page: &mut [Job]) -> Result<(), StoreError> {
        let follow_ups = self
            .rows_of(
                "SELECT m.job_id, m.prompt, u.name AS author, m.state, m.reason, m.created_at, m.attempt FROM messages m
                 JOIN users u ON u.id = m.author_id WHERE m.position > 0 AND m.job_id IN (",
                page.iter().map(|job| &job.id),
                ") ORDER BY m.position",
            )
            .await?;
        for row in &follow_ups {
            let mut follow_up = jobs::follow_up(row)?;
            cut(&mut follow_up.prompt);
            if let Some(job) = owner(page, row)? {
                job.follow_ups.push(follow_up);
            }
        }
        let paths = self
            .rows_of(
                "SELECT job_id, path FROM job_paths WHERE job_id IN (",
                page.iter().map(|job| &job.id),
                ") ORDER BY path",
            )
            .await?;
        for row in &paths {
            let path = row.try_get("path")?;
            if let Some(job) = owner(page, row)? {
                job.paths.push(path);
            }
        }
        page.iter_mut().for_each(|job| cut(&mut job.prompt));
        Ok(())
    }

    /// Rows of a statement whose one list in parentheses holds `ids`.
    pub(super) async fn rows_of<'a>(
        &self,
        before: &str,
        ids: impl ExactSizeIterator<Item = &'a JobId>,
        after: &str,
    ) -> Result<Vec<AnyRow>, StoreError> {
        if ids.len() == 0 {
            return Ok(Vec::new());
        }
        let list = (1..=ids.len()).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ");
        let mut query = sqlx::query(AssertSqlSafe(format!("{before}{list}{after}")));
        for id in ids {
            query = query.bind(id.as_str());
        }
        Ok(query.fetch_all(&self.pool).await?)
    }
}

fn bind_conditions<'q>(
    query: Query<'q, Any, AnyArguments>,
    project: &ProjectId,
    filter: &JobFilter,
) -> Query<'q, Any, AnyArguments> {
    query
        .bind(project.to_string())
        .bind(filter.author.clone())
        .bind(filter.text.as_ref().map(|text| format!("%{}%", escape_like(&text.to_ascii_lowercase()))))
}

/// The job on the page that a row with a `job_id` belongs to.
fn owner<'a>(page: &'a mut [Job], row: &AnyRow) -> Result<Option<&'a mut Job>, StoreError> {
    let id: JobId = word(row, "job_id")?;
    Ok(page.iter_mut().find(|job| job.id == id))
}

fn escape_like(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}
