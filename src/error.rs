//! [`AppError`]: the one error that crosses the wire, a code for programs and a sentence for people.
//! Must not know sqlx or reqwest, nor carry a key, an SQL text or a backtrace.

use std::fmt;

use leptos::server_fn::codec::JsonEncoding;
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Serialize};

/// What went wrong: `{"code": "...", "message": "..."}` on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppError {
    pub code: ErrorCode,
    /// A sentence a person can act on.
    pub message: String,
}

/// Why, in one word that programs may rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    BadInput,
    Unauthenticated,
    Forbidden,
    NotFound,
    /// The daily history does not hold every day that was asked about.
    NotInHistory,
    /// The same intent came with another text.
    IntentReused,
    /// What was to be changed is not as it was any more.
    Conflict,
    /// A form that wanted to be asked first: a job like it is under way or has an open result.
    SimilarJob,
    BudgetSpent,
    /// Somebody tried to sign in too often.
    TooManyAttempts,
    UpstreamFailed,
    DatabaseUnavailable,
    UpstreamSlow,
    /// The browser could not reach Docket; never sent by the server.
    Unreachable,
    Internal,
}

impl AppError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// What is said before a job is started that resembles another one: by the server, and by a page that was sent back.
    pub const SIMILAR_JOB: &'static str = "Nothing was sent yet: a job like this one is under way or has an open result. To start yours all the same, send it again.";

    pub fn bad_input(message: impl fmt::Display) -> Self {
        Self::new(ErrorCode::BadInput, message.to_string())
    }

    pub fn database_unavailable() -> Self {
        Self::new(
            ErrorCode::DatabaseUnavailable,
            "Docket's database did not answer, and nothing was sent. Please try again in a moment.",
        )
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// What was asked for does not fit what is there by now.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Conflict, message)
    }

    /// What the browser says when it could not reach Docket.
    pub fn unreachable() -> Self {
        Self::new(
            ErrorCode::Unreachable,
            "Docket could not be reached. Nothing you typed is lost; check the connection and try again.",
        )
    }

    /// Something that should not happen.
    pub fn internal() -> Self {
        Self::new(ErrorCode::Internal, "Something went wrong on our side. Please try again.")
    }
}

impl ErrorCode {
    /// The HTTP status of an answer with this code.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadInput => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict | Self::NotInHistory | Self::SimilarJob => 409,
            Self::IntentReused => 422,
            Self::BudgetSpent | Self::TooManyAttempts => 429,
            Self::UpstreamFailed => 502,
            Self::DatabaseUnavailable => 503,
            Self::UpstreamSlow => 504,
            Self::Unreachable | Self::Internal => 500,
        }
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AppError {}

impl FromServerFnError for AppError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Args(_)
            | ServerFnErrorErr::MissingArg(_)
            | ServerFnErrorErr::Deserialization(_) => {
                Self::bad_input("A field is missing or is not of the expected kind.")
            }
            ServerFnErrorErr::Request(_) => Self::unreachable(),
            _ => Self::internal(),
        }
    }
}
