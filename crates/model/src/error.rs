//! [`AppError`]: the only error type that clients receive, with a code for programs and a message for people. Must not depend
//! on sqlx or reqwest, nor contain a key, SQL or a backtrace.

mod database;
#[cfg(feature = "server_fn")]
mod server_function;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ParseError;
use crate::day::InvalidDay;
use crate::id::InvalidId;
use crate::limits::Limit;

/// An error: `{"code": "...", "message": "..."}` on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppError {
    pub code: ErrorCode,
    /// What happened and what to do, in one or two sentences.
    pub message: String,
}

/// The kind of error. Programs may rely on these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    BadInput,
    Unauthenticated,
    Forbidden,
    /// A second factor is required, and this person has none yet.
    SecondFactorRequired,
    NotFound,
    /// The daily history does not contain every requested day.
    NotInHistory,
    /// A delivery with the same intent is in progress.
    IntentReused,
    /// The resource changed since it was read.
    Conflict,
    /// A similar job exists, and the form requested a warning.
    SimilarJob,
    /// The prompt has an unfilled placeholder, and the form requested a warning.
    UnfilledPlaceholder,
    BudgetSpent,
    /// Too many sign-in attempts.
    TooManyAttempts,
    UpstreamFailed,
    /// Docket is overloaded at the moment.
    Busy,
    DatabaseUnavailable,
    UpstreamSlow,
    /// The browser could not reach Docket; never sent by the server.
    Unreachable,
    Internal,
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
        Self { code, message: shortened(message.into()) }
    }

    /// The message about a similar job, used by the server and by the page shown again without JavaScript.
    pub const SIMILAR_JOB: &'static str = "Nothing was sent: a similar job is running or finished recently. Send it again to start yours anyway.";

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

impl ErrorCode {
    /// The HTTP status of a response with this code.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadInput => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden | Self::SecondFactorRequired => 403,
            Self::NotFound => 404,
            Self::Conflict | Self::NotInHistory | Self::SimilarJob | Self::UnfilledPlaceholder => 409,
            Self::IntentReused => 422,
            Self::BudgetSpent | Self::TooManyAttempts => 429,
            Self::UpstreamFailed => 502,
            Self::Busy | Self::DatabaseUnavailable => 503,
            Self::UpstreamSlow => 504,
            Self::Unreachable | Self::Internal => 500,
        }
    }
}

/// An error about what a person entered. Its text is a sentence for this person.
pub trait BadInput: fmt::Display {}

impl BadInput for ParseError {}
impl BadInput for InvalidId {}
impl BadInput for InvalidDay {}
impl BadInput for &Limit {}

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
