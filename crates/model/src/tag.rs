//! Tags of jobs.

use std::fmt;
use std::str::FromStr;

use crate::ParseError;

/// The longest tag, in characters.
pub const TAG_MAX_CHARS: usize = 40;

/// A tag as typed: 1 to 40 letters, digits, `-`, `_`, `.` and single spaces between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag(String);

impl Tag {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The case-insensitive form, for comparison.
    pub fn folded(&self) -> String {
        fold(&self.0)
    }
}

/// `text` in lower case, for comparison.
pub fn fold(text: &str) -> String {
    text.to_lowercase()
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Tag {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let valid = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
        let fits = (1..=TAG_MAX_CHARS).contains(&text.chars().count()) && text.chars().all(valid);
        fits.then_some(Self(text))
            .ok_or("A tag is 1 to 40 letters, digits, hyphens, underscores, dots or spaces.".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_few_plain_words() {
        for (text, tag) in
            [("sdk-v3", "sdk-v3"), ("  Release  1.2 ", "Release 1.2"), ("Überblick_概要", "Überblick_概要")]
        {
            assert_eq!(text.parse::<Tag>().map(|tag| tag.to_string()), Ok(tag.to_owned()));
        }
        for text in ["", "   ", "/guides", "a,b", "a\tb", "<b>", "a&b", "\u{202e}x", &"a".repeat(41)] {
            assert!(text.parse::<Tag>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn tags_are_compared_ignoring_case() {
        let folded = |text: &str| text.parse::<Tag>().map(|tag| tag.folded());
        assert_eq!(folded("SDK"), folded("sdk"));
        assert_ne!(folded("sdk"), folded("sdk2"));
    }
}
