//! The reports of the analytics page and of the overview's week. Pure.

use super::effect::JobEffect;
use super::pages::{Comparison, Earlier, PageRow, PagesReport};
use super::trend::Trend;
use crate::day::Day;
use crate::history::{HistoryState, Missing};
use crate::page_views::{FetchedPageViews, PageViews, ViewCounts};
use crate::time::Timestamp;

/// The report for one URL of the analytics page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalyticsReport {
    /// The daily history contains the whole range.
    Daily(Box<DailyReport>),
    /// As `Daily`, for one documentation page.
    OnePage(Box<OnePageReport>),
    /// Days of the range are missing, so the figures come from the platform.
    Live(Box<LiveReport>),
    /// Everything that the platform has counted.
    AllTime(Box<AllTimeReport>),
    /// Days of the range are missing, and the platform cannot answer: it counts only the whole project.
    Missing(Box<MissingReport>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyReport {
    pub pages: PagesReport,
    pub trend: Trend,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnePageReport {
    /// All pages, for the page's share of the views.
    pub pages: PagesReport,
    pub page: PageReport,
}

/// One page, its trend and the jobs about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageReport {
    pub row: PageRow,
    /// For a range without a complete day: earlier whole days for orientation.
    pub earlier: Option<Earlier>,
    pub trend: Trend,
    /// Those with changes, newest first, at most 20.
    pub jobs: Vec<JobEffect>,
    /// How many jobs about it have changes.
    pub jobs_total: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveReport {
    pub views: FetchedPageViews,
    pub history: HistoryState,
    /// The days of the range that are missing from the daily history.
    pub missing: Option<Missing>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllTimeReport {
    pub views: FetchedPageViews,
    pub since: CountedSince,
}

/// Since when the platform counts views, as far as the daily history shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedSince {
    /// The first day with views, and how many days directly before it are stored without any, at least one.
    Day(Day, u32),
    /// The oldest stored day has views, or none has: the platform may have counted before.
    Unknown,
}

impl CountedSince {
    /// `empty`: how many days directly before `first` are stored without views.
    pub fn of(first: Day, empty: u32) -> Self {
        if empty > 0 { Self::Day(first, empty) } else { Self::Unknown }
    }
}

/// The pages that match a query, for a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchingPages {
    /// The first ones, in the order of the query.
    pub paths: Vec<String>,
    /// How many match; folders are not counted.
    pub total: u64,
}

/// What is missing for a report that only the daily history can give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingReport {
    pub history: HistoryState,
    /// The days of the range that are missing from the daily history.
    pub missing: Missing,
}

impl AnalyticsReport {
    /// The table of pages; `None` without figures.
    pub fn table(&self) -> Option<PagesTable> {
        match self {
            Self::Daily(report) => Some(PagesTable::from(&report.pages)),
            Self::OnePage(report) => Some(PagesTable::from(&report.pages)),
            Self::Live(report) => Some(PagesTable::from(&report.views)),
            Self::AllTime(report) => Some(PagesTable::from(&report.views)),
            Self::Missing(_) => None,
        }
    }
}

/// One page of the table, from the daily history or live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagesTable {
    pub rows: Vec<TableRow>,
    /// Views of all pages in the range.
    pub views: u64,
    /// What the changes of the rows are based on; `None` without changes.
    pub comparison: Option<Comparison>,
    pub source: TableSource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableSource {
    /// `rows` and `views` count all rows that match the filter.
    Daily {
        rows: u64,
        views: u64,
    },
    Live {
        has_more: bool,
        fetched_at: Timestamp,
        stale: bool,
        corrected: bool,
    },
}

/// A page or a folder (`/guides/*`) with its views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    pub path: String,
    pub counts: ViewCounts,
    /// Views now and in the previous period, over the same number of days.
    pub change: Option<(ViewCounts, ViewCounts)>,
    /// For a folder, the number of pages in it.
    pub pages: Option<u32>,
}

impl PagesTable {
    /// Whether there are rows after these, which start at `offset`.
    pub fn has_more(&self, offset: u64) -> bool {
        match self.source {
            TableSource::Daily { rows, .. } => offset.saturating_add(self.rows.len() as u64) < rows,
            TableSource::Live { has_more, .. } => has_more,
        }
    }
}

impl From<&PagesReport> for PagesTable {
    fn from(report: &PagesReport) -> Self {
        Self {
            rows: report.rows.iter().map(TableRow::from).collect(),
            views: report.totals.total,
            comparison: report.comparison.clone(),
            source: TableSource::Daily { rows: report.rows_total, views: report.matching.total },
        }
    }
}

impl From<&FetchedPageViews> for PagesTable {
    fn from(fetched: &FetchedPageViews) -> Self {
        let FetchedPageViews { has_more, fetched_at, stale, corrected, .. } = *fetched;
        Self {
            rows: fetched.views.iter().map(TableRow::from).collect(),
            views: fetched.totals.total,
            comparison: None,
            source: TableSource::Live { has_more, fetched_at, stale, corrected },
        }
    }
}

impl From<&PageRow> for TableRow {
    fn from(row: &PageRow) -> Self {
        Self {
            path: row.path.clone(),
            counts: row.counts,
            change: row.previous.map(|previous| (row.compared(), previous)),
            pages: row.pages,
        }
    }
}

impl From<&PageViews> for TableRow {
    fn from(page: &PageViews) -> Self {
        Self { path: page.path.clone(), counts: page.counts(), change: None, pages: None }
    }
}
