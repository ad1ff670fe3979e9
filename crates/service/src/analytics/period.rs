//! A completely stored range of days, and its compared period.

use std::collections::BTreeSet;

use model::analytics::choice::Compare;
use model::analytics::pages::{Comparison, Earlier};
use model::day::{Day, DayRange};
use model::error::{AppError, ErrorCode};
use model::history::MarkedDay;
use model::page_views::ViewCounts;
use model::time::Timestamp;
use store::page_views::queries::{Snapshot, StoredDay};

/// A range whose days are all stored.
pub(super) struct Period {
    range: DayRange,
    days: Vec<StoredDay>,
}

/// Two ranges of the same length, with only complete, stored days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comparable {
    /// The range up to the day before its first incomplete day.
    pub(super) current: DayRange,
    /// `current`, shifted back by [`Compare::shift`].
    pub(super) previous: DayRange,
    current_totals: ViewCounts,
    previous_totals: ViewCounts,
}

impl Period {
    /// # Errors
    /// `NotInHistory` if a day of the range is not stored.
    pub(super) async fn read(snapshot: &mut Snapshot, range: DayRange) -> Result<Self, AppError> {
        Self::of(range, snapshot.days(range).await?)
    }

    /// The same from loaded days.
    ///
    /// # Errors
    /// `NotInHistory` if a day of the range is missing.
    pub(super) fn of(range: DayRange, days: Vec<StoredDay>) -> Result<Self, AppError> {
        match days.len() as i64 == range.days() {
            true => Ok(Self { range, days }),
            false => Err(not_in_history(range, days.len() as i64)),
        }
    }

    pub(super) fn range(&self) -> DayRange {
        self.range
    }

    pub(super) fn days(&self) -> &[StoredDay] {
        &self.days
    }

    pub(super) fn totals(&self) -> ViewCounts {
        totals(&self.days, self.range)
    }

    /// The time of the oldest fetch.
    pub(super) fn fetched_at(&self) -> Option<Timestamp> {
        self.days.iter().map(|day| day.fetched_at).min()
    }

    pub(super) fn marked(&self) -> Vec<MarkedDay> {
        self.days.iter().filter_map(|day| Some(MarkedDay { day: day.day, mark: day.mark? })).collect()
    }

    pub(super) fn is_unfinished(&self) -> bool {
        self.first_unfinished().is_some()
    }

    fn first_unfinished(&self) -> Option<Day> {
        self.days.iter().find(|day| !is_complete(day)).map(|day| day.day)
    }

    /// What this period can be compared with, if all of those days are stored.
    pub(super) async fn comparable(
        &self,
        snapshot: &mut Snapshot,
        compare: Compare,
    ) -> Result<Option<Comparable>, AppError> {
        let Some((_, previous)) = self.halves(compare) else { return Ok(None) };
        Ok(self.comparable_with(&snapshot.days(previous).await?, compare))
    }

    /// The same. `earlier`: the stored days of the compared period.
    pub(super) fn comparable_with(&self, earlier: &[StoredDay], compare: Compare) -> Option<Comparable> {
        let (current, previous) = self.halves(compare)?;
        is_stored(previous, earlier).then(|| Comparable {
            current,
            previous,
            current_totals: totals(&self.days, current),
            previous_totals: totals(earlier, previous),
        })
    }

    /// For a range without a complete day: the totals of the whole compared period, if it is stored.
    pub(super) fn earlier(&self, earlier: &[StoredDay], compare: Compare) -> Option<Earlier> {
        let before = compare.period_before(self.range).filter(|_| self.halves(compare).is_none())?;
        let counts = totals(earlier, before);
        is_stored(before, earlier).then(|| Earlier { from: before.from(), to: before.to(), counts })
    }

    /// # Errors
    /// `NotInHistory` if there is nothing to compare with.
    pub(super) async fn must_be_comparable(&self, snapshot: &mut Snapshot) -> Result<Comparable, AppError> {
        let comparable = self.comparable(snapshot, Compare::Previous).await?;
        comparable.ok_or_else(|| {
            let message = match self.halves(Compare::Previous) {
                Some((_, previous)) => format!(
                    "The days to compare with, {} to {}, are not all in the daily history yet. Choose a shorter range, or try again later.",
                    previous.from().long(),
                    previous.to().long()
                ),
                None => "This range has no complete day to compare. Choose a longer range.".to_owned(),
            };
            AppError::new(ErrorCode::NotInHistory, message)
        })
    }

    /// The compared part of the range, and the same part of the compared period.
    fn halves(&self, compare: Compare) -> Option<(DayRange, DayRange)> {
        let last = self.first_unfinished().map_or(self.range.to(), |day| day.plus_days(-1));
        let current = DayRange::spanning(self.range.from(), last)?;
        let back = compare.shift(self.range.days())?;
        Some((current, back_by(current, back)))
    }
}

impl Comparable {
    /// The number of days between a day and the day it is compared with.
    pub(super) fn shift(&self) -> i64 {
        self.current.from().days_since(self.previous.from())
    }
}

fn back_by(range: DayRange, days: i64) -> DayRange {
    DayRange::ending(range.to().plus_days(-days), range.days())
}

/// Whether all days of the range are among `days`, and complete.
fn is_stored(range: DayRange, days: &[StoredDay]) -> bool {
    let here: Vec<_> = days.iter().filter(|day| range.contains(day.day)).collect();
    here.len() as i64 == range.days() && here.iter().all(|day| is_complete(day))
}

/// Whether a day had ended when it was fetched.
pub(super) fn is_complete(day: &StoredDay) -> bool {
    Day::of(day.fetched_at) > day.day
}

pub(super) fn complete(days: &[StoredDay]) -> BTreeSet<Day> {
    days.iter().filter(|day| is_complete(day)).map(|day| day.day).collect()
}

fn totals(days: &[StoredDay], range: DayRange) -> ViewCounts {
    days.iter().filter(|day| range.contains(day.day)).map(|day| day.totals).sum()
}

fn not_in_history(range: DayRange, here: i64) -> AppError {
    AppError::new(
        ErrorCode::NotInHistory,
        format!(
            "Only {here} of the {} days from {} to {} are in the daily history. Fetch the missing days, or choose others.",
            range.days(),
            range.from().long(),
            range.to().long()
        ),
    )
}

impl From<Comparable> for Comparison {
    fn from(comparable: Comparable) -> Self {
        Self {
            from: comparable.previous.from(),
            to: comparable.previous.to(),
            current: comparable.current_totals,
            previous: comparable.previous_totals,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A period whose days were all fetched at `fetched_at`.
    fn period(from: &str, to: &str, fetched_at: &str) -> Period {
        let range = DayRange::new(day(from), day(to)).unwrap_or_else(|error| panic!("{error}"));
        let fetched_at = fetched_at.parse().unwrap_or_else(|_| panic!("{fetched_at}"));
        let stored = |n| StoredDay {
            day: range.from().plus_days(n),
            totals: ViewCounts::default(),
            fetched_at,
            mark: None,
            digest: String::new(),
        };
        Period { range, days: (0..range.days()).map(stored).collect() }
    }

    fn halves(from: &str, to: &str, fetched_at: &str) -> Option<[String; 4]> {
        let (current, previous) = period(from, to, fetched_at).halves(Compare::Previous)?;
        Some([current.from(), current.to(), previous.from(), previous.to()].map(|day| day.to_string()))
    }

    #[test]
    fn finished_range_is_compared_with_the_preceding_days() {
        let expected = ["2026-11-11", "2026-11-20", "2026-11-01", "2026-11-10"].map(str::to_owned);
        assert_eq!(halves("2026-11-11", "2026-11-20", "2026-11-21T00:00:00Z"), Some(expected));
    }

    #[test]
    fn comparison_excludes_today_and_preserves_weekdays() {
        let expected = ["2026-11-15", "2026-11-20", "2026-11-08", "2026-11-13"].map(str::to_owned);
        assert_eq!(halves("2026-11-15", "2026-11-21", "2026-11-21T09:30:00Z"), Some(expected));
    }

    #[test]
    fn day_is_complete_from_midnight_utc() {
        assert!(period("2026-11-20", "2026-11-20", "2026-11-20T23:59:59.999Z").is_unfinished());
        assert!(!period("2026-11-20", "2026-11-20", "2026-11-21T00:00:00Z").is_unfinished());
        // Days with a clock change in Europe or America have 24 hours in UTC.
        for changed in ["2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01"] {
            let next = format!("{}T00:00:00Z", day(changed).plus_days(1));
            assert!(!period(changed, changed, &next).is_unfinished());
            assert!(period(changed, changed, &format!("{changed}T23:59:59Z")).is_unfinished());
        }
    }

    #[test]
    fn today_alone_compares_only_with_all_of_yesterday() {
        assert_eq!(halves("2026-11-21", "2026-11-21", "2026-11-21T12:00:00Z"), None);
        let today = period("2026-11-21", "2026-11-21", "2026-11-21T12:00:00Z");
        let earlier = |fetched_at| {
            let yesterday = period("2026-11-20", "2026-11-20", fetched_at);
            today.earlier(yesterday.days(), Compare::Previous).map(|earlier| earlier.from.to_string())
        };
        assert_eq!(earlier("2026-11-21T00:00:00Z").as_deref(), Some("2026-11-20"));
        assert_eq!(earlier("2026-11-20T23:00:00Z"), None);
    }

    #[test]
    fn compared_period_has_equal_length_weeks_or_a_year_earlier() {
        let finished = period("2026-11-18", "2026-11-20", "2026-11-21T00:00:00Z");
        let days = |compare| {
            finished
                .halves(compare)
                .map(|(_, before)| [before.from(), before.to()].map(|day| day.to_string()))
        };
        assert_eq!(days(Compare::Weekdays), Some(["2026-11-11", "2026-11-13"].map(str::to_owned)));
        assert_eq!(days(Compare::Year), Some(["2025-11-19", "2025-11-21"].map(str::to_owned)));
        assert_eq!(days(Compare::None), None);
    }
}
