//! What a person chooses for a table of pages: its order, its tab, and the period to compare with.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ParseError;
use crate::day::DayRange;
use crate::page_views::ViewCounts;

const WEEK: i64 = 7;
/// The fewest days by which a month is shifted: 4 weeks.
const MONTH: i64 = 4 * WEEK;
/// 52 weeks.
const YEAR: i64 = 52 * WEEK;

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
    /// The share of AI agents in the views by people and AI.
    Share,
    /// The change of the chosen [`Readers`] against the previous period, in views.
    Difference,
    /// The same in percent.
    Change,
    Path,
}

/// Largest first, or smallest first with `-` before the key in the URL. For paths, A to Z and Z to A.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Order {
    pub by: Sort,
    pub reversed: bool,
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
    /// The same at least 28 days before: 28 days for up to 28 days, 35 for the longer months.
    Month,
    /// 52 weeks before, or 53 where 52 would overlap; for a range of several years, as many years before.
    Year,
    None,
}

/// Whose views a change is about. Figures of people and of AI are always beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_readers)]
pub enum Readers {
    People,
    Ai,
    /// The platform's total.
    #[default]
    All,
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
    /// Also pages that have views only in the compared period.
    #[default]
    All,
    Rising,
    /// Also pages that lost all views.
    Falling,
    /// The AI share changed.
    Share,
    /// The AI share rose.
    #[serde(rename = "share-rising")]
    #[strum(serialize = "share-rising")]
    ShareRising,
    /// The AI share fell.
    #[serde(rename = "share-falling")]
    #[strum(serialize = "share-falling")]
    ShareFalling,
    New,
    /// Views in the compared period, and none in the compared part of the range.
    Gone,
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

impl Order {
    /// Parses a field of a query; an empty one has no order.
    pub fn parse(text: Option<&str>) -> Result<Option<Self>, ParseError> {
        text.filter(|text| !text.is_empty()).map(str::parse).transpose()
    }
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

impl Compare {
    /// How many days before a range of `days` days its compared period begins.
    pub fn shift(self, days: i64) -> Option<i64> {
        match self {
            Self::Previous => Some(days),
            Self::Weekdays => Some(whole(days, WEEK)),
            Self::Month => Some(whole(days, WEEK).max(MONTH)),
            Self::Year => Some(years(days)),
            Self::None => None,
        }
    }

    /// The whole period that a range is compared with.
    pub fn period_before(self, range: DayRange) -> Option<DayRange> {
        let back = self.shift(range.days())?;
        Some(DayRange::ending(range.to().plus_days(-back), range.days()))
    }

    /// The name in URLs.
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::Previous => "Previous period",
            Self::Weekdays => "Same weekdays",
            Self::Month => "A month before",
            Self::Year => "A year before",
            Self::None => "Nothing",
        }
    }
}

/// `days`, rounded up to whole steps.
fn whole(days: i64, step: i64) -> i64 {
    (days + step - 1) / step * step
}

/// The fewest years of 52 or 53 weeks that have at least `days` days. A year of the calendar has one or two days more than 52 weeks.
fn years(days: i64) -> i64 {
    let weeks = whole(days, YEAR);
    let before = weeks - YEAR + WEEK;
    if weeks > YEAR && days <= before { before } else { weeks }
}

fn not_a_comparison(_: &str) -> ParseError {
    "Compare with previous, weekdays, month, year or none.".into()
}

impl Readers {
    /// On pages and in their exports. The default of endpoints is [`Self::All`].
    pub const ON_PAGES: Self = Self::People;

    /// Their views.
    pub const fn of(self, counts: ViewCounts) -> u64 {
        match self {
            Self::People => counts.human,
            Self::Ai => counts.ai,
            Self::All => counts.total,
        }
    }

    /// The name in URLs.
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::People => "People",
            Self::Ai => "AI",
            Self::All => "All",
        }
    }
}

fn not_readers(_: &str) -> ParseError {
    "The readers are people, ai or all.".into()
}

impl Tab {
    /// The name in URLs.
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Rising | Self::ShareRising => "Rising",
            Self::Falling | Self::ShareFalling => "Falling",
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
            Self::Share | Self::ShareRising | Self::ShareFalling => None,
        }
    }

    /// Whether it lists pages by the change of their AI share.
    pub const fn is_of_share(self) -> bool {
        matches!(self, Self::Share | Self::ShareRising | Self::ShareFalling)
    }
}

fn not_a_tab(_: &str) -> ParseError {
    "A tab is all, rising, falling, share, share-rising, share-falling, new or gone.".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::day::{Day, RANGE_MAX_DAYS};
    use proptest::prelude::*;
    use proptest::sample;

    #[test]
    fn compared_period_starts_whole_weeks_before_unless_previous() {
        let shifts = |days| Compare::VARIANTS.iter().map(|by| by.shift(days)).collect::<Vec<_>>();
        assert_eq!(shifts(28), [Some(28), Some(28), Some(28), Some(364), None]);
        assert_eq!(shifts(3), [Some(3), Some(7), Some(28), Some(364), None]);
        assert_eq!(shifts(31), [Some(31), Some(35), Some(35), Some(364), None]);
        assert_eq!(shifts(400), [Some(400), Some(406), Some(406), Some(728), None]);
    }

    #[test]
    fn calendar_year_is_compared_with_the_year_before() {
        let before = |from: &str, to: &str| {
            let range = DayRange::parse(from, to).unwrap_or_else(|error| panic!("{error}"));
            let before = Compare::Year.period_before(range).unwrap_or_else(|| panic!("no period"));
            [before.from(), before.to()].map(|day| day.to_string())
        };
        assert_eq!(before("2025-01-01", "2025-12-31"), ["2023-12-27", "2024-12-25"]);
        assert_eq!(before("2024-01-01", "2024-12-31"), ["2022-12-26", "2023-12-26"]);
        // Two years, of 731 days.
        assert_eq!(before("2024-01-01", "2025-12-31"), ["2021-12-27", "2023-12-27"]);
        assert_eq!(before("2025-01-01", "2025-12-30"), ["2024-01-03", "2024-12-31"]);
    }

    proptest! {
        #[test]
        fn compared_period_has_as_many_days_directly_before(
            later in 0..40_000i64,
            days in 1..=RANGE_MAX_DAYS,
            compare in sample::select(Compare::VARIANTS),
        ) {
            let first: Day = "1990-01-01".parse().unwrap_or_else(|error| panic!("{error}"));
            let last = first.plus_days(later);
            let range = DayRange::ending(last, days);
            let Some(before) = compare.period_before(range) else {
                prop_assert_eq!(compare, Compare::None);
                return Ok(());
            };
            prop_assert_eq!(before.days(), days);
            prop_assert!(before.to() < range.from(), "{before:?} overlaps {range:?}");
            let (back, apart) = (last.days_since(before.to()), range.from().days_since(before.to()));
            match compare {
                Compare::Previous => prop_assert_eq!(apart, 1),
                Compare::Weekdays => prop_assert!(back % 7 == 0 && apart <= 7, "{apart}"),
                Compare::Month => prop_assert!(back % 7 == 0 && back >= 28 && (back == 28 || apart <= 7), "{apart}"),
                _ => {
                    prop_assert!(back % 7 == 0 && (back % 364 == 0 || back % 364 == 7), "{back}");
                    // No smaller one would do.
                    let smaller = match back {
                        364 => 0,
                        _ if back % 364 == 7 => back - 7,
                        _ => back - 357,
                    };
                    prop_assert!(smaller < days, "{back} for {days}");
                }
            }
        }
    }

    #[test]
    fn tabs_and_readers_parse_from_their_names() {
        for tab in Tab::VARIANTS.iter().copied() {
            assert_eq!(tab.as_str().parse(), Ok(tab));
        }
        for readers in Readers::VARIANTS.iter().copied() {
            assert_eq!(readers.as_str().parse(), Ok(readers));
        }
        let counts = ViewCounts { human: 1, ai: 2, total: 4 };
        assert_eq!([Readers::People, Readers::Ai, Readers::All].map(|readers| readers.of(counts)), [1, 2, 4]);
        assert!("humans".parse::<Readers>().is_err());
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
