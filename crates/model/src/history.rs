//! The state of a project's daily history. Pure. Days are UTC days.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::day::{Day, DayRange};
use crate::time::Timestamp;

/// The number of days before today that the platform may still be counting.
pub const RECENT_DAYS: i64 = 3;

/// Whether the platform may still be counting a day: three days after its end have not passed.
pub fn is_recent(day: Day, today: Day) -> bool {
    today.days_since(day) <= RECENT_DAYS
}

/// The days of a range that the platform may still be counting.
pub fn recent_days(range: DayRange, today: Day) -> Option<DayRange> {
    DayRange::spanning(range.from().max(today.plus_days(-RECENT_DAYS)), range.to())
}

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
    /// How many days have questionable figures.
    #[serde(default)]
    pub marked_total: u32,
    /// Days that could not be fetched, newest first; at most 20.
    #[serde(default)]
    pub failing: Vec<FailingDay>,
    /// How many days could not be fetched.
    #[serde(default)]
    pub failing_total: u32,
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
    /// How many of these days Docket fetches without a request.
    #[serde(default)]
    pub scheduled: u32,
    /// The first day that is stored, if the range begins before it: the days before cannot be fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retained_from: Option<Day>,
}

impl Missing {
    /// Whether some of the days come by themselves: they were requested, or Docket fetches days that nobody has to request, perhaps after a pause.
    pub fn are_awaited(&self, history: &HistoryState) -> bool {
        let goes_on = history.waiting.is_none() || history.expected_end.is_some();
        self.retained_from.is_none() && (self.requested > 0 || (self.scheduled > 0 && goes_on))
    }

    /// Whether all days of the range can be stored, and all that are missing were requested.
    pub fn are_requested(&self) -> bool {
        self.retained_from.is_none() && self.requested >= self.days
    }
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
