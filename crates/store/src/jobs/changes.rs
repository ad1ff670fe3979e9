//! The order in which jobs changed. Triggers number each change of what programs see of a job, in the transaction of the change. Transactions that change
//! jobs of one project commit in the order of these numbers: who has read up to one of them has missed none.

use sqlx::Row;

use super::filter::{JobFilter, select, with_status};
use crate::dialect::select::{ScanBy, Statement};
use crate::dialect::{Dialect, read_json};
use crate::{Store, StoreError};
use base::query_permits::QueryPermit;
use model::id::{JobId, ProjectId};
use model::time::Timestamp;

/// The last change of a project, or of one of its jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LastChange {
    pub number: i64,
    /// When the database was last restored from a backup, in milliseconds; 0: never. Numbers are used again then.
    pub restored_at: i64,
}

/// A position in the order of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangePosition {
    /// The number of the last change that was read.
    pub after: i64,
    /// The last change at the time of the request for the first page. Later changes are listed whenever the job's state changed.
    pub first_top: i64,
    /// As in [`LastChange`].
    pub restored_at: i64,
}

/// A page of jobs that changed, whose texts are loaded later: the job that changed first is the first one.
#[derive(Debug)]
pub struct ChangedJobs {
    /// Each with the number of its last change.
    places: Vec<(i64, JobId)>,
    has_more: bool,
    first_top: i64,
    top: LastChange,
}

impl Store {
    /// The last change of the project.
    pub async fn last_change(&self, project: &ProjectId) -> Result<LastChange, StoreError> {
        let sql = "SELECT last_change, restored_at FROM project_changes WHERE project = $1";
        let row = sqlx::query(sql).bind(project.as_str()).fetch_optional(&self.pool).await?;
        let Some(row) = row else { return Ok(LastChange::default()) };
        Ok(LastChange { number: row.try_get(0)?, restored_at: row.try_get(1)? })
    }

    /// The last change of a job; `None` if it does not exist in the project.
    pub async fn last_change_of(
        &self,
        project: &ProjectId,
        job: &JobId,
    ) -> Result<Option<LastChange>, StoreError> {
        let sql = "SELECT l.change, c.restored_at FROM listed_jobs l JOIN project_changes c ON c.project = l.project
             WHERE l.job_id = $1 AND l.project = $2";
        let row = sqlx::query(sql).bind(job.as_str()).bind(project.as_str()).fetch_optional(&self.pool);
        let Some(row) = row.await? else { return Ok(None) };
        Ok(Some(LastChange { number: row.try_get(0)?, restored_at: row.try_get(1)? }))
    }

    /// The jobs of the filter whose states changed at `since` or later, and after its first page also those that changed in any other way: those after
    /// `position`. The filter's own order and page are ignored. `None` if the database was restored since the position was read.
    pub async fn changed_jobs(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        filter: &JobFilter,
        since: Timestamp,
        position: Option<ChangePosition>,
    ) -> Result<Option<ChangedJobs>, StoreError> {
        let statement = statement(self.dialect, project, filter, since, position);
        let row = self.queries.fetch_one(permit, statement).await?;
        let top = LastChange { number: row.try_get(1)?, restored_at: row.try_get(2)? };
        let is_of_other_numbers =
            |position: ChangePosition| position.restored_at != top.restored_at || position.after > top.number;
        if position.is_some_and(is_of_other_numbers) {
            return Ok(None);
        }
        let mut places: Vec<(i64, JobId)> = read_json(&row, 0)?;
        places.sort_unstable();
        let has_more = places.len() > filter.page_jobs.get();
        places.truncate(filter.page_jobs.get());
        let first_top = position.map_or(top.number, |position| position.first_top);
        Ok(Some(ChangedJobs { places, has_more, first_top, top }))
    }
}

impl ChangedJobs {
    /// The ids of the jobs, in order.
    pub fn jobs(&self) -> impl Iterator<Item = &JobId> {
        self.places.iter().map(|(_, job)| job)
    }

    /// The position after the first `count` of these jobs. There is always one: later changes follow it.
    pub fn position_after(&self, count: usize) -> ChangePosition {
        let after = match (self.places.get(count), self.places.last()) {
            (Some((next, _)), _) => next - 1,
            (None, Some((last, _))) if self.has_more => *last,
            (None, _) => self.top.number,
        };
        ChangePosition { after, first_top: self.first_top, restored_at: self.top.restored_at }
    }
}

/// The numbers and ids of the jobs, one more than a page has; and the last change of the project.
fn statement(
    dialect: Dialect,
    project: &ProjectId,
    filter: &JobFilter,
    since: Timestamp,
    position: Option<ChangePosition>,
) -> Statement {
    let mut select = select(dialect, project, filter, ScanBy::Index, 0);
    with_status(&mut select, filter);
    let since = select.bind_number(since.as_millis());
    match position {
        None => select.and(&format!("l.changed_at >= {since}")),
        Some(ChangePosition { after, first_top, .. }) => {
            let (after, first_top) = (select.bind_number(after), select.bind_number(first_top));
            select
                .and(&format!("l.change > {after} AND (l.changed_at >= {since} OR l.change > {first_top})"));
        }
    }
    let most = filter.page_jobs.get() + 1;
    let positions = select.page("l.change, l.job_id", |_| "l.change".to_owned(), most, 0);
    let jobs = dialect.json_rows("p.change, p.job_id", &format!("({}) p", positions.sql()));
    let of_project = |column: &str| {
        format!("(SELECT CAST(COALESCE(MAX({column}), 0) AS BIGINT) FROM project_changes WHERE project = $1)")
    };
    let sql = format!(
        "SELECT {}, {}, {}",
        dialect.json_column(&jobs),
        of_project("last_change"),
        of_project("restored_at")
    );
    Statement::around(sql, [positions])
}
