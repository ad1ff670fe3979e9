//! Page views by day, as the daily history answers for them: the wire's shapes. Pure.
//! All days are UTC days; ranges are inclusive at both ends.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::model::ParseError;
use crate::model::day::Day;
use crate::model::id::JobId;
use crate::model::page_views::ViewCounts;
use crate::model::time::Timestamp;

/// How far the history of a project has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryState {
    /// The days that are kept in step, the newest being today.
    pub days_wanted: u32,
    /// How many of them are here, whether final or not.
    pub days_done: u32,
    /// How many will not be asked for again, but for the weekly check of one old day.
    pub days_settled: u32,
    /// The oldest and the newest day that is here, if any is.
    pub first: Option<Day>,
    pub last: Option<Day>,
    /// Calls that background work may still make this hour.
    pub calls_left: u32,
    /// When all wanted days will be here at the present pace; nothing when they are.
    pub expected_end: Option<Timestamp>,
    /// Why nothing is fetched right now, as a sentence, if so.
    pub waiting: Option<String>,
    /// Days whose figures need a look, newest first; at most 20.
    pub marked: Vec<MarkedDay>,
}

/// A day that is shown with a mark, not hidden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedDay {
    pub day: Day,
    pub mark: Mark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Mark {
    /// Its rows do not add up to its totals.
    Uneven,
    /// It was final, and a later fetch differed.
    Recounted,
}

/// Which days of a range are not in the history, and what fetching them would cost at least.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub days: u32,
    pub calls: u32,
}

/// What a table of pages can be sorted by.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_sort)]
pub enum Sort {
    #[default]
    Total,
    Human,
    Ai,
    /// AI readers' share of all views.
    Share,
    /// Change of `total` against the previous period.
    Change,
    Path,
}

/// Order: the largest first, or (with `-` before the word in the address) the smallest. Paths go the other way round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Order {
    pub by: Sort,
    pub reversed: bool,
}

/// A page (or a folder) with its views in a range and in the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRow {
    /// A folder ends with `/*`.
    pub path: String,
    #[serde(flatten)]
    pub counts: ViewCounts,
    /// In the period that is compared with; nothing where there is none, or its days are not all here.
    pub previous: Option<ViewCounts>,
    /// In the part of the range that `previous` is compared with, where that is not the whole range: part of today is
    /// left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<ViewCounts>,
    /// For a folder, how many pages lie in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
}

/// `/api/analytics/pages`: a table over a range that is wholly in the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagesReport {
    /// Of the whole range, whatever is searched.
    pub totals: ViewCounts,
    pub comparison: Option<Comparison>,
    /// Of the rows that the search leaves, all pages of the table together.
    pub matching: ViewCounts,
    pub rows: Vec<PageRow>,
    /// How many rows the search leaves in all.
    pub rows_total: u64,
    /// The oldest reading among the days of the range.
    pub read_at: Option<Timestamp>,
    /// Days of the range that carry a mark.
    pub marked: Vec<MarkedDay>,
    /// Whether the last day is still being counted upstream.
    pub unfinished: bool,
}

/// The period that a range is compared with: as many days, directly before; for whole weeks the same weekdays. Part of
/// today is left out on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    pub from: Day,
    pub to: Day,
    /// Totals of the compared part of the range itself: without an unfinished day.
    pub current: ViewCounts,
    pub previous: ViewCounts,
}

/// `/api/analytics/trend`: views by day, or by week above 120 days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trend {
    pub points: Vec<TrendPoint>,
    pub markers: Vec<Marker>,
    pub annotations: Vec<Annotation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrendPoint {
    /// The first day of the point.
    pub day: Day,
    /// How many days it stands for: 1, or up to 7.
    pub days: u32,
    #[serde(flatten)]
    pub counts: ViewCounts,
    /// Whether it holds a day that is still being counted.
    pub unfinished: bool,
}

/// A job about these pages that finished on a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    pub day: Day,
    pub job: JobId,
    /// The first line of its prompt.
    pub title: String,
}

/// A day and a sentence of the team's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    pub id: String,
    pub day: Day,
    pub text: String,
    pub author: String,
}

/// `/api/analytics/movers`: what changed most against the previous period; at most 10 rows each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Movers {
    pub risen: Vec<PageRow>,
    pub fallen: Vec<PageRow>,
    /// The AI share moved most.
    pub shifted: Vec<PageRow>,
    /// Not read at all before.
    pub new: Vec<PageRow>,
    /// Not read at all now.
    pub quiet: Vec<PageRow>,
}

/// `/api/analytics/page`: one page, its trend and the jobs about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageReport {
    pub row: PageRow,
    pub trend: Trend,
    /// Newest first, at most 20.
    pub jobs: Vec<JobEffect>,
}

/// Views in the days before and after a job that touched a page finished. No claim of cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEffect {
    pub job: JobId,
    pub title: String,
    pub finished: Day,
    /// Days on each side that are here and complete: at most 14, and as many on one side as on the other.
    pub days: u32,
    pub before: ViewCounts,
    pub after: ViewCounts,
}

impl PageRow {
    /// What `previous` is to be compared with.
    pub fn compared(&self) -> ViewCounts {
        self.compared.unwrap_or(self.counts)
    }
}

impl Sort {
    /// The word of the address.
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

fn not_a_sort(_: &str) -> ParseError {
    "Sort by one of total, human, ai, share, change, path; a - before it turns the order round."
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.reversed { "-" } else { "" }, self.by.as_str())
    }
}

impl FromStr for Order {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (reversed, word) = text.strip_prefix('-').map_or((false, text), |word| (true, word));
        Ok(Self { by: word.parse()?, reversed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_survives_its_word() {
        for by in Sort::VARIANTS.iter().copied() {
            for reversed in [false, true] {
                let order = Order { by, reversed };
                assert_eq!(order.to_string().parse(), Ok(order));
            }
        }
        assert!("--path".parse::<Order>().is_err() && "views".parse::<Order>().is_err());
    }
}
