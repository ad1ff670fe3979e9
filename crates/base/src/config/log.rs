//! Log filter and format.

use strum::EnumString;

use super::source::{ConfigError, Source};

pub struct Log {
    /// A filter in the syntax of `tracing_subscriber::EnvFilter`.
    pub filter: String,
    pub format: LogFormat,
    /// Whether the filter is the default.
    pub is_default: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = not_a_format)]
pub enum LogFormat {
    Text,
    Json,
}

impl Log {
    pub fn from_source(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self {
            filter: source.or_default("log", filter)?,
            format: source.or_default("log_format", str::parse)?,
            is_default: source.optional("log", filter)?.is_none(),
        })
    }
}

fn filter(text: &str) -> Result<String, String> {
    tracing_subscriber::EnvFilter::try_new(text)
        .map(|_| text.to_owned())
        .map_err(|error| format!("“{text}” is not a filter ({error})"))
}

fn not_a_format(text: &str) -> String {
    format!("“{text}” is neither text nor json")
}
