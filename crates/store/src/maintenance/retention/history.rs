//! Removes old days of the daily history. One transaction hides a day, and later ones remove its rows in slices. After a crash, the remaining rows
//! are found by their day.

use sqlx::{AssertSqlSafe, Row};

use super::{Cutoff, RowCounts, Rule, Slice, count};
use crate::dialect::Area;
use crate::{Store, StoreError, parsed};
use base::work::Work;
use model::day::Day;
use model::id::ProjectId;

/// Days per step.
const DAYS_AT_ONCE: u32 = 10;

/// Rows of page views per step.
const VIEWS_AT_ONCE: u32 = 500;

/// Tables besides the days.
#[derive(Debug, Clone, Copy)]
pub enum BesideDays {
    Annotations,
    RequestedDays,
    FailingDays,
    PagePaths,
}

impl BesideDays {
    pub const ALL: [Self; 4] = [Self::Annotations, Self::RequestedDays, Self::FailingDays, Self::PagePaths];

    /// The name of the table.
    pub const fn table(self) -> &'static str {
        self.rule().table
    }

    /// The condition on the day of a row.
    const fn rule(self) -> Rule {
        let (table, key, old, at_once, area) = match self {
            Self::Annotations => ("annotations", "id", "day < $1", 100, Area::Ledger),
            Self::RequestedDays => ("requested_days", "project, day", "day < $1", 100, Area::History),
            Self::FailingDays => ("failing_days", "project, day", "day < $1", 100, Area::History),
            Self::PagePaths => ("page_paths", "id", "seen_on < $1", 500, Area::History),
        };
        Rule { table, key, old, at_once, area }
    }
}

/// The condition that the rows of page views belong to a hidden day before `$2`. A day that could not be hidden keeps its rows.
const HIDDEN: &str = "day < $2 AND NOT EXISTS (
     SELECT 1 FROM history_days h WHERE h.project = page_views.project AND h.day = page_views.day)";

/// The tables that make a day visible.
const OF_DAYS: [&str; 2] = ["history_days", "day_rollups"];

impl Store {
    /// Hides some days before `first_retained`. Returns 0 when none are left.
    pub async fn remove_days(
        &self,
        work: &Work,
        first_retained: Day,
        slice: Slice,
    ) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT project, day FROM history_days WHERE day < $1 {}",
            slice.limits("project, day", DAYS_AT_ONCE)
        );
        let days =
            sqlx::query(AssertSqlSafe(sql)).bind(first_retained.to_string()).fetch_all(&self.pool).await?;
        if days.is_empty() {
            return Ok(0);
        }
        let mut tx = self.write_history(work).begin().await?.tx;
        for row in &days {
            let (project, day): (String, String) = (row.try_get("project")?, row.try_get("day")?);
            for table in OF_DAYS.into_iter().chain(["partial_days"]) {
                let sql = format!("DELETE FROM {table} WHERE project = $1 AND day = $2");
                let removed =
                    sqlx::query(AssertSqlSafe(sql)).bind(&project).bind(&day).execute(&mut *tx).await?;
                if OF_DAYS.contains(&table) {
                    count(&mut tx, table, removed.rows_affected()).await?;
                }
            }
        }
        tx.commit().await?;
        Ok(days.len() as u64)
    }

    /// Removes some rows of hidden days of a project before `first_retained`. Returns 0 when none are left.
    pub async fn remove_views(
        &self,
        work: &Work,
        project: &str,
        first_retained: Day,
        slice: Slice,
    ) -> Result<u64, StoreError> {
        let oldest = format!("SELECT MIN(day) FROM page_views WHERE project = $1 AND {HIDDEN}");
        let oldest: Option<String> = sqlx::query_scalar(AssertSqlSafe(oldest))
            .bind(project)
            .bind(first_retained.to_string())
            .fetch_one(&self.pool)
            .await?;
        let Some(oldest) = oldest else { return Ok(0) };
        let mut tx = self.write_history(work).begin().await?.tx;
        // After a failure, all days of the project are one list.
        let (days, day) = match slice.is_first() {
            true => ("day = $2", oldest),
            false => (HIDDEN, first_retained.to_string()),
        };
        let sql = format!(
            "DELETE FROM page_views WHERE project = $1 AND {days} AND (day, version, path_id) IN (
                 SELECT day, version, path_id FROM page_views WHERE project = $1 AND {days} {})",
            slice.limits("day, version, path_id", VIEWS_AT_ONCE)
        );
        let removed =
            sqlx::query(AssertSqlSafe(sql)).bind(project).bind(day).execute(&mut *tx).await?.rows_affected();
        count(&mut tx, "page_views", removed).await?;
        tx.commit().await?;
        Ok(removed)
    }

    /// Removes some rows of a table besides the days before `first_retained`. Returns 0 when none are left.
    pub async fn remove_beside_days(
        &self,
        work: &Work,
        table: BesideDays,
        first_retained: Day,
        slice: Slice,
    ) -> Result<u64, StoreError> {
        self.remove(work, &table.rule(), Cutoff::Day(first_retained), slice).await
    }

    /// Counts the rows that removing the days before `first_retained` would remove.
    pub async fn count_days(&self, first_retained: Day, counts: &mut RowCounts) -> Result<(), StoreError> {
        for table in OF_DAYS {
            let sql = format!("SELECT COUNT(*) FROM {table} WHERE day < $1");
            let row = Cutoff::Day(first_retained).bound_to(sql).fetch_one(&self.pool).await?;
            counts.insert(table.to_owned(), row.try_get::<i64, _>(0)?.unsigned_abs());
        }
        for table in BesideDays::ALL {
            let rows = self.count_old(&table.rule(), Cutoff::Day(first_retained)).await?;
            counts.insert(table.table().to_owned(), rows);
        }
        let mut views = 0;
        for project in self.projects_with_views().await? {
            let row = sqlx::query("SELECT COUNT(*) FROM page_views WHERE project = $1 AND day < $2")
                .bind(project)
                .bind(first_retained.to_string())
                .fetch_one(&self.pool)
                .await?;
            views += row.try_get::<i64, _>(0)?.unsigned_abs();
        }
        counts.insert("page_views".to_owned(), views);
        Ok(())
    }

    /// The days with rows of an outdated version, except days that are being written.
    pub async fn stale_days(&self) -> Result<Vec<(ProjectId, Day)>, StoreError> {
        let rows = sqlx::query(
            "SELECT h.project, h.day FROM history_days h
             WHERE EXISTS (SELECT 1 FROM page_views v
                 WHERE v.project = h.project AND v.day = h.day AND v.version = 1 - h.version)
             AND NOT EXISTS (SELECT 1 FROM partial_days r WHERE r.project = h.project AND r.day = h.day)",
        )
        .fetch_all(&self.pool)
        .await?;
        let day = |row: &sqlx::any::AnyRow| {
            let (project, day): (String, String) = (row.try_get("project")?, row.try_get("day")?);
            Ok((parsed(&project, "project")?, parsed(&day, "day")?))
        };
        rows.iter().map(day).collect()
    }

    /// Removes some rows of an outdated version of a day. Returns 0 when none are left, or while the day is being written.
    pub async fn remove_stale(&self, work: &Work, project: &ProjectId, day: Day) -> Result<u64, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM page_views WHERE project = $1 AND day = $2
             AND version = (SELECT 1 - h.version FROM history_days h WHERE h.project = $1 AND h.day = $2)
             AND NOT EXISTS (SELECT 1 FROM partial_days r WHERE r.project = $1 AND r.day = $2)
             AND path_id IN (
                 SELECT v.path_id FROM page_views v JOIN history_days h ON h.project = v.project AND h.day = v.day
                 WHERE v.project = $1 AND v.day = $2 AND v.version = 1 - h.version LIMIT $3)",
        )
        .bind(project.as_str())
        .bind(day.to_string())
        .bind(i64::from(VIEWS_AT_ONCE))
        .execute(self.write_history(work).statement())
        .await?;
        Ok(removed.rows_affected())
    }

    /// The projects with page views, which are found one by one through the index.
    pub async fn projects_with_views(&self) -> Result<Vec<String>, StoreError> {
        let mut projects: Vec<String> = Vec::new();
        loop {
            let last = projects.last().map_or("", String::as_str);
            let next: Option<String> =
                sqlx::query_scalar("SELECT MIN(project) FROM page_views WHERE project > $1")
                    .bind(last.to_owned())
                    .fetch_one(&self.pool)
                    .await?;
            match next {
                Some(project) => projects.push(project),
                None => return Ok(projects),
            }
        }
    }
}
