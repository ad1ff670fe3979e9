//! What a person chooses for a table of pages: its order, its tab, and the period to compare with.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ParseError;

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

fn not_a_comparison(_: &str) -> ParseError {
    "Compare with previous, weekdays, year or none.".into()
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

fn not_a_tab(_: &str) -> ParseError {
    "A tab is all, rising, falling, share, new or gone.".into()
}

#[cfg(test)]
mod tests {
    use super::*;

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
