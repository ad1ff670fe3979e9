//! The write side of the daily history: which days are stored, how they were fetched, and which days people requested. `history` decides when
//! a day is due or final.

mod failing;
mod lease;
mod partial_day;
pub(crate) mod rollups;
mod write;

use sqlx::Row;
use sqlx::any::AnyRow;

pub use self::failing::FailedDay;
pub(crate) use self::lease::must_not_have_lost_the_lease;
pub use self::partial_day::{FetchedPage, PartialDay};
pub use self::write::{DayDecision, NewFetch, Written};
use crate::{Authority, Change, Store, StoreError, audit, limits, optional_word, word};
use model::audit::{Action, AuditEvent};
use model::day::{Day, DayRange};
use model::history::{Mark, MarkedDay};
use model::id::ProjectId;
use model::limits::REQUESTED_DAYS;
use model::page_views::ViewCounts;
use model::time::Timestamp;

/// A stored day, as of its last fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedDay {
    pub day: Day,
    /// The upstream's totals.
    pub totals: ViewCounts,
    pub rows: u64,
    pub digest: String,
    /// When its fetch started.
    pub fetched_at: Timestamp,
    /// How many successive fetches agreed, counted from the end of the day.
    pub equal_fetches: u32,
    pub final_at: Option<Timestamp>,
    pub mark: Option<Mark>,
    pub empty: EmptyFetches,
}

/// On how many days in a row the platform returned no views for a day that was over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmptyFetches {
    pub days: u32,
    /// The last of them.
    pub last: Option<Day>,
}

/// How much of a range of days is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    pub days: u32,
    /// The number of calls for fetching these days once.
    pub calls: u64,
}

impl Store {
    /// The stored days of `range`, newest first.
    pub async fn fetched_days(
        &self,
        project: &ProjectId,
        range: DayRange,
    ) -> Result<Vec<FetchedDay>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM history_days WHERE project = $1 AND day >= $2 AND day <= $3 ORDER BY day DESC",
        )
        .bind(project.as_str())
        .bind(range.from().to_string())
        .bind(range.to().to_string())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(fetched_day).collect()
    }

    /// How many days of `range` are stored, and how many calls of `page_size` rows fetching them takes.
    pub async fn history_extent(
        &self,
        project: &ProjectId,
        range: DayRange,
        page_size: u32,
    ) -> Result<Extent, StoreError> {
        let row = sqlx::query(
            "SELECT COUNT(*) AS days, CAST(COALESCE(SUM(
             CASE WHEN pages > $4 THEN (pages + $4 - 1) / $4 ELSE 1 END), 0) AS BIGINT) AS calls
             FROM history_days WHERE project = $1 AND day >= $2 AND day <= $3",
        )
        .bind(project.as_str())
        .bind(range.from().to_string())
        .bind(range.to().to_string())
        .bind(i64::from(page_size))
        .fetch_one(&self.pool)
        .await?;
        Ok(Extent { days: count(&row, "days")?, calls: row.try_get::<i64, _>("calls")?.unsigned_abs() })
    }

    /// The oldest and newest stored day.
    pub async fn history_ends(&self, project: &ProjectId) -> Result<Option<(Day, Day)>, StoreError> {
        let row = sqlx::query(
            "SELECT MIN(day) AS first, MAX(day) AS last FROM history_days WHERE project = $1 HAVING COUNT(*) > 0",
        )
        .bind(project.as_str())
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| Ok((word(&row, "first")?, word(&row, "last")?))).transpose()
    }

    /// The oldest stored day with views.
    pub async fn first_day_with_views(&self, project: &ProjectId) -> Result<Option<Day>, StoreError> {
        let row = sqlx::query(
            "SELECT MIN(day) AS first FROM history_days WHERE project = $1 AND total > 0 HAVING COUNT(*) > 0",
        )
        .bind(project.as_str())
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| word(&row, "first")).transpose()
    }

    /// When a final day was last fetched again, at or before `latest`.
    pub async fn last_check(
        &self,
        project: &ProjectId,
        latest: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let at: Option<i64> = sqlx::query_scalar(
            "SELECT MAX(fetched_at) FROM history_days WHERE project = $1 AND fetched_at > final_at AND fetched_at <= $2",
        )
        .bind(project.as_str())
        .bind(latest.as_millis())
        .fetch_one(&self.pool)
        .await?;
        Ok(at.map(Timestamp::from_millis))
    }

    /// How many days have a mark.
    pub async fn marked_days_total(&self, project: &ProjectId) -> Result<u32, StoreError> {
        let row =
            sqlx::query("SELECT COUNT(*) AS days FROM history_days WHERE project = $1 AND mark IS NOT NULL")
                .bind(project.as_str())
                .fetch_one(&self.pool)
                .await?;
        count(&row, "days")
    }

    /// Days with a mark, newest first.
    pub async fn marked_days(&self, project: &ProjectId, limit: u32) -> Result<Vec<MarkedDay>, StoreError> {
        let rows = sqlx::query(
            "SELECT day, mark FROM history_days WHERE project = $1 AND mark IS NOT NULL
             ORDER BY day DESC LIMIT $2",
        )
        .bind(project.as_str())
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await?;
        let marked = rows.iter().map(|row| {
            let day = word(row, "day")?;
            Ok(optional_word(row, "mark")?.map(|mark| MarkedDay { day, mark }))
        });
        marked.filter_map(Result::transpose).collect()
    }

    /// Requests to fetch these days first.
    pub async fn add_requested_days(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        days: &[Day],
    ) -> Result<(), StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let mut added = 0;
        for day in days {
            let inserted = sqlx::query(
                "INSERT INTO requested_days (project, day, requested_at) VALUES ($1, $2, $3)
                 ON CONFLICT (project, day) DO NOTHING",
            )
            .bind(project.as_str())
            .bind(day.to_string())
            .bind(now.as_millis())
            .execute(&mut *tx)
            .await?;
            added += inserted.rows_affected();
            failing::forget(&mut tx, project, *day).await?;
        }
        if added > 0 {
            let there = sqlx::query_scalar("SELECT COUNT(*) FROM requested_days WHERE project = $1");
            let there: i64 = there.bind(project.as_str()).fetch_one(&mut *tx).await?;
            limits::leave_room(&REQUESTED_DAYS, there - 1)?;
            let event = AuditEvent::new(Action::HistoryFetch)
                .in_project(project)
                .with_detail(format!("{added} days"));
            audit::record(&mut tx, &by, &event, now).await?;
        }
        Ok(tx.commit().await?)
    }

    /// The requested days, newest first.
    pub async fn requested_days(&self, project: &ProjectId) -> Result<Vec<Day>, StoreError> {
        let rows = sqlx::query("SELECT day FROM requested_days WHERE project = $1 ORDER BY day DESC")
            .bind(project.as_str())
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| word(row, "day")).collect()
    }
}

fn fetched_day(row: &AnyRow) -> Result<FetchedDay, StoreError> {
    let number = |column| Ok::<_, StoreError>(row.try_get::<i64, _>(column)?.unsigned_abs());
    Ok(FetchedDay {
        day: word(row, "day")?,
        totals: ViewCounts { human: number("human")?, ai: number("ai")?, total: number("total")? },
        rows: number("pages")?,
        digest: row.try_get("digest")?,
        fetched_at: Timestamp::from_millis(row.try_get("fetched_at")?),
        equal_fetches: count(row, "equal_fetches")?,
        final_at: row.try_get::<Option<i64>, _>("final_at")?.map(Timestamp::from_millis),
        mark: optional_word(row, "mark")?,
        empty: EmptyFetches { days: count(row, "empty_fetches")?, last: optional_word(row, "empty_on")? },
    })
}

fn count(row: &AnyRow, column: &str) -> Result<u32, StoreError> {
    Ok(u32::try_from(row.try_get::<i64, _>(column)?).unwrap_or(u32::MAX))
}
