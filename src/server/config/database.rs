//! The database URL.

use super::source::{ConfigError, Source};

pub struct Database {
    /// `sqlite://PATH`, the path relative to the working directory unless it starts with `/`.
    pub url: String,
}

impl Database {
    pub fn from_source(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self { url: source.or_default("database_url", database_url)? })
    }
}

fn database_url(text: &str) -> Result<String, String> {
    match text.split_once("://") {
        Some(("sqlite", path)) if !path.is_empty() => Ok(text.to_owned()),
        _ => Err(format!("“{text}” is not sqlite://PATH")),
    }
}
