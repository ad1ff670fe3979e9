//! Tables of pages with their views, and the comparison with another period.

use serde::{Deserialize, Serialize};

use crate::day::{Day, DayRange};
use crate::history::MarkedDay;
use crate::page_views::ViewCounts;
use crate::time::Timestamp;

/// Pages with fewer views than this come last when sorted by AI share, and do not count as changed.
pub const VIEWS_MIN: u64 = 20;

/// A change of the AI share needs as many views in both periods: of fewer, a handful changes it by many points.
pub const SHARE_VIEWS_MIN: u64 = 100;

/// A page or a folder with its views in a range and in the previous period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRow {
    /// A folder ends with `/*`.
    pub path: String,
    #[serde(flatten)]
    pub counts: ViewCounts,
    /// In the previous period; `None` if there is none or not all its days are stored.
    pub previous: Option<ViewCounts>,
    /// The part of the range that `previous` is compared with, if that is not the whole range: incomplete days are excluded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<ViewCounts>,
    /// For a folder, the number of pages in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
}

/// `/api/analytics/pages`: a table over a range that is entirely in the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagesReport {
    /// Of the whole range, regardless of the search.
    pub totals: ViewCounts,
    pub comparison: Option<Comparison>,
    /// For a range without a complete day: earlier whole days for orientation. They are not a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
    /// Of all rows that match the search, on every page of the table.
    pub matching: ViewCounts,
    /// The compared part of all pages that match the search and the folder, and the same part of the previous period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching_comparison: Option<(ViewCounts, ViewCounts)>,
    pub rows: Vec<PageRow>,
    /// The number of rows that match the search.
    pub rows_total: u64,
    /// When the figures were updated: the fetch of the newest day.
    pub fetched_at: Option<Timestamp>,
    /// The oldest fetch among the days of the range.
    pub oldest_fetched_at: Option<Timestamp>,
    /// Days of the range with a mark.
    pub marked: Vec<MarkedDay>,
    /// Whether a day is incomplete.
    pub unfinished: bool,
    /// The days of the range that may still change, the oldest first.
    pub provisional_days: Vec<DayRange>,
}

/// The previous period: the same number of days directly before; for whole weeks the same weekdays. An incomplete day is
/// excluded on both sides, with the day that it would be compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The first and the last day that the range is compared with.
    pub from: Day,
    pub to: Day,
    /// The compared part of the range, from the first to the last compared day.
    pub compared: DayRange,
    /// The days of the range that are not compared, in order: they or the days that they would be compared with are incomplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Day>,
    /// The days of the compared period that may still change, the oldest first.
    #[serde(default)]
    pub provisional_days: Vec<DayRange>,
    /// Totals of the compared days of the range.
    pub current: ViewCounts,
    pub previous: ViewCounts,
}

/// The whole days of the compared period, for a range that has no complete day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    #[serde(flatten)]
    pub days: DayRange,
    /// As the report: of all pages, of those that match, or of one page.
    #[serde(flatten)]
    pub counts: ViewCounts,
    /// Those that may still change, the oldest first.
    #[serde(default)]
    pub provisional_days: Vec<DayRange>,
}

/// The pages that lost the most views.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FallingPages {
    /// The first ones.
    pub pages: Vec<PageRow>,
    /// How many pages fell.
    pub pages_total: u64,
    /// The days of the range that may still change, the oldest first.
    pub provisional_days: Vec<DayRange>,
    pub comparison: Comparison,
}

impl PagesReport {
    /// The days of the range and of the compared period that may still change, the oldest first.
    pub fn all_provisional_days(&self) -> Vec<DayRange> {
        let compared = self.comparison.iter().flat_map(|comparison| &comparison.provisional_days);
        let earlier = self.earlier.iter().flat_map(|earlier| &earlier.provisional_days);
        DayRange::merged(self.provisional_days.iter().chain(compared).chain(earlier).copied())
    }
}

impl Comparison {
    /// The day that a day of the range is compared with.
    pub fn partner(&self, day: Day) -> Day {
        day.plus_days(-self.shift())
    }

    /// Whether each day is compared with a day of the same weekday.
    pub fn has_same_weekdays(&self) -> bool {
        self.shift() % 7 == 0
    }

    /// How many days the compared period is before.
    fn shift(&self) -> i64 {
        self.compared.from().days_since(self.from)
    }
}

impl PageRow {
    /// The counts that `previous` is compared with.
    pub fn compared(&self) -> ViewCounts {
        self.compared.unwrap_or(self.counts)
    }
}
