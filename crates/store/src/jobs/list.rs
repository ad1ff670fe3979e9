//! Many jobs at once: the list with its filters, pages and counts, and the badges.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parking_lot::Mutex;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::filter::{after, order, select, up_to, with_status};
use super::job;
use super::listed_job::{ListedJob, columns};
use super::seen::{self, Reader, Unread};
use crate::dialect::select::{ScanBy, Statement, sql_placeholders};
use crate::dialect::{Dialect, read_json};
use crate::platform::direct_projects::is_direct;
use crate::platform::notices::unseen_notices;
use crate::{Store, StoreError, pull_requests, word};
use base::query_permits::QueryPermit;
use model::id::{JobId, ProjectId};
use model::job::{Job, JobBadge, JobState, has_ended};
use model::job_list::{FacetValues, Facets};
use model::time::Timestamp;

pub use super::filter::{Cursor, JobFilter, PageJobs, PageStart, Sort, Whose};

/// Jobs per page of the list.
pub const PAGE_JOBS: usize = 50;

/// If an index does not return jobs in order, this many jobs that a search finds are looked up before sorting.
const FEW: usize = 5_000;

/// The most values of each kind to filter by.
const FACETS_MAX: usize = 50;

/// A page with its cursors and the counts.
#[derive(Debug)]
pub struct Listed {
    pub jobs: Vec<Job>,
    pub next: Option<Cursor>,
    pub previous: Option<Cursor>,
    pub before: u64,
    /// Per state, ignoring the state filter.
    pub counts: BTreeMap<JobState, u64>,
    /// How many of the counted jobs need attention.
    pub attention: u64,
    /// How many of the counted jobs were completed without changes.
    pub no_changes: u64,
    /// The project's [`Store::revision`].
    pub revision: i64,
    /// For each job, its number and when it last changed.
    places: Vec<(i64, i64)>,
    top: i64,
    backward: bool,
}

/// The first jobs of several filters, as of one moment.
#[derive(Debug)]
pub struct Sections<const N: usize> {
    pub jobs: [Vec<Job>; N],
    /// Per state, of all jobs that are not archived in Docket.
    pub counts: BTreeMap<JobState, u64>,
    /// How many of the counted jobs need attention.
    pub attention: u64,
    /// How many of those were completed without changes.
    pub no_changes: u64,
    /// The project's [`Store::revision`].
    pub revision: i64,
}

/// The number of jobs that need attention because they changed nothing; the project is the first value of the statement.
const NO_CHANGES: &str = "(SELECT CAST(COALESCE(SUM(jobs), 0) AS BIGINT) FROM job_counts
    WHERE project = $1 AND archived = 0 AND state = 'completed' AND attention = 1 AND has_pr = 0
    AND NOT EXISTS (SELECT 1 FROM direct_projects d WHERE d.project = $1 AND d.is_direct = 1))";

/// The project's revision; the project is the first value of the statement.
const REVISION: &str = "(SELECT COALESCE(MAX(revision), 0) FROM project_changes WHERE project = $1)";

/// The states in which jobs of each project were seen. Counting by a state takes time, and few projects have jobs in all of them.
#[derive(Default)]
pub(crate) struct KnownStates(Mutex<HashMap<ProjectId, BTreeSet<JobState>>>);

/// A job with its position in the list: its number, and when it last changed.
type Placed<T> = (i64, i64, T);
type PlacedJob = Placed<ListedJob>;

/// The positions of a page of jobs, whose texts are loaded later.
pub struct JobPlaces {
    places: Vec<Placed<JobId>>,
    top: i64,
    before: u64,
    has_more: bool,
    total: u64,
}

/// The numbers of jobs of a filter.
struct Counts {
    by_state: BTreeMap<JobState, u64>,
    attention: u64,
    /// Completed without changes.
    no_changes: u64,
}

/// The number of counts in [`counts`] before those of the states: all jobs, jobs that need attention, and jobs without changes.
const SUMS: usize = 3;

impl Store {
    /// A page of jobs with truncated prompts, and the counts, as of one moment.
    pub async fn jobs(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        filter: &JobFilter,
    ) -> Result<Listed, StoreError> {
        let (row, counts) = self
            .counted(permit, project, filter, |states| page_statement(self.dialect, project, filter, states))
            .await?;
        let jobs = read_json(&row, 1)?;
        let top = match filter.page_start {
            PageStart::At(cursor) => cursor.top,
            PageStart::Start(_) => row.try_get(2)?,
        };
        Ok(page(filter, top, jobs, counts, row.try_get(3)?))
    }

    /// The positions of a page of jobs, in its order. Reads none of their texts.
    pub async fn job_places(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        filter: &JobFilter,
    ) -> Result<JobPlaces, StoreError> {
        let statement = |states: &[JobState]| statement_of(self.dialect, project, filter, states, places_at);
        let (row, counts) = self.counted(permit, project, filter, statement).await?;
        let total = filter.total(&counts.by_state, counts.no_changes);
        let mut places: Vec<Placed<JobId>> = read_json(&row, 1)?;
        sort(&mut places, filter);
        let has_more = places.len() > filter.page_jobs.get();
        places.truncate(filter.page_jobs.get());
        let (top, before) = match filter.page_start {
            PageStart::At(cursor) => (cursor.top, cursor.before),
            PageStart::Start(before) => (row.try_get(2)?, before),
        };
        Ok(JobPlaces { places, top, before, has_more, total })
    }

    /// Those of `jobs` that exist, as lists show them, in this order.
    pub async fn listed_jobs(&self, permit: &QueryPermit, jobs: &[JobId]) -> Result<Vec<Job>, StoreError> {
        let found = self.dialect.json_rows(
            &columns(self.dialect),
            &format!(
                "jobs j CROSS JOIN messages m WHERE j.id IN ({}) AND m.job_id = j.id AND m.position = 0",
                sql_placeholders(1, jobs.len())
            ),
        );
        let sql = format!("SELECT {}", self.dialect.json_column(&found));
        let ids = jobs.iter().map(|job| job.as_str().to_owned());
        let row = self.queries.fetch_one(permit, Statement::of(sql, ids)).await?;
        let found: Vec<ListedJob> = read_json(&row, 0)?;
        let mut found: Vec<Job> = found.into_iter().map(Job::from).collect();
        found.sort_by_cached_key(|job| jobs.iter().position(|id| *id == job.id));
        Ok(found)
    }

    /// The first jobs of each filter with truncated prompts. Also the number of the project's jobs by state and of those that need attention. All as
    /// of one moment.
    pub async fn sections<const N: usize>(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        sections: [(&JobFilter, usize); N],
    ) -> Result<Sections<N>, StoreError> {
        let row = self.queries.fetch_one(permit, sections_statement(self.dialect, project, sections)).await?;
        let counted: Vec<(JobState, u64, u64)> = read_json(&row, 0)?;
        let mut found = [const { Vec::new() }; N];
        for (column, (section, (filter, _))) in found.iter_mut().zip(sections).enumerate() {
            let mut jobs: Vec<PlacedJob> = read_json(&row, column + 1)?;
            sort(&mut jobs, filter);
            *section = jobs.into_iter().map(|(_, _, job)| Job::from(job)).collect();
        }
        let (mut counts, mut attention) = (BTreeMap::new(), 0);
        for (state, needing, jobs) in counted.into_iter().filter(|(_, _, jobs)| *jobs > 0) {
            *counts.entry(state).or_default() += jobs;
            attention += needing * jobs;
        }
        let no_changes = u64::try_from(row.try_get::<i64, _>(N + 1)?).unwrap_or_default();
        Ok(Sections { jobs: found, counts, attention, no_changes, revision: row.try_get(N + 2)? })
    }

    /// The ids of the first `most` jobs of the filter.
    pub async fn ids(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        filter: &JobFilter,
        most: usize,
    ) -> Result<Vec<JobId>, StoreError> {
        let positions = positions(self.dialect, project, filter, 0, most);
        let ids = self.dialect.json_values("p.job_id", &format!("({}) p", positions.sql()));
        let sql = format!("SELECT {}", self.dialect.json_column(&ids));
        let row = self.queries.fetch_one(permit, Statement::around(sql, [positions])).await?;
        read_json(&row, 0)
    }

    /// The available filter values of the list: at most [`FACETS_MAX`] of each kind.
    pub async fn facets(&self, permit: &QueryPermit, project: &ProjectId) -> Result<Facets, StoreError> {
        let counted = |shown: &str, value: &str, of: &str| {
            let tail = format!("GROUP BY {value} ORDER BY jobs DESC, value LIMIT {FACETS_MAX}");
            self.dialect.json_column(&self.dialect.json_rows(
                &format!("{shown}, f.jobs, f.total"),
                &format!(
                    "(SELECT {value} AS value, COUNT(*) AS jobs, MAX(l.number) AS newest, COUNT(*) OVER () AS total FROM {of} {tail}) f"
                ),
            ))
        };
        let labels = |shown: &str, what: &str| {
            counted(
                shown,
                "s.label",
                &format!(
                    "listed_labels s JOIN listed_jobs l ON l.number = s.number
                     WHERE s.project = $1 AND {what} AND l.archived = 0"
                ),
            )
        };
        // Labels are in lower case. The newest job has the tag as it was typed.
        let typed = "COALESCE((SELECT t.tag FROM job_tags t JOIN listed_jobs n ON n.job_id = t.job_id
             WHERE n.number = f.newest AND t.folded = f.value), f.value)";
        let people = counted(
            "f.value",
            "u.name",
            "listed_jobs l JOIN users u ON u.id = l.author_id WHERE l.project = $1 AND l.archived = 0",
        );
        let sql = format!(
            "SELECT {people}, {}, {}, (SELECT {} FROM listed_jobs l WHERE l.project = $1), {}",
            labels("f.value", "s.label LIKE '/%'"),
            labels(typed, "s.label NOT LIKE '/%'"),
            self.dialect.json_column(&self.dialect.json_list(
                "COUNT(*) FILTER (WHERE l.archived = 0 AND l.has_pr = 1), \
                 COUNT(*) FILTER (WHERE l.archived = 0 AND l.has_pr = 0), COUNT(*) FILTER (WHERE l.archived = 1)"
            )),
            pull_requests::counts(self.dialect),
        );
        let row = self.queries.fetch_one(permit, Statement::of(sql, [project.as_str().to_owned()])).await?;
        let sorted = |column| -> Result<FacetValues, StoreError> {
            let mut values: Vec<(String, u64, u64)> = read_json(&row, column)?;
            values.sort_by(|(a, more, _), (b, less, _)| less.cmp(more).then_with(|| a.cmp(b)));
            let total = values.first().map_or(0, |(.., total)| *total);
            Ok(FacetValues {
                first: values.into_iter().map(|(value, jobs, _)| (value, jobs)).collect(),
                total,
            })
        };
        let [with_pull_request, without_pull_request, archived] = read_json(&row, 3)?;
        Ok(Facets {
            people: sorted(0)?,
            pages: sorted(1)?,
            tags: sorted(2)?,
            with_pull_request,
            without_pull_request,
            pull_requests: pull_requests::by_filter(&read_json::<Vec<_>>(&row, 4)?),
            archived,
        })
    }

    /// A number that grows with every change of the project's list of jobs, and what `reader` has not seen.
    pub async fn revision(
        &self,
        project: &ProjectId,
        reader: &Reader,
        now: Timestamp,
    ) -> Result<(i64, Unread), StoreError> {
        let unread = [seen::unread("$2", "$1", "$3"), unseen_notices("$2", "$4")].join(", ");
        let sql = format!("SELECT {REVISION}, {unread}");
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(project.as_str())
            .bind(reader.user_id.as_str())
            .bind(i64::from(reader.everyone))
            .bind(now.as_millis())
            .fetch_one(&self.pool)
            .await?;
        let count = |column: usize| {
            Ok::<_, StoreError>(u32::try_from(row.try_get::<i64, _>(column)?).unwrap_or(u32::MAX))
        };
        Ok((row.try_get(0)?, Unread { jobs: count(1)?, notices: count(2)? }))
    }

    /// Runs a statement whose first column is [`counts`] of the given states. Returns its row and the counts.
    async fn counted(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        filter: &JobFilter,
        statement: impl Fn(&[JobState]) -> Statement,
    ) -> Result<(AnyRow, Counts), StoreError> {
        let mut states = self.states.of(project);
        states.extend(filter.state);
        loop {
            let requested: Vec<JobState> = states.iter().copied().collect();
            let row = self.queries.fetch_one(permit, statement(&requested)).await?;
            let counted: Vec<u64> = read_json(&row, 0)?;
            let [total, attention, no_changes, by_state @ ..] = &counted[..] else {
                return Err(StoreError::Corrupt("counts without a total".to_owned()));
            };
            if by_state.iter().sum::<u64>() == *total || states.len() == JobState::ALL.len() {
                let by_state = requested.into_iter().zip(by_state.iter().copied());
                let by_state: BTreeMap<_, _> = by_state.filter(|(_, jobs)| *jobs > 0).collect();
                self.states.add(project, by_state.keys().copied());
                return Ok((row, Counts { by_state, attention: *attention, no_changes: *no_changes }));
            }
            // A job is in a state that was not seen before.
            states = JobState::ALL.into();
        }
    }

    /// The badges of those jobs that exist in the project, in no particular order.
    pub async fn badges(&self, project: &ProjectId, ids: &[JobId]) -> Result<Vec<JobBadge>, StoreError> {
        let rows = self
            .rows_of(
                &format!(
                    "SELECT id, state, remote_status, pr_link, pr_is_earlier, {} AS pr_state, changed_at, next_poll_at, project, {} AS is_direct FROM jobs WHERE id IN (",
                    pull_requests::state_of("jobs.id"),
                    is_direct("jobs.project")
                ),
                ids.iter(),
                ")",
            )
            .await?;
        let mut badges = Vec::with_capacity(rows.len());
        for row in &rows {
            if row.try_get::<String, _>("project")? == project.as_str() {
                badges.push(job::badge(row)?);
            }
        }
        Ok(badges)
    }

    /// Those of `jobs` that have ended: see [`has_ended`].
    pub async fn ended_jobs(&self, jobs: &[JobId]) -> Result<Vec<JobId>, StoreError> {
        let awaits_follow_up = job::awaits_follow_up("j");
        let sql = format!(
            "SELECT j.id, j.state, j.next_poll_at, {awaits_follow_up} AS awaits_follow_up FROM jobs j WHERE j.id IN ("
        );
        let mut ended = Vec::new();
        for row in &self.rows_of(&sql, jobs.iter(), ")").await? {
            let awaits_follow_up = row.try_get::<i64, _>("awaits_follow_up")? == 1;
            if has_ended(word(row, "state")?, job::is_tracked(row)?, awaits_follow_up) {
                ended.push(word(row, "id")?);
            }
        }
        Ok(ended)
    }

    /// Rows of a statement with one list in parentheses, filled with `ids`.
    pub(crate) async fn rows_of<'a>(
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

impl Listed {
    /// Ends the page early, before the first job that does not fit: a page that goes back, after it. At least one job remains.
    pub fn keep(&mut self, mut fits: impl FnMut(&Job) -> bool) {
        let is_first = std::cell::Cell::new(true);
        let remains = |job: &&Job| fits(job) | is_first.replace(false);
        let all = self.jobs.len();
        if self.backward {
            let removed = all - self.jobs.iter().rev().take_while(remains).count();
            self.jobs.drain(..removed);
            self.places.drain(..removed);
            if let (1.., Some(place)) = (removed, self.places.first().copied()) {
                self.before += removed as u64;
                self.previous = Some(self.cursor(place, true, self.before));
            }
        } else {
            let kept = self.jobs.iter().take_while(remains).count();
            self.jobs.truncate(kept);
            self.places.truncate(kept);
            if let (true, Some(place)) = (kept < all, self.places.last().copied()) {
                self.next = Some(self.cursor(place, false, self.before + kept as u64));
            }
        }
    }

    fn cursor(&self, (number, changed_at): (i64, i64), backward: bool, before: u64) -> Cursor {
        Cursor { backward, top: self.top, changed_at, number, before }
    }
}

impl JobFilter {
    /// The number of its jobs: of `counts`, or of those without changes.
    pub fn total(&self, counts: &BTreeMap<JobState, u64>, no_changes: u64) -> u64 {
        match self.state {
            _ if self.no_changes => no_changes,
            Some(state) => counts.get(&state).copied().unwrap_or_default(),
            None => counts.values().sum(),
        }
    }
}

impl JobPlaces {
    /// The ids of the jobs, in the order of the page.
    pub fn jobs(&self) -> impl Iterator<Item = &JobId> {
        self.places.iter().map(|(_, _, job)| job)
    }

    /// The number of jobs on all pages.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The cursor after the first `count` of these jobs; `None` if no jobs follow them.
    pub fn cursor_after(&self, count: usize) -> Option<Cursor> {
        let is_end = count >= self.places.len() && !self.has_more;
        let (number, changed_at, _) = self.places.get(count.checked_sub(1)?).filter(|_| !is_end)?;
        Some(Cursor {
            backward: false,
            top: self.top,
            changed_at: *changed_at,
            number: *number,
            before: self.before + count as u64,
        })
    }
}

impl KnownStates {
    fn of(&self, project: &ProjectId) -> BTreeSet<JobState> {
        let known = self.0.lock();
        known.get(project).cloned().unwrap_or_default()
    }

    fn add(&self, project: &ProjectId, states: impl Iterator<Item = JobState>) {
        let mut known = self.0.lock();
        match known.get_mut(project) {
            Some(known) => known.extend(states),
            None => _ = known.insert(project.clone(), states.collect()),
        }
    }
}

/// The counts of a project, the first jobs of each section and the revision, in one row. A section without jobs is not queried.
pub(crate) fn sections_statement<const N: usize>(
    dialect: Dialect,
    project: &ProjectId,
    sections: [(&JobFilter, usize); N],
) -> Statement {
    let counts = dialect.json_column(&dialect.json_rows(
        "c.state, c.attention, c.jobs",
        "job_counts c WHERE c.project = $1 AND c.archived = 0 AND c.jobs > 0",
    ));
    let mut parts: Vec<Statement> = Vec::new();
    let mut lists = Vec::new();
    for (filter, most) in sections {
        let before = parts.iter().map(Statement::values).sum();
        let part = positions(dialect, project, filter, before, most);
        let state =
            filter.state.map(|state| format!("AND c.state = '{}'", state.as_str())).unwrap_or_default();
        let needing = if filter.needs_attention { "AND c.attention = 1" } else { "" };
        lists.push(dialect.json_column(&format!(
            "CASE WHEN EXISTS (SELECT 1 FROM job_counts c WHERE c.project = $1 AND c.jobs > 0 {state} {needing})
             THEN {} ELSE '[]' END",
            jobs_at(dialect, &part)
        )));
        parts.push(part);
    }
    Statement::around(format!("SELECT {counts}, {}, {NO_CHANGES}, {REVISION}", lists.join(", ")), parts)
}

/// Counts, a page, the newest job of all and the revision, in one row.
fn page_statement(
    dialect: Dialect,
    project: &ProjectId,
    filter: &JobFilter,
    states: &[JobState],
) -> Statement {
    statement_of(dialect, project, filter, states, jobs_at)
}

/// The same with what `content` reads at the positions of the page.
fn statement_of(
    dialect: Dialect,
    project: &ProjectId,
    filter: &JobFilter,
    states: &[JobState],
    content: impl Fn(Dialect, &Statement) -> String,
) -> Statement {
    let counts = counts(dialect, project, filter, 0, states);
    let positions = positions(dialect, project, filter, counts.values(), filter.page_jobs.get() + 1);
    let state = filter.state.and_then(|wanted| states.iter().position(|state| *state == wanted));
    let is_search = filter.text.is_some() && filter.label.is_none() && filter.sort != Sort::Changed;
    let positions = if is_search && !dialect.finds_in_order() {
        let before = counts.values() + positions.values();
        let few =
            positions_by(dialect, project, filter, ScanBy::WholeSet, before, filter.page_jobs.get() + 1);
        let total = dialect.json_number("c.counts", 0);
        let sql = format!(
            "SELECT * FROM ({}) few WHERE {total} <= {FEW} UNION ALL SELECT * FROM ({}) many WHERE {total} > {FEW}",
            few.sql(),
            positions.sql()
        );
        Statement::around(sql, [positions, few])
    } else {
        positions
    };
    let jobs = content(dialect, &positions);
    let jobs = match state {
        // Looking for jobs when there are none takes as long as counting all others.
        Some(at) => {
            let at = if filter.no_changes { SUMS - 1 } else { at + SUMS };
            format!("CASE WHEN {} > 0 THEN {jobs} ELSE '[]' END", dialect.json_number("c.counts", at))
        }
        None => jobs,
    };
    let sql = format!(
        "SELECT {}, {}, (SELECT COALESCE(MAX(number), 0) FROM listed_jobs), {REVISION} FROM ({}) c",
        dialect.json_column("c.counts"),
        dialect.json_column(&jobs),
        counts.sql()
    );
    Statement::around(sql, [counts, positions])
}

/// The first `most` positions of the filter, or those after its cursor. A page requests one more than it shows, to detect another page. `before` is
/// the number of values that precede these in the whole statement.
pub(crate) fn positions(
    dialect: Dialect,
    project: &ProjectId,
    filter: &JobFilter,
    before: usize,
    most: usize,
) -> Statement {
    // A set is ordered by number. The order by change has an index, whose scan stops at the end of the page.
    let scan_by = if filter.sort == Sort::Changed { ScanBy::Index } else { ScanBy::Set };
    positions_by(dialect, project, filter, scan_by, before, most)
}

fn positions_by(
    dialect: Dialect,
    project: &ProjectId,
    filter: &JobFilter,
    scan_by: ScanBy,
    before: usize,
    most: usize,
) -> Statement {
    let mut select = select(dialect, project, filter, scan_by, before);
    with_status(&mut select, filter);
    let offset = match filter.page_start {
        PageStart::Start(before) => before,
        PageStart::At(cursor) => {
            up_to(&mut select, cursor.top);
            after(&mut select, filter.sort, cursor);
            0
        }
    };
    let columns = format!("{} AS number, l.job_id, l.changed_at", select.number());
    let order = |number: &str| order(number, filter.sort, filter.page_start.is_backward());
    select.page(&columns, order, most, offset)
}

/// Counts all jobs whatever the status filter, up to the newest one of the first page; those that need attention; those completed without changes;
/// and those in each of `states`. Grouping by state would sort all matches of a search.
pub(crate) fn counts(
    dialect: Dialect,
    project: &ProjectId,
    filter: &JobFilter,
    before: usize,
    states: &[JobState],
) -> Statement {
    let mut select = select(dialect, project, filter, ScanBy::Set, before);
    if let PageStart::At(cursor) = filter.page_start {
        up_to(&mut select, cursor.top);
    }
    let conditions = states.iter().map(|state| format!("l.state = '{}'", state.as_str()));
    let sums = ["l.attention = 1".to_owned(), "l.state = 'completed' AND l.has_pr = 0".to_owned()];
    let columns = sums.into_iter().chain(conditions);
    let columns = columns.map(|condition| format!("COUNT(*) FILTER (WHERE {condition})"));
    let columns: Vec<_> = ["COUNT(*)".to_owned()].into_iter().chain(columns).collect();
    select.aggregate(
        &format!("{} AS counts", dialect.json_list(&columns.join(", "))),
        "l.state, l.attention, l.has_pr",
    )
}

/// An expression for the jobs at `positions`, each with its number and when it last changed.
fn jobs_at(dialect: Dialect, positions: &Statement) -> String {
    // The planner keeps the order of tables in a cross join.
    dialect.json_rows(
        &format!("p.number, p.changed_at, {}", dialect.json_list(&columns(dialect))),
        &format!(
            "({}) p CROSS JOIN jobs j CROSS JOIN messages m
             WHERE j.id = p.job_id AND m.job_id = j.id AND m.position = 0",
            positions.sql()
        ),
    )
}

/// An expression for the ids of the jobs at `positions`, as [`jobs_at`].
fn places_at(dialect: Dialect, positions: &Statement) -> String {
    dialect.json_rows("p.number, p.changed_at, p.job_id", &format!("({}) p", positions.sql()))
}

/// Sorts jobs in the order of the filter's page.
fn sort<T>(jobs: &mut [Placed<T>], filter: &JobFilter) {
    if filter.sort == Sort::Changed {
        jobs.sort_unstable_by_key(|(number, changed_at, _)| (*changed_at, *number));
    } else {
        jobs.sort_unstable_by_key(|(number, ..)| *number);
    }
    if filter.sort != Sort::Oldest {
        jobs.reverse();
    }
}

/// The page of these jobs. One more than a page means that there is another page.
fn page(filter: &JobFilter, top: i64, mut jobs: Vec<PlacedJob>, counts: Counts, revision: i64) -> Listed {
    let backward = filter.page_start.is_backward();
    let most = filter.page_jobs.get();
    let has_more = jobs.len() > most;
    sort(&mut jobs, filter);
    if backward && has_more {
        jobs.remove(0);
    }
    jobs.truncate(most);
    let before = match filter.page_start {
        PageStart::Start(before) => before,
        PageStart::At(cursor) if !cursor.backward => cursor.before,
        PageStart::At(cursor) if has_more => cursor.before.saturating_sub(most as u64),
        PageStart::At(_) => 0,
    };
    let beside = |job: Option<&PlacedJob>, backward: bool| {
        let before = if backward { before } else { before + jobs.len() as u64 };
        job.map(|&(number, changed_at, _)| Cursor { backward, top, changed_at, number, before })
    };
    let (has_next, has_previous) = if backward { (true, has_more) } else { (has_more, before > 0) };
    Listed {
        next: beside(jobs.last(), false).filter(|_| has_next),
        previous: beside(jobs.first(), true).filter(|_| has_previous),
        before,
        counts: counts.by_state,
        attention: counts.attention,
        no_changes: counts.no_changes,
        revision,
        places: jobs.iter().map(|(number, changed_at, _)| (*number, *changed_at)).collect(),
        top,
        backward,
        jobs: jobs.into_iter().map(|(_, _, job)| Job::from(job)).collect(),
    }
}
