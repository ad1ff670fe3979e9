//! [`AppError`]: the only error type that clients receive, with a code for programs and a message for people. Must not depend
//! on sqlx or reqwest, nor contain a key, SQL or a backtrace.

mod code;
mod database;
#[cfg(feature = "server_fn")]
mod server_function;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ParseError;
use crate::day::InvalidDay;
use crate::id::InvalidId;

pub use self::code::{CodeRow, ErrorCode, Retry};

/// An error: `{"code": "...", "message": "..."}` on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppError {
    pub code: ErrorCode,
    /// What happened and what to do, in one or two sentences.
    pub message: String,
    /// When to try again, in seconds, if the cause has a time of its own. A header has it.
    #[serde(skip)]
    pub retry_after: Option<u32>,
    /// The field of the request that is wrong, if one is. The JSON API names it.
    #[serde(skip)]
    pub field: Option<&'static str>,
}

/// The maximum length of a message, in characters. Messages contain input, which may be longer than a response.
const MESSAGE_MAX_CHARS: usize = 1_000;
/// The number of characters that remain at the end of a longer message. They say what to do.
const END_CHARS: usize = 300;

/// A message without its middle, if it is too long.
pub fn shortened(message: String) -> String {
    let chars = if message.len() <= MESSAGE_MAX_CHARS { 0 } else { message.chars().count() };
    if chars <= MESSAGE_MAX_CHARS {
        return message;
    }
    let begin = message.chars().take(MESSAGE_MAX_CHARS - END_CHARS - 1);
    begin.chain(['…']).chain(message.chars().skip(chars - END_CHARS)).collect()
}

impl AppError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: shortened(message.into()), retry_after: None, field: None }
    }

    /// With the field of the request that is wrong.
    pub fn about(self, field: &'static str) -> Self {
        Self { field: Some(field), ..self }
    }

    /// With the time after which the cause is over.
    pub fn retry_in(self, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        Self { retry_after: Some(u32::try_from(seconds).unwrap_or(u32::MAX)), ..self }
    }

    /// The message about a similar job, used by the server and by the page shown again without JavaScript.
    pub const SIMILAR_JOB: &'static str = "Nothing was sent: a similar job is running or finished recently. Choose “Start another” to start yours anyway.";

    pub fn bad_input(message: impl fmt::Display) -> Self {
        Self::new(ErrorCode::BadInput, message.to_string())
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// The request does not fit the current state.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Conflict, message)
    }

    /// The browser's message when it cannot reach Docket.
    pub fn unreachable() -> Self {
        Self::new(
            ErrorCode::Unreachable,
            "Docket could not be reached. Your text is kept. Check the connection and try again.",
        )
    }

    /// An unexpected error.
    pub fn internal() -> Self {
        Self::new(ErrorCode::Internal, "Docket met an unexpected error. Try again.")
    }
}

/// An error about what a person entered. Its text is a sentence for this person.
pub trait BadInput: fmt::Display {}

impl BadInput for ParseError {}
impl BadInput for InvalidId {}
impl BadInput for InvalidDay {}

impl<E: BadInput> From<E> for AppError {
    fn from(error: E) -> Self {
        Self::bad_input(error)
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AppError {}
