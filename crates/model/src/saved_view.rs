//! Saved views: filters of the list of jobs or of the analytics page, stored under a name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::ParseError;
use crate::name::is_plain;

/// The longest name, in characters.
pub const NAME_MAX_CHARS: usize = 60;

/// The error message for an invalid form.
pub const NAME_MISTAKE: &str =
    "A view’s name has 1 to 60 characters on one line and is unique among your views.";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedView {
    pub id: String,
    pub name: String,
    /// From [`JobQuery::canonical`](crate::job_query::JobQuery::canonical), or the query string of the analytics
    /// page.
    pub query: String,
    /// Whether everyone sees it.
    pub shared: bool,
    /// The owner's name.
    pub owner: String,
    /// Whether it belongs to the signed-in person.
    pub own: bool,
}

/// The page that a saved view belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_page)]
pub enum SavedViewPage {
    Jobs,
    Analytics,
}

/// The name of a saved view: 1 to 60 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedViewName(String);

impl SavedViewPage {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    /// The list of jobs by default.
    pub fn parse(word: Option<String>) -> Result<Self, ParseError> {
        match word.as_deref() {
            None | Some("") => Ok(Self::Jobs),
            Some(word) => word.parse(),
        }
    }
}

fn not_a_page(_: &str) -> ParseError {
    "Saved views are for jobs or analytics.".into()
}

impl SavedViewName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SavedViewName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SavedViewName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let fits = (1..=NAME_MAX_CHARS).contains(&text.chars().count()) && is_plain(text);
        fits.then(|| Self(text.to_owned()))
            .ok_or("A view’s name has 1 to 60 characters on one line, all visible.".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_view_is_one_nonempty_line() {
        assert_eq!(
            "  Needs me ".parse::<SavedViewName>().map(|name| name.to_string()),
            Ok("Needs me".to_owned())
        );
        assert!("é".repeat(60).parse::<SavedViewName>().is_ok());
        for text in ["", " \n ", "a\nb", "a\0b", &"é".repeat(61)] {
            assert!(text.parse::<SavedViewName>().is_err(), "{text:?}");
        }
    }
}
