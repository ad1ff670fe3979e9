//! The most common ranges of days, so that a link can name them.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ParseError;
use crate::day::{Day, DayRange};

/// A range relative to today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_preset)]
pub enum Preset {
    #[strum(serialize = "today")]
    Today,
    #[strum(serialize = "7")]
    Days7,
    #[strum(serialize = "28")]
    Days28,
    #[strum(serialize = "90")]
    Days90,
    #[strum(serialize = "month")]
    MonthToDate,
    #[strum(serialize = "last-month")]
    LastMonth,
    #[strum(serialize = "last-quarter")]
    LastQuarter,
}

impl Preset {
    pub const ALL: [Self; Self::VARIANTS.len()] =
        *Self::VARIANTS.first_chunk().expect("the length is its own");
    /// The range of a query without dates.
    pub const DEFAULT: Self = Self::Days28;

    pub fn range(self, today: Day) -> DayRange {
        let before = |first: Day| first.plus_days(-1);
        let month = today.first_of_month();
        let (first, last) = match self {
            Self::Today => (today, today),
            Self::Days7 => (today.plus_days(-6), today),
            Self::Days28 => (today.plus_days(-27), today),
            Self::Days90 => (today.plus_days(-89), today),
            Self::MonthToDate => (month, today),
            Self::LastMonth => (before(month).first_of_month(), before(month)),
            Self::LastQuarter => {
                let last = before(today.first_of_quarter());
                (last.first_of_quarter(), last)
            }
        };
        DayRange::ending(last, last.days_since(first) + 1)
    }

    /// Whether it ends today.
    pub const fn ends_today(self) -> bool {
        !matches!(self, Self::LastMonth | Self::LastQuarter)
    }

    /// The name in URLs and saved views.
    pub const fn word(self) -> &'static str {
        self.into_str()
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::Today => "Today",
            Self::Days7 => "7 days",
            Self::Days28 => "28 days",
            Self::Days90 => "90 days",
            Self::MonthToDate => "Month to date",
            Self::LastMonth => "Last month",
            Self::LastQuarter => "Last quarter",
        }
    }
}

fn not_a_preset(_: &str) -> ParseError {
    "The days are today, 7, 28, 90, month, last-month, last-quarter or all.".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn month_to_date_begins_on_the_first() {
        let range = Preset::MonthToDate.range(day("2026-11-21"));
        assert_eq!((range.from(), range.to()), (day("2026-11-01"), day("2026-11-21")));
    }

    #[test]
    fn last_month_and_last_quarter_are_those_of_the_calendar() {
        for (preset, today, from, to) in [
            (Preset::LastMonth, "2026-11-21", "2026-10-01", "2026-10-31"),
            (Preset::LastMonth, "2028-03-01", "2028-02-01", "2028-02-29"),
            (Preset::LastMonth, "2026-01-31", "2025-12-01", "2025-12-31"),
            (Preset::LastQuarter, "2026-11-21", "2026-07-01", "2026-09-30"),
            (Preset::LastQuarter, "2026-10-01", "2026-07-01", "2026-09-30"),
            (Preset::LastQuarter, "2026-03-31", "2025-10-01", "2025-12-31"),
            (Preset::LastQuarter, "2026-06-30", "2026-01-01", "2026-03-31"),
        ] {
            let range = preset.range(day(today));
            assert_eq!((range.from(), range.to()), (day(from), day(to)), "{today}");
        }
    }

    #[test]
    fn presets_that_end_today_have_their_days() {
        let today = day("2026-11-21");
        let days = Preset::ALL.into_iter().filter(|preset| preset.ends_today());
        let days = days.map(|preset| (preset.range(today).to(), preset.range(today).days()));
        assert_eq!(days.collect::<Vec<_>>(), [1, 7, 28, 90, 21].map(|days| (today, days)));
    }
}
