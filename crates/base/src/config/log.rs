//! Log filter and format.

use strum::EnumString;

use super::error::ConfigError;
use super::source::Source;

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
        let raw = &source.raw;
        Ok(Self {
            filter: raw.log.parse(filter)?,
            format: raw.log_format.parse(str::parse)?,
            is_default: !raw.log.is_set(),
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
