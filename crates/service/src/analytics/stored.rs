//! Page views for programs: of the stored days of a range, with the ranges of days that are not stored.

use std::collections::BTreeSet;

use super::cursor::{self, LastPage, PageCursors};
use super::period::{oldest_fetched_at, provisional, updated_at};
use super::table::{Figures, Table};
use super::table_query::TableQuery;
use super::{Analytics, by_day};
use base::blocking;
use model::analytics::pages::PageRow;
use model::day::{Day, DayRange};
use model::error::AppError;
use model::id::ProjectId;
use model::page_views::ViewCounts;
use model::selection::Selection;
use model::time::Timestamp;
use store::page_views::queries::StoredDay;

/// The pages that were viewed in a range.
pub struct StoredPages {
    /// Of all pages, on all stored days.
    pub totals: ViewCounts,
    pub rows: Vec<PageRow>,
    /// The number of pages that match the query.
    pub rows_total: u64,
    /// The number of those before these rows.
    pub before: u64,
    pub cursors: PageCursors,
    pub coverage: Coverage,
}

/// The views of a range by day.
pub struct StoredDays {
    pub days: Vec<CountedDay>,
    pub coverage: Coverage,
}

pub struct CountedDay {
    pub day: Day,
    pub counts: ViewCounts,
    /// Whether the day may still change.
    pub provisional: bool,
}

/// How much of a range is stored.
pub struct Coverage {
    /// The fetch of its newest day.
    pub updated_at: Option<Timestamp>,
    /// The oldest fetch of its days.
    pub oldest_fetched_at: Option<Timestamp>,
    /// The oldest first.
    pub missing_days: Vec<DayRange>,
    /// The stored days that may still change, the oldest first.
    pub provisional_days: Vec<DayRange>,
}

impl Analytics {
    /// A table of pages over the stored days of a range: after `cursor`, or else from the offset of the query.
    ///
    /// # Errors
    /// `Conflict` if the figures changed since the cursor was written.
    pub async fn stored_pages(
        &self,
        query: &TableQuery,
        cursor: Option<&str>,
    ) -> Result<StoredPages, AppError> {
        let range = query.range;
        let mut snapshot = self.store.snapshot(&query.project).await?;
        let days = snapshot.days(range).await?;
        // An old cursor is refused before anything is summed.
        let cursors = PageCursors::new(query, &days);
        let last = cursor.map(|cursor| cursors.read(cursor)).transpose()?;
        let paths = snapshot.paths(range.from()).await?;
        let counts = snapshot.sums(range, &[], &paths).await?;
        drop(snapshot);
        let (pages, query) = (paths.len(), query.clone());
        let figures = Figures { counts, previous: None, compared: None };
        let table = move || {
            let mut table = Table::of(&paths, &figures, &query);
            table.sort(&query);
            let before = match last {
                Some(last) => table.up_to(|path| LastPage::of(path) == last)?,
                None => usize::try_from(query.paging.offset).unwrap_or(usize::MAX),
            };
            let rows = table.rows(before).take(query.paging.limit.get() as usize).collect();
            Some((rows, table.len() as u64, before as u64))
        };
        let (rows, rows_total, before) = blocking::run(pages, table).await.ok_or_else(cursor::changed)?;
        let totals = days.iter().map(|day| day.totals).sum();
        Ok(StoredPages { totals, rows, rows_total, before, cursors, coverage: Coverage::of(range, &days) })
    }

    /// The views of each stored day: of the whole project, of the page `path`, or of a folder (`/guides/*`).
    pub async fn stored_days(
        &self,
        project: &ProjectId,
        range: DayRange,
        path: Option<&str>,
    ) -> Result<StoredDays, AppError> {
        let mut snapshot = self.store.snapshot(project).await?;
        let selection = snapshot
            .known(Selection::parse(path).map_err(|error| AppError::from(error).about("path"))?)
            .await?;
        let stored = snapshot.days(range).await?;
        let counted = match selection {
            Selection::Project => stored.iter().map(|day| (day.day, day.totals)).collect(),
            selection => by_day(&mut snapshot, range, &selection).await?,
        };
        drop(snapshot);
        let provisional = provisional(&stored);
        let days = counted.into_iter().map(|(day, counts)| CountedDay {
            day,
            counts,
            provisional: provisional.contains(&day),
        });
        Ok(StoredDays { days: days.collect(), coverage: Coverage::of(range, &stored) })
    }
}

impl Coverage {
    fn of(range: DayRange, stored: &[StoredDay]) -> Self {
        let there: BTreeSet<Day> = stored.iter().map(|day| day.day).collect();
        Self {
            updated_at: updated_at(stored),
            oldest_fetched_at: oldest_fetched_at(stored),
            missing_days: range.without(there),
            provisional_days: DayRange::of_days(provisional(stored)),
        }
    }

    /// Whether all days are stored and final.
    pub fn is_complete(&self) -> bool {
        self.missing_days.is_empty() && self.provisional_days.is_empty()
    }
}
