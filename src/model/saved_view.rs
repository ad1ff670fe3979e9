//! Filters of the list of jobs that somebody keeps under a name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::name::is_plain;

/// The longest name, in characters.
pub const NAME_MAX_CHARS: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedView {
    pub id: String,
    pub name: String,
    /// As [`JobQuery::canonical`](crate::model::job_query::JobQuery::canonical) writes it.
    pub query: String,
    /// Whether everybody sees it.
    pub shared: bool,
    /// Whose it is.
    pub owner: String,
    /// Whether it is the asking person's own.
    pub own: bool,
}

/// What a view may be called: 1 to 60 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewName(String);

impl ViewName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ViewName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ViewName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let fits = (1..=NAME_MAX_CHARS).contains(&text.chars().count()) && is_plain(text);
        fits.then(|| Self(text.to_owned()))
            .ok_or("The name of a view is 1 to 60 characters on one line, all of which can be seen.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_that_says_something() {
        assert_eq!("  Needs me ".parse::<ViewName>().map(|name| name.to_string()), Ok("Needs me".to_owned()));
        assert!("é".repeat(60).parse::<ViewName>().is_ok());
        for text in ["", " \n ", "a\nb", "a\0b", &"é".repeat(61)] {
            assert!(text.parse::<ViewName>().is_err(), "{text:?}");
        }
    }
}
