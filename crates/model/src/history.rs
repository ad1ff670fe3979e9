//! Wire types of the daily history of page views. Pure. Days are UTC days; ranges are inclusive at both ends.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ParseError;
use crate::day::{Day, DayRange};
use crate::id::JobId;
use crate::page_views::ViewCounts;
use crate::pull_request::PullRequestState;
use crate::time::Timestamp;

/// The progress of a project's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryState {
    /// The number of synced days, ending today.
    pub days_wanted: u32,
    /// How many of them are stored, final or not.
    pub days_done: u32,
    /// How many are final: only the weekly check of an old day fetches them again.
    pub days_final: u32,
    /// The oldest and newest stored day.
    pub first: Option<Day>,
    pub last: Option<Day>,
    /// Calls that background work may make now.
    pub calls_left: u32,
    /// When all wanted days are expected to be stored; `None` when all are stored.
    pub expected_end: Option<Timestamp>,
    /// Why nothing is being fetched right now.
    pub waiting: Option<String>,
    /// Days with questionable figures, newest first; at most 20.
    pub marked: Vec<MarkedDay>,
    /// Days that could not be fetched, newest first; at most 20.
    #[serde(default)]
    pub failing: Vec<FailingDay>,
}

/// A day that could not be fetched since its last success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailingDay {
    pub day: Day,
    pub attempts: u32,
    /// Why the last attempt failed.
    pub cause: FetchFailure,
    /// `None` if Docket tries it again only on request.
    pub next_try_at: Option<Timestamp>,
}

/// Why a day could not be fetched.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum FetchFailure {
    NotConnected,
    TimedOut,
    Refused,
    LimitReached,
    /// A 5xx status, or a response that cannot be used.
    Failed,
    /// The platform responded, but the day could not be stored.
    NotStored,
}

/// A day that is shown with a warning.
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
    /// The last fetch returned no views; the earlier ones are shown.
    Empty,
    /// It had views, and the platform returned none on three days since.
    Emptied,
}

/// The stored days of a range, and the minimum number of calls to fetch all of them again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredDays {
    pub days: u32,
    pub calls: u64,
    /// How many of them were requested and not fetched again since.
    pub requested: u32,
}

/// The days of a range that are not in the history, and the minimum number of calls to fetch them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub days: u32,
    pub calls: u32,
    /// How many of these days were requested and are therefore fetched before others.
    #[serde(default)]
    pub requested: u32,
}

/// The sort keys of a table of pages.
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
    /// The share of AI agents in all views.
    Share,
    /// The change of `total` against the previous period, in views.
    Difference,
    /// The same in percent.
    Change,
    Path,
}

/// The period that a range is compared with.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_comparison)]
pub enum Compare {
    /// As many days directly before.
    #[default]
    Previous,
    /// As many days whole weeks before, so that weekdays match.
    Weekdays,
    /// 52 weeks before.
    Year,
    None,
}

/// Which pages a table lists, by how they changed against the compared period.
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
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_tab)]
pub enum Tab {
    #[default]
    All,
    Rising,
    Falling,
    /// The AI share changed.
    Share,
    New,
    /// Views in the compared period, and none since.
    Gone,
}

/// Pages with fewer views than this come last when sorted by AI share, and do not count as changed.
pub const VIEWS_MIN: u64 = 20;

/// Largest first, or smallest first with `-` before the key in the URL. For paths, A to Z and Z to A.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Order {
    pub by: Sort,
    pub reversed: bool,
}

/// A page or a folder with its views in a range and in the previous period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRow {
    /// A folder ends with `/*`.
    pub path: String,
    #[serde(flatten)]
    pub counts: ViewCounts,
    /// In the previous period; `None` if there is none or not all its days are stored.
    pub previous: Option<ViewCounts>,
    /// The part of the range that `previous` is compared with, if that is not the whole range: an incomplete day is excluded.
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
    /// The oldest fetch among the days of the range.
    pub fetched_at: Option<Timestamp>,
    /// Days of the range with a mark.
    pub marked: Vec<MarkedDay>,
    /// Whether the last day is incomplete.
    pub unfinished: bool,
}

/// The previous period: the same number of days directly before; for whole weeks the same weekdays. An incomplete day is
/// excluded on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    pub from: Day,
    pub to: Day,
    /// Totals of the compared part of the range, without an incomplete day.
    pub current: ViewCounts,
    pub previous: ViewCounts,
}

/// The whole days before a range that has no complete day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    pub from: Day,
    pub to: Day,
    #[serde(flatten)]
    pub counts: ViewCounts,
}

/// `/api/analytics/trend`: views by day, or by week if the range is longer than 120 days.
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
    /// The number of days in the point: 1, or up to 7.
    pub days: u32,
    #[serde(flatten)]
    pub counts: ViewCounts,
    /// Whether it contains an incomplete day.
    pub unfinished: bool,
    /// The same days of the compared period, unless one of them is incomplete or not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<ViewCounts>,
}

/// A job about these pages that finished on a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    pub day: Day,
    pub job: JobId,
    /// The first line of its prompt.
    pub title: String,
    /// Whether its pull request was merged on that day.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merged: bool,
}

/// A note that a person wrote about a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    pub id: String,
    pub day: Day,
    pub text: String,
    pub author: String,
}

/// One page, its trend and the jobs about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageReport {
    pub row: PageRow,
    pub trend: Trend,
    /// Newest first, at most 20.
    pub jobs: Vec<JobEffect>,
}

/// Views in the days before and after a job about a page finished: after its pull request was merged, if that is known. Does not claim that the job caused the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEffect {
    pub job: JobId,
    pub title: String,
    pub finished: Day,
    /// The state of its pull request, if that is known and it is not merged. Then nothing is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<PullRequestState>,
    /// The number of days on each side: one or two whole weeks of complete, stored days; 0 without a whole week.
    pub days: u32,
    pub before: ViewCounts,
    pub after: ViewCounts,
    /// How many days of the week before and the week after are not stored.
    #[serde(default)]
    pub missing: u32,
    /// Whether some of those were requested and are therefore fetched before others.
    #[serde(default)]
    pub requested: bool,
}

/// What can be concluded from the views around a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Its pull request is not merged.
    NotMerged(PullRequestState),
    /// The week after the job has not passed.
    TooEarly,
    /// Days of the week before or after are not stored.
    DaysMissing,
    /// Fewer than [`VIEWS_MIN`] views on both sides.
    TooFewViews,
    Comparable,
}

/// A page that a finished job was about, with the views around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageEffect {
    pub path: String,
    pub effect: JobEffect,
}

impl FetchFailure {
    /// A sentence without its period.
    pub const fn label(self) -> &'static str {
        match self {
            Self::NotConnected => "The platform could not be reached",
            Self::TimedOut => "The platform did not answer in time",
            Self::Refused => "The platform refused the request",
            Self::LimitReached => "The platform’s own limit is reached",
            Self::Failed => "The platform failed",
            Self::NotStored => "Docket could not store the day",
        }
    }
}

impl JobEffect {
    /// The minimum range for a comparison: the week before the job finished, that day, and the week after.
    pub fn weeks(&self) -> DayRange {
        DayRange::ending(self.finished.plus_days(7), 15)
    }

    pub fn finding(&self, today: Day) -> Finding {
        if let Some(state) = self.unmerged {
            return Finding::NotMerged(state);
        }
        match self.days {
            0 if today.days_since(self.finished) <= 7 => Finding::TooEarly,
            0 => Finding::DaysMissing,
            _ if self.before.total.max(self.after.total) < VIEWS_MIN => Finding::TooFewViews,
            _ => Finding::Comparable,
        }
    }
}

impl PageRow {
    /// The counts that `previous` is compared with.
    pub fn compared(&self) -> ViewCounts {
        self.compared.unwrap_or(self.counts)
    }
}

impl Compare {
    /// How many days before a range of `days` days its compared period begins.
    pub fn shift(self, days: i64) -> Option<i64> {
        let whole = |step: i64| (days + step - 1) / step * step;
        match self {
            Self::Previous => Some(days),
            Self::Weekdays => Some(whole(7)),
            Self::Year => Some(whole(364)),
            Self::None => None,
        }
    }

    /// The name in URLs.
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::Previous => "Previous period",
            Self::Weekdays => "Same weekdays",
            Self::Year => "A year before",
            Self::None => "Nothing",
        }
    }
}

impl Tab {
    /// The name in URLs.
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Rising => "Rising",
            Self::Falling => "Falling",
            Self::Share => "AI share",
            Self::New => "New",
            Self::Gone => "Gone",
        }
    }

    /// The order of its rows until a column is sorted by: the largest change first. `None` without such a column.
    pub const fn order(self) -> Option<Order> {
        match self {
            Self::All => Some(Order { by: Sort::Total, reversed: false }),
            Self::Rising | Self::New => Some(Order { by: Sort::Difference, reversed: false }),
            Self::Falling | Self::Gone => Some(Order { by: Sort::Difference, reversed: true }),
            // Sorted by the absolute change.
            Self::Share => None,
        }
    }
}

fn not_a_comparison(_: &str) -> ParseError {
    "Compare with previous, weekdays, year or none.".into()
}

fn not_a_tab(_: &str) -> ParseError {
    "A tab is all, rising, falling, share, new or gone.".into()
}

impl Sort {
    /// The name in URLs.
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

fn not_a_sort(_: &str) -> ParseError {
    "Sort by total, human, ai, share, difference, change or path; a leading - reverses the order.".into()
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
    fn effect_needs_a_whole_week_and_twenty_views() {
        let day = |text: &str| text.parse::<Day>().unwrap_or_else(|error| panic!("{error}"));
        let counts = |total| ViewCounts { human: total, ai: 0, total };
        let effect = |days, before, after| JobEffect {
            job: "01920000-0000-7000-8000-000000000000".parse().unwrap_or_else(|_| panic!("an id")),
            title: String::new(),
            finished: day("2026-11-10"),
            days,
            before: counts(before),
            after: counts(after),
            unmerged: None,
            missing: 0,
            requested: false,
        };
        let open = JobEffect { unmerged: Some(PullRequestState::Open), ..effect(7, 3, 20) };
        assert_eq!(open.finding(day("2026-11-18")), Finding::NotMerged(PullRequestState::Open));
        assert_eq!(effect(0, 0, 0).finding(day("2026-11-17")), Finding::TooEarly);
        assert_eq!(effect(0, 0, 0).finding(day("2026-11-18")), Finding::DaysMissing);
        assert_eq!(effect(7, 19, 3).finding(day("2026-11-18")), Finding::TooFewViews);
        assert_eq!(effect(7, 3, 20).finding(day("2026-11-18")), Finding::Comparable);
    }

    #[test]
    fn compared_period_starts_whole_weeks_before_unless_previous() {
        let shifts = |days| Compare::VARIANTS.iter().map(|by| by.shift(days)).collect::<Vec<_>>();
        assert_eq!(shifts(28), [Some(28), Some(28), Some(364), None]);
        assert_eq!(shifts(3), [Some(3), Some(7), Some(364), None]);
        assert_eq!(shifts(400), [Some(400), Some(406), Some(728), None]);
    }

    #[test]
    fn every_order_parses_from_its_name() {
        for by in Sort::VARIANTS.iter().copied() {
            for reversed in [false, true] {
                let order = Order { by, reversed };
                assert_eq!(order.to_string().parse(), Ok(order));
            }
        }
        assert!("--path".parse::<Order>().is_err() && "views".parse::<Order>().is_err());
    }
}
