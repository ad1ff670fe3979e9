//! [`ParseError`].

use std::borrow::Cow;
use std::fmt;

/// Why a text is not a value of its type: a sentence for the person who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError(Cow<'static, str>);

impl From<&'static str> for ParseError {
    fn from(sentence: &'static str) -> Self {
        Self(sentence.into())
    }
}

impl From<String> for ParseError {
    fn from(sentence: String) -> Self {
        Self(sentence.into())
    }
}

impl std::error::Error for ParseError {}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
