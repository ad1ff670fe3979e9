//! Views by day, with the jobs and the notes of these days.

use serde::{Deserialize, Serialize};

use super::ai::{AiChange, ai_changes};
use crate::day::Day;
use crate::id::JobId;
use crate::page_views::ViewCounts;

/// `/api/analytics/trend`: views by day, or by week if the range is longer than 120 days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trend {
    pub points: Vec<TrendPoint>,
    /// Of the jobs that finished last, the oldest first.
    pub markers: Vec<Marker>,
    /// How many jobs finished in the range.
    pub markers_total: u64,
    /// The newest ones, the oldest of them first.
    pub annotations: Vec<Annotation>,
    /// How many annotations the range has.
    pub annotations_total: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrendPoint {
    /// The first day of the point.
    pub day: Day,
    /// The number of days in the point: 1, or up to 7. The weeks at the ends of a range may have fewer than 7.
    pub days: u32,
    #[serde(flatten)]
    pub counts: ViewCounts,
    /// How many of its days are incomplete.
    pub unfinished_days: u32,
    /// How many of its days may still change, the incomplete ones included.
    pub provisional_days: u32,
    /// The same days of the compared period, unless one of them is incomplete or not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<ViewCounts>,
    /// How many of these compared days may still change.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub previous_provisional_days: u32,
}

fn is_zero(days: &u32) -> bool {
    *days == 0
}

impl Trend {
    /// The changes of what counts as AI within its days.
    pub fn ai_changes(&self) -> impl Iterator<Item = AiChange> {
        let ends = self.points.first().zip(self.points.last());
        ends.into_iter().flat_map(|(first, last)| ai_changes(first.day.plus_days(-1), last.last_day()))
    }
}

impl TrendPoint {
    /// Whether it has fewer days than a week. `are_weeks`: of [`are_weeks`].
    pub fn is_short_week(&self, are_weeks: bool) -> bool {
        are_weeks && self.days < 7
    }

    pub fn last_day(&self) -> Day {
        self.day.plus_days(i64::from(self.days) - 1)
    }

    pub fn contains(&self, day: Day) -> bool {
        self.day <= day && day <= self.last_day()
    }
}

/// Whether the points are weeks.
pub fn are_weeks(points: &[TrendPoint]) -> bool {
    points.iter().any(|point| point.days > 1)
}

/// The weeks with fewer than seven days, with their indexes: only the first and the last week can be short.
pub fn short_weeks(points: &[TrendPoint]) -> impl Iterator<Item = (usize, &TrendPoint)> {
    let are_weeks = are_weeks(points);
    points.iter().enumerate().filter(move |(_, point)| point.is_short_week(are_weeks))
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
