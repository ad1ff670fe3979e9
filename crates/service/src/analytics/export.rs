//! Exports all rows of a report as a streamed file. Between two days it releases the database connection, so a slow
//! client holds none. At most one day's rows are in memory.

use std::sync::Arc;

use futures::Stream;
use futures::stream;
use strum::EnumString;

use super::period::{Period, provisional};
use super::table::{Fraction, Table};
use super::table_query::TableQuery;
use super::{Analytics, figures, matching_paths};
use crate::sheet::{Cell, Chunks, Format, file};
use base::blocking;
use model::ParseError;
use model::analytics::choice::Readers;
use model::analytics::pages::PageRow;
use model::day::{Day, DayRange};
use model::error::AppError;
use model::page_views::ViewCounts;
use store::page_views::queries::Paths;
use store::{Store, StoreError};

/// Which rows to export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::Display, EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = ParseError, parse_err_fn = not_a_kind)]
pub enum ExportKind {
    /// The rows of the table: pages, or the entries of a folder.
    #[default]
    Pages,
    /// One row per day and page.
    Daily,
    /// One row per day.
    Days,
}

/// A file that is being streamed.
pub struct Export {
    pub name: String,
    pub body: Chunks,
}

const PAGES: &[&str] = &[
    "path",
    "pages",
    "human",
    "ai",
    "total",
    "ai_share",
    "compared_human",
    "compared_ai",
    "compared_total",
    "previous_human",
    "previous_ai",
    "previous_total",
    "human_change",
    "ai_change",
    "total_change",
    "readers",
    "change",
    "difference",
    "provisional_days",
    "previous_provisional_days",
];
const DAILY: &[&str] = &["day", "path", "human", "ai", "total", "provisional"];
const DAYS: &[&str] = &["day", "human", "ai", "total", "provisional"];

impl Analytics {
    /// All rows of a query, regardless of its paging.
    ///
    /// # Errors
    /// `NotInHistory` if a day of the range is not stored.
    pub async fn export(
        &self,
        query: TableQuery,
        of: ExportKind,
        format: Format,
    ) -> Result<Export, AppError> {
        let range = query.range;
        let name = format!("{}-{of}-{}-{}.{format}", query.project, range.from(), range.to());
        let body = match of {
            ExportKind::Pages => self.pages_file(&query, format).await?,
            ExportKind::Daily => self.daily_file(query, format).await?,
            ExportKind::Days => self.days_file(&query, format).await?,
        };
        Ok(Export { name, body })
    }

    async fn pages_file(&self, query: &TableQuery, format: Format) -> Result<Chunks, AppError> {
        let mut snapshot = self.store.snapshot(&query.project).await?;
        let period = Period::read(&mut snapshot, query.range).await?;
        let comparable = period.comparable(&mut snapshot, query.compare).await?;
        let range = query.range;
        let first = comparable.as_ref().map_or(range.from(), |it| it.previous.from().min(range.from()));
        let paths = snapshot.paths(first).await?;
        let figures = figures(&mut snapshot, &period, comparable.as_ref(), &paths).await?;
        drop(snapshot);
        let (query, readers) = (query.clone(), query.readers);
        let sorted = move || {
            let mut table = Table::of(&paths, &figures, &query);
            table.sort(&query);
            table.rows(0).collect()
        };
        let rows: Vec<PageRow> = blocking::run(usize::MAX, sorted).await;
        let provisional = Provisional {
            days: provisional(period.days()).len() as u64,
            previous: comparable.map(|comparable| comparable.provisional.len() as u64),
        };
        Ok(file(format, PAGES, stream::iter([Ok(rows)]), move |sheet, row: PageRow| {
            sheet.row(&page_cells(&row, readers, provisional));
        }))
    }

    async fn daily_file(&self, query: TableQuery, format: Format) -> Result<Chunks, AppError> {
        let mut snapshot = self.store.snapshot(&query.project).await?;
        let period = Period::read(&mut snapshot, query.range).await?;
        let paths = snapshot.paths(query.range.from()).await?;
        drop(snapshot);
        let provisional = provisional(period.days());
        let store = self.store.clone();
        let wanted = WantedPaths::of(&query, paths).await;
        let daily = Daily { store, query, wanted };
        Ok(file(format, DAILY, daily.days(), move |sheet, DailyRow { day, paths, path, counts }| {
            let [human, ai, total] = numbers(counts);
            let provisional = Cell::Flag(provisional.contains(&day));
            sheet.row(&[Cell::Day(day), Cell::Text(&paths.names()[path]), human, ai, total, provisional]);
        }))
    }

    async fn days_file(&self, query: &TableQuery, format: Format) -> Result<Chunks, AppError> {
        let mut snapshot = self.store.snapshot(&query.project).await?;
        let period = Period::read(&mut snapshot, query.range).await?;
        let days = if query.search.is_everything() && query.folder.is_none() {
            period.days().iter().map(|day| (day.day, day.totals)).collect()
        } else {
            let paths = snapshot.paths(query.range.from()).await?;
            let wanted = matching_paths(&paths, query).await;
            snapshot.sums_by_day(query.range, &paths, &wanted).await?
        };
        drop(snapshot);
        let provisional = provisional(period.days());
        Ok(file(format, DAYS, stream::iter([Ok(days)]), move |sheet, (day, counts): (Day, ViewCounts)| {
            let [human, ai, total] = numbers(counts);
            sheet.row(&[Cell::Day(day), human, ai, total, Cell::Flag(provisional.contains(&day))]);
        }))
    }
}

/// The daily rows of a query, read one day at a time.
struct Daily {
    store: Store,
    query: TableQuery,
    wanted: WantedPaths,
}

/// The paths of a project, and which of them a query includes.
#[derive(Clone)]
struct WantedPaths {
    paths: Arc<Paths>,
    /// For each path, its position in alphabetical order; `None` if the query excludes it.
    positions: Arc<[Option<u32>]>,
}

/// A row of one day. `path` is an index of `paths`.
struct DailyRow {
    day: Day,
    paths: Arc<Paths>,
    path: usize,
    counts: ViewCounts,
}

impl WantedPaths {
    async fn of(query: &TableQuery, paths: Arc<Paths>) -> Self {
        let query = query.clone();
        blocking::run(paths.len(), move || {
            let mut order: Vec<usize> = (0..paths.len()).collect();
            order.sort_unstable_by_key(|at| &paths.names()[*at]);
            let mut positions = vec![None; paths.len()];
            for (position, at) in order.into_iter().enumerate() {
                positions[at] = query.contains(&paths.names()[at]).then_some(position as u32);
            }
            Self { paths, positions: positions.into() }
        })
        .await
    }
}

impl Daily {
    /// The rows of each day.
    fn days(self) -> impl Stream<Item = Result<Vec<DailyRow>, StoreError>> + Send {
        let range: DayRange = self.query.range;
        stream::try_unfold((self, range.from()), move |(mut daily, day)| async move {
            if day > range.to() {
                return Ok(None);
            }
            let rows = daily.read(day).await?;
            Ok(Some((rows, (daily, day.plus_days(1)))))
        })
    }

    /// The rows of a day, by path.
    async fn read(&mut self, day: Day) -> Result<Vec<DailyRow>, StoreError> {
        let mut snapshot = self.store.snapshot(&self.query.project).await?;
        let found = match snapshot.day(day, &self.wanted.paths).await {
            // The day was read again since the file was begun, with a new page.
            Err(StoreError::UnknownPath) => {
                let paths = snapshot.paths(self.query.range.from()).await?;
                self.wanted = WantedPaths::of(&self.query, paths).await;
                snapshot.day(day, &self.wanted.paths).await?
            }
            found => found?,
        };
        drop(snapshot);
        let mut rows = found.ok_or_else(|| StoreError::Corrupt(format!("{day} was deleted meanwhile")))?;
        let WantedPaths { paths, positions } = self.wanted.clone();
        let number = paths.len();
        let sorted = move || {
            rows.retain(|(at, _)| positions[*at].is_some());
            rows.sort_unstable_by_key(|(at, _)| positions[*at]);
            let row = |(path, counts)| DailyRow { day, paths: paths.clone(), path, counts };
            rows.into_iter().map(row).collect()
        };
        Ok(blocking::run(number, sorted).await)
    }
}

/// How many days may still change.
#[derive(Clone, Copy)]
struct Provisional {
    /// Of the range.
    days: u64,
    /// Of the compared period, if there is one.
    previous: Option<u64>,
}

/// `readers`: whose views `change` and `difference` are about.
fn page_cells(row: &PageRow, readers: Readers, provisional: Provisional) -> [Cell<'_>; 20] {
    let [human, ai, total] = numbers(row.counts);
    let compared = row.previous.map(|previous| (row.compared(), previous));
    let [now_human, now_ai, now_total] = compared.map_or(NOTHING, |(now, _)| numbers(now));
    let [before_human, before_ai, before_total] = compared.map_or(NOTHING, |(_, before)| numbers(before));
    let change = |readers: Readers| {
        let (now, before) = compared?;
        Fraction::of(readers.of(now), readers.of(before))
    };
    let change = |readers| change(readers).map_or(Cell::Nothing, |change| Cell::Share(change.value() - 1.0));
    [
        Cell::Text(&row.path),
        row.pages.map_or(Cell::Nothing, |pages| Cell::Number(pages.into())),
        human,
        ai,
        total,
        Fraction::ai_share(row.counts).map_or(Cell::Nothing, |share| Cell::Share(share.value())),
        now_human,
        now_ai,
        now_total,
        before_human,
        before_ai,
        before_total,
        change(Readers::People),
        change(Readers::Ai),
        change(Readers::All),
        Cell::Text(readers.as_str()),
        change(readers),
        compared.map_or(Cell::Nothing, |(now, before)| Cell::Difference(readers.of(now), readers.of(before))),
        Cell::Number(provisional.days),
        provisional.previous.map_or(Cell::Nothing, Cell::Number),
    ]
}

const NOTHING: [Cell<'static>; 3] = [Cell::Nothing; 3];

fn numbers(counts: ViewCounts) -> [Cell<'static>; 3] {
    [counts.human, counts.ai, counts.total].map(Cell::Number)
}

fn not_a_kind(_: &str) -> ParseError {
    "Export one of pages, daily, days.".into()
}
