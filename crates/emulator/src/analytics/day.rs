//! UTC days and ranges of them, independent of Docket's own.

use std::ops::Range;

use time::OffsetDateTime;

use crate::clock::Timestamp;

const DAY_MILLIS: i64 = 86_400_000;

/// Days since 1970-01-01, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(pub(super) i64);

impl Day {
    pub(super) fn of(at: Timestamp) -> Self {
        Self(at.as_millis().div_euclid(DAY_MILLIS))
    }

    pub(super) fn of_datetime(at: OffsetDateTime) -> Self {
        Self(at.unix_timestamp().div_euclid(DAY_MILLIS / 1000))
    }

    /// The elapsed fraction of the day at `now`: 0 before it begins, 1 after it ends.
    pub(super) fn gone_by(self, now: Timestamp) -> f64 {
        let into = now.as_millis().saturating_sub(self.0.saturating_mul(DAY_MILLIS));
        into.clamp(0, DAY_MILLIS) as f64 / DAY_MILLIS as f64
    }

    pub(super) fn is_weekend(self) -> bool {
        // 1970-01-01 was a Thursday.
        matches!((self.0 + 4).rem_euclid(7), 0 | 6)
    }

    pub(super) fn days_since(self, earlier: Self) -> f64 {
        (self.0 - earlier.0) as f64
    }
}

/// Every day from the first up to, but not including, the second.
pub(super) fn each(days: Range<Day>) -> impl Iterator<Item = Day> {
    (days.start.0..days.end.0).map(Day)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::NOW;
    use super::*;

    #[test]
    fn elapsed_fraction_grows_from_zero_to_one() {
        let today = Day::of(NOW);
        assert_eq!(today.gone_by(NOW), 9.5 / 24.0);
        assert_eq!(Day(today.0 - 1).gone_by(NOW), 1.0);
        assert_eq!(Day(today.0 + 1).gone_by(NOW), 0.0);
    }

    #[test]
    fn saturday_and_sunday_are_the_weekend() {
        let saturday = Day::of(NOW).0;
        let weekend = (saturday - 1..saturday + 6).map(|day| Day(day).is_weekend());
        assert!(weekend.eq([false, true, true, false, false, false, false]));
        assert!(Day(2).is_weekend() && !Day(-1).is_weekend() && Day(-4).is_weekend());
    }
}
