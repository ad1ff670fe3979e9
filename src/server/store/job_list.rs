//! Many jobs at once: the list with its filters, pages and counts, and the badges.

use std::collections::BTreeMap;

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::job_filter::{after, in_state, order, select, up_to};
use super::select::{ScanBy, Statement, sql_placeholders};
use super::{Store, StoreError, jobs, word};
use crate::model::id::{JobId, ProjectId};
use crate::model::job::{EXCERPT_CHARS, Job, JobBadge, JobState, cut};

pub use super::job_filter::{Cursor, JobFilter, PageStart, Sort};

/// Jobs per page of the list.
pub const PAGE_JOBS: usize = 50;

/// A page with its cursors and the counts.
#[derive(Debug)]
pub struct Listed {
    pub jobs: Vec<Job>,
    pub next: Option<Cursor>,
    pub previous: Option<Cursor>,
    pub before: u64,
    /// Per state, ignoring the state filter.
    pub counts: BTreeMap<JobState, u64>,
    /// How many of those counted need attention.
    pub attention: u64,
}

/// A job's position in the list.
struct JobPosition {
    job: JobId,
    number: i64,
    changed_at: i64,
}

impl Store {
    /// A page of jobs with truncated prompts, and the counts, as of one moment.
    pub async fn jobs(&self, project: &ProjectId, filter: &JobFilter) -> Result<Listed, StoreError> {
        let mut tx = self.pool.begin().await?;
        let top = match filter.page_start {
            PageStart::At(cursor) => cursor.top,
            PageStart::Start(_) => top(&mut tx).await?,
        };
        let (counts, attention) = count(&mut tx, project, filter, top).await?;
        // Searching for jobs in a state without jobs would take as long as counting all others.
        let is_empty = filter.state.is_some_and(|state| !counts.contains_key(&state));
        let positions = if is_empty {
            Vec::new()
        } else {
            positions_in(&mut tx, project, filter, top, PAGE_JOBS + 1).await?
        };
        let mut listed = page(&mut tx, filter, top, positions).await?;
        (listed.counts, listed.attention) = (counts, attention);
        tx.commit().await?;
        self.attach(&mut listed.jobs).await?;
        Ok(listed)
    }

    /// For each filter its first jobs with truncated prompts, and how many jobs of the project are in each state and
    /// need attention, as of one moment.
    pub async fn sections(
        &self,
        project: &ProjectId,
        sections: [(&JobFilter, usize); 3],
    ) -> Result<([Vec<Job>; 3], BTreeMap<JobState, u64>, u64), StoreError> {
        let mut tx = self.pool.begin().await?;
        let top = top(&mut tx).await?;
        let everything = JobFilter { archived: Some(false), ..JobFilter::default() };
        let (counts, attention) = count(&mut tx, project, &everything, top).await?;
        let (mut positions, mut lengths) = (Vec::new(), [0; 3]);
        for (length, (filter, most)) in lengths.iter_mut().zip(sections) {
            let found = positions_in(&mut tx, project, filter, top, most).await?;
            *length = found.len();
            positions.extend(found);
        }
        let mut jobs = jobs_at(&mut tx, &positions).await?;
        tx.commit().await?;
        self.attach(&mut jobs).await?;
        // A job may be in two sections; it is fetched once.
        let mut places =
            positions.iter().map(|position| jobs.iter().find(|job| job.id == position.job).cloned());
        let sections = lengths.map(|length| places.by_ref().take(length).flatten().collect());
        Ok((sections, counts, attention))
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
                    followed: jobs::is_tracked(row)?,
                })
            })
            .collect()
    }

    /// Adds follow-ups, paths and tags to jobs, and truncates all prompts.
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
        for (select, field) in LABELS {
            let ids = page.iter().map(|job| &job.id);
            for row in &self.rows_of(select, ids, ") ORDER BY label").await? {
                let label = row.try_get("label")?;
                if let Some(job) = owner(page, row)? {
                    field(job).push(label);
                }
            }
        }
        page.iter_mut().for_each(|job| cut(&mut job.prompt));
        Ok(())
    }

    /// Runs a statement with `ids` between `before` and `after`.
    pub(super) async fn rows_of<'a>(
        &self,
        before: &str,
        ids: impl ExactSizeIterator<Item = &'a JobId>,
        after: &str,
    ) -> Result<Vec<AnyRow>, StoreError> {
        if ids.len() == 0 {
            return Ok(Vec::new());
        }
        let mut query =
            sqlx::query(AssertSqlSafe(format!("{before}{}{after}", sql_placeholders(1, ids.len()))));
        for id in ids {
            query = query.bind(id.as_str());
        }
        Ok(query.fetch_all(&self.pool).await?)
    }
}

/// The statement for a list of texts per job, and the field it fills.
type Labels = (&'static str, fn(&mut Job) -> &mut Vec<String>);

const LABELS: [Labels; 2] = [
    ("SELECT job_id, path AS label FROM job_paths WHERE job_id IN (", |job| &mut job.paths),
    ("SELECT job_id, tag AS label FROM job_tags WHERE job_id IN (", |job| &mut job.tags),
];

/// The number of the newest job of all projects.
async fn top(tx: &mut Transaction<'static, Any>) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar("SELECT COALESCE(MAX(number), 0) FROM listed_jobs").fetch_one(&mut **tx).await?)
}

/// The first `most` positions of the filter from its start. A page asks for one more, to know whether there is another
/// page.
pub(super) fn positions(project: &ProjectId, filter: &JobFilter, top: i64, most: usize) -> Statement {
    // A set is in the order of the numbers; for the last changed, the scan of the index ends with the page.
    let scan_by = if filter.sort == Sort::Changed { ScanBy::Index } else { ScanBy::Set };
    let mut select = select(project, filter, scan_by);
    up_to(&mut select, top);
    if let Some(state) = filter.state {
        in_state(&mut select, state);
    }
    let (offset, backward) = match filter.page_start {
        PageStart::Start(before) => (before, false),
        PageStart::At(cursor) => {
            after(&mut select, filter.sort, cursor);
            (0, cursor.backward)
        }
    };
    let order = order(&select, filter.sort, backward);
    let columns = format!("{} AS number, l.job_id, l.changed_at", select.number());
    select.statement(&columns, &format!("ORDER BY {order} LIMIT {most} OFFSET {offset}"))
}

/// Counts the jobs in each of `states`, ignoring the state filter, and then those that need attention. Grouping by
/// state would sort everything a search finds.
pub(super) fn counts(project: &ProjectId, filter: &JobFilter, top: i64, states: &[JobState]) -> Statement {
    let mut select = select(project, filter, ScanBy::Set);
    up_to(&mut select, top);
    let conditions = states.iter().map(|state| format!("l.state = '{}'", state.as_str()));
    let columns: Vec<_> = conditions
        .chain(["l.attention = 1".to_owned()])
        .map(|condition| format!("COUNT(*) FILTER (WHERE {condition})"))
        .collect();
    select.statement(&columns.join(", "), "")
}

async fn positions_in(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    filter: &JobFilter,
    top: i64,
    most: usize,
) -> Result<Vec<JobPosition>, StoreError> {
    positions(project, filter, top, most).query().fetch_all(&mut **tx).await?.iter().map(position).collect()
}

/// The page that starts with `positions`, without counts.
async fn page(
    tx: &mut Transaction<'static, Any>,
    filter: &JobFilter,
    top: i64,
    mut positions: Vec<JobPosition>,
) -> Result<Listed, StoreError> {
    let backward = matches!(filter.page_start, PageStart::At(cursor) if cursor.backward);
    let has_more = positions.len() > PAGE_JOBS;
    positions.truncate(PAGE_JOBS);
    if backward {
        positions.reverse();
    }
    let before = match filter.page_start {
        PageStart::Start(before) => before,
        PageStart::At(cursor) if !cursor.backward => cursor.before,
        PageStart::At(cursor) if has_more => cursor.before.saturating_sub(PAGE_JOBS as u64),
        PageStart::At(_) => 0,
    };
    let beside = |position: Option<&JobPosition>, backward: bool| {
        let before = if backward { before } else { before + positions.len() as u64 };
        position.map(|position| Cursor {
            backward,
            top,
            changed_at: position.changed_at,
            number: position.number,
            before,
        })
    };
    let (has_next, has_previous) = if backward { (true, has_more) } else { (has_more, before > 0) };
    Ok(Listed {
        next: beside(positions.last(), false).filter(|_| has_next),
        previous: beside(positions.first(), true).filter(|_| has_previous),
        before,
        counts: BTreeMap::new(),
        attention: 0,
        jobs: jobs_at(tx, &positions).await?,
    })
}

/// Counts the jobs of the filter by state, ignoring the state filter, up to `top`; and how many of them need attention.
async fn count(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    filter: &JobFilter,
    top: i64,
) -> Result<(BTreeMap<JobState, u64>, u64), StoreError> {
    let states = states(tx, project).await?;
    let row = counts(project, filter, top, &states).query().fetch_one(&mut **tx).await?;
    let count = |column: usize| Ok::<_, StoreError>(row.try_get::<i64, _>(column)?.unsigned_abs());
    let mut by_state = BTreeMap::new();
    for (column, state) in states.iter().enumerate() {
        by_state.insert(*state, count(column)?);
    }
    by_state.retain(|_, jobs| *jobs > 0);
    Ok((by_state, count(states.len())?))
}

/// The states that any job of the project is in.
async fn states(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
) -> Result<Vec<JobState>, StoreError> {
    let all = JobState::ALL.map(|state| format!("('{}')", state.as_str())).join(", ");
    // Archived or not: so that the index of states is searched instead of scanned.
    let sql = format!(
        "SELECT s.column1 AS state FROM (VALUES {all}) s WHERE EXISTS (
            SELECT 1 FROM listed_jobs WHERE project = $1 AND archived IN (0, 1) AND state = s.column1)"
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(project.as_str()).fetch_all(&mut **tx).await?;
    rows.iter().map(|row| word(row, "state")).collect()
}

/// The jobs in the order of their positions.
async fn jobs_at(
    tx: &mut Transaction<'static, Any>,
    positions: &[JobPosition],
) -> Result<Vec<Job>, StoreError> {
    // One character more than is shown, so that truncation is detected.
    let excerpt = format!("SUBSTR(m.prompt, 1, {}) AS prompt", EXCERPT_CHARS + 1);
    let select = jobs::SELECT_JOB.replacen("m.prompt", &excerpt, 1);
    let sql = format!("{select} WHERE j.id IN ({})", sql_placeholders(1, positions.len()));
    let mut query = sqlx::query(AssertSqlSafe(sql));
    for position in positions {
        query = query.bind(position.job.as_str());
    }
    let rows = query.fetch_all(&mut **tx).await?;
    let mut jobs = rows.iter().map(jobs::job).collect::<Result<Vec<Job>, _>>()?;
    jobs.sort_by_key(|job| positions.iter().position(|position| position.job == job.id));
    Ok(jobs)
}

fn position(row: &AnyRow) -> Result<JobPosition, StoreError> {
    Ok(JobPosition {
        job: word(row, "job_id")?,
        number: row.try_get("number")?,
        changed_at: row.try_get("changed_at")?,
    })
}

/// The job on the page that a row with a `job_id` belongs to.
fn owner<'a>(page: &'a mut [Job], row: &AnyRow) -> Result<Option<&'a mut Job>, StoreError> {
    let id: JobId = word(row, "job_id")?;
    Ok(page.iter_mut().find(|job| job.id == id))
}
