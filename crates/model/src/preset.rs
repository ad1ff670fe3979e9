//! The most common ranges of days, so that a link can name them.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ParseError;
use crate::day::{Day, DayRange};

/// A range relative to today; all of them end today.
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
}

impl Preset {
    pub const ALL: [Self; Self::VARIANTS.len()] =
        *Self::VARIANTS.first_chunk().expect("the length is its own");
    /// The range of a query without dates.
    pub const DEFAULT: Self = Self::Days28;

    pub fn range(self, today: Day) -> DayRange {
        let days = match self {
            Self::Today => 1,
            Self::Days7 => 7,
            Self::Days28 => 28,
            Self::Days90 => 90,
            Self::MonthToDate => today.days_since(today.first_of_month()) + 1,
        };
        DayRange::ending(today, days)
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
        }
    }
}

fn not_a_preset(_: &str) -> ParseError {
    "The days are today, 7, 28, 90, month or all.".into()
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
}
