//! Paging of the upstream's page views: `limit` 1..=250, `offset` from 0.

use serde::{Deserialize, Serialize};

use crate::ParseError;

/// The number of rows in a response: 1..=250, by default 50.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct PageLimit(u32);

/// Which rows of a table: at most `limit`, after the first `offset`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Paging {
    pub limit: PageLimit,
    pub offset: u64,
}

impl Paging {
    /// By default the first 50 rows.
    pub fn parse(limit: Option<i64>, offset: Option<i64>) -> Result<Self, ParseError> {
        let limit = match limit {
            None => PageLimit::DEFAULT,
            Some(limit) => PageLimit::try_from(u32::try_from(limit).unwrap_or(0))?,
        };
        let offset = u64::try_from(offset.unwrap_or(0));
        Ok(Self { limit, offset: offset.map_err(|_| ParseError::from("The offset is 0 or more rows."))? })
    }
}

impl PageLimit {
    pub const DEFAULT: Self = Self(50);
    pub const MAX: u32 = 250;
    pub const SMALLEST: Self = Self(1);
    pub const LARGEST: Self = Self(Self::MAX);

    pub const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for PageLimit {
    type Error = ParseError;

    fn try_from(limit: u32) -> Result<Self, Self::Error> {
        match limit {
            1..=Self::MAX => Ok(Self(limit)),
            _ => Err("The page size must be between 1 and 250 rows.".into()),
        }
    }
}

impl From<PageLimit> for u32 {
    fn from(limit: PageLimit) -> Self {
        limit.0
    }
}

impl Default for PageLimit {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_between_1_and_250() {
        let valid: Vec<u32> = (0..300).filter(|limit| PageLimit::try_from(*limit).is_ok()).collect();
        assert_eq!((valid.first(), valid.last(), valid.len()), (Some(&1), Some(&250), 250));
    }

    #[test]
    fn first_50_rows_are_the_default() {
        assert_eq!(Paging::parse(None, None).map(|rows| (rows.limit.get(), rows.offset)), Ok((50, 0)));
    }

    #[test]
    fn invalid_paging_is_refused_with_a_sentence() {
        for (limit, offset) in [(Some(0), None), (Some(251), None), (Some(i64::MAX), None), (None, Some(-1))]
        {
            let refused = Paging::parse(limit, offset).map_err(|error| error.to_string());
            assert!(refused.is_err_and(|message| message.ends_with('.')), "{limit:?} {offset:?}");
        }
    }
}
