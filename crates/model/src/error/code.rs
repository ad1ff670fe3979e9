//! The table of error codes: for each code its status, its meaning, and whether to send the request again. The documents and OpenAPI have it from here.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use strum::{IntoStaticStr, VariantArray};

/// The kind of error. Programs may rely on these names. Each has one cause, which [`ErrorCode::row`] describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ErrorCode {
    BadInput,
    IdempotencyKeyRequired,
    Unauthenticated,
    MissingToken,
    InvalidToken,
    Forbidden,
    InsufficientScope,
    WrongOrigin,
    SecondFactorRequired,
    NotFound,
    MethodNotAllowed,
    NotAcceptable,
    TooSlow,
    Conflict,
    NotAccepted,
    FiguresChanged,
    NotInHistory,
    SimilarJob,
    UnfilledPlaceholder,
    TooLarge,
    UnsupportedMediaType,
    WrongHost,
    IntentReused,
    QueryTooSlow,
    ResultTooLarge,
    TooManyRequests,
    BudgetSpent,
    QueueFull,
    TooManyUnsent,
    TooManyAttempts,
    Internal,
    /// The browser could not reach Docket; never sent by the server.
    Unreachable,
    UpstreamFailed,
    NoCredits,
    Busy,
    DatabaseUnavailable,
    UpstreamSlow,
}

/// Whether a client should send the same request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It would fail again.
    Never,
    /// After the time in the header `Retry-After`: these seconds, unless the cause has a time of its own.
    After(u32),
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeRow {
    /// The HTTP status of a response with this code.
    pub status: u16,
    pub retry: Retry,
    /// The cause, and what to do.
    pub meaning: &'static str,
}

impl ErrorCode {
    /// Those that responses of the JSON API and of MCP can have.
    pub fn of_api() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied().filter(|code| code.in_api() == *code)
    }

    /// The code that a response of the JSON API has instead of one that only pages have.
    pub const fn in_api(self) -> Self {
        match self {
            Self::Unauthenticated => Self::InvalidToken,
            Self::SecondFactorRequired => Self::Forbidden,
            Self::SimilarJob => Self::Conflict,
            Self::TooManyAttempts => Self::TooManyRequests,
            Self::Unreachable => Self::Internal,
            code => code,
        }
    }

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    /// The HTTP status of a response with this code.
    pub const fn status(self) -> u16 {
        self.row().status
    }

    /// The seconds of the header `Retry-After`, unless the cause has a time of its own.
    pub const fn retry_after(self) -> Option<u32> {
        match self.row().retry {
            Retry::Never => None,
            Retry::After(seconds) => Some(seconds),
        }
    }

    /// The row of the table.
    pub const fn row(self) -> CodeRow {
        use Retry::{After, Never};
        match self {
            Self::BadInput => row(400, Never, "a part of the request is not valid; `errors` names it"),
            Self::IdempotencyKeyRequired => {
                row(400, Never, "the header `Idempotency-Key` is missing, or there are several")
            }
            Self::Unauthenticated => row(401, Never, "there is no session, or it has ended"),
            Self::MissingToken => row(401, Never, "there is no header `Authorization: Bearer …`"),
            Self::InvalidToken => row(
                401,
                Never,
                "the token is incomplete, unknown, expired or revoked, or its owner is disabled; also if that happened during the request",
            ),
            Self::Forbidden => row(403, Never, "the role of the owner does not permit it"),
            Self::InsufficientScope => row(403, Never, "the token does not have the scope"),
            Self::WrongOrigin => {
                row(403, Never, "only `/mcp`: the header `Origin` says that a page in a browser sent it")
            }
            Self::SecondFactorRequired => {
                row(403, Never, "a second factor is required, and this person has none yet")
            }
            Self::NotFound => row(
                404,
                Never,
                "there is no such endpoint or object, or the token does not include the project",
            ),
            Self::MethodNotAllowed => row(405, Never, "the header `Allow` has the permitted methods"),
            Self::NotAcceptable => row(406, Never, "only `/mcp`: the header `Accept` does not permit JSON"),
            Self::TooSlow => row(408, After(1), "the body did not arrive in time"),
            Self::Conflict => row(409, Never, "the present state of the object does not permit it"),
            Self::NotAccepted => row(
                409,
                Never,
                "the platform has not accepted the job yet, or it is unknown whether it did, so that there is nothing to follow up: wait until its state is `active`",
            ),
            Self::FiguresChanged => row(
                409,
                Never,
                "the page views changed since the cursor was written: start again without a cursor",
            ),
            Self::NotInHistory => row(409, Never, "the daily history does not have every day that is needed"),
            Self::SimilarJob => row(409, Never, "a similar job exists, and the form asked for a warning"),
            Self::UnfilledPlaceholder => row(409, Never, "a placeholder of the template has no value"),
            Self::TooLarge => row(413, Never, "the body is too large"),
            Self::UnsupportedMediaType => row(415, Never, "the body is not JSON, or it is compressed"),
            Self::WrongHost => row(421, Never, "the header `Host` is not that of Docket’s public address"),
            Self::IntentReused => row(422, Never, "the idempotency key belongs to another request"),
            Self::QueryTooSlow => row(
                422,
                Never,
                "the query was stopped after 2 seconds: ask for less, for example with a longer word or another filter",
            ),
            Self::ResultTooLarge => row(
                422,
                Never,
                "only `/mcp`: the result is larger than 1 MiB: ask for less, or use the JSON API",
            ),
            Self::TooManyRequests => {
                row(429, After(1), "too many requests with this token, or with invalid tokens")
            }
            Self::BudgetSpent => row(
                429,
                After(60),
                "the hourly budget is spent, and nothing was sent: send it later, or with `\"queue\": true`",
            ),
            Self::QueueFull => row(
                429,
                After(60),
                "the owner has too many prompts in the queue, and nothing was added: wait, or cancel some",
            ),
            Self::TooManyUnsent => row(
                429,
                After(3_600),
                "too many prompts of the owner were cancelled or not accepted in 24 hours",
            ),
            Self::TooManyAttempts => row(429, After(60), "too many attempts to sign in"),
            Self::Internal => row(500, After(10), "an unexpected error: the log has it, with the request id"),
            Self::Unreachable => row(500, Never, "the browser could not reach Docket"),
            Self::UpstreamFailed => {
                row(502, After(30), "the platform fails or refuses requests, and nothing was sent")
            }
            Self::NoCredits => row(
                503,
                After(3_600),
                "the platform has no AI credits, and nothing was sent: send it later, or with `\"queue\": true`",
            ),
            Self::Busy => row(503, After(5), "too many requests at once, of everybody or of the owner"),
            Self::DatabaseUnavailable => {
                row(503, After(10), "the database does not respond, or Docket is starting")
            }
            Self::UpstreamSlow => row(504, After(30), "the platform did not respond in time"),
        }
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// By the table of names: what serde derives is code for each variant, once for each format. A page that is older than the server may not know a code:
/// its message counts then.
impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::VARIANTS.iter().copied().find(|code| code.as_str() == name);
        Ok(found.unwrap_or(Self::Internal))
    }
}

const fn row(status: u16, retry: Retry, meaning: &'static str) -> CodeRow {
    CodeRow { status, retry, meaning }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_one_name_and_pages_share_those_of_the_api() {
        for code in ErrorCode::VARIANTS.iter().copied() {
            let name = serde_json::to_value(code).expect("a code is a text");
            assert_eq!(name, code.as_str());
            assert_eq!(serde_json::from_value::<ErrorCode>(name).expect("the name of a code"), code);
            let in_api = code.in_api();
            assert_eq!((in_api.in_api(), in_api.status()), (in_api, code.status()), "{code:?}");
        }
    }

    #[test]
    fn message_of_an_unknown_code_is_kept() {
        let error = r#"{"code":"teapot","message":"Short and stout."}"#;
        let error = serde_json::from_str::<crate::error::AppError>(error).expect("an error");
        assert_eq!((error.code, &*error.message), (ErrorCode::Internal, "Short and stout."));
        assert!(serde_json::from_str::<ErrorCode>("1").is_err());
    }

    #[test]
    fn each_temporary_error_says_when_to_try_again() {
        for code in ErrorCode::VARIANTS.iter().copied() {
            let CodeRow { status, retry, meaning } = code.row();
            let may_be_repeated =
                matches!(status, 408 | 429 | 500 | 502..=504) && code != ErrorCode::Unreachable;
            assert_eq!(retry != Retry::Never, may_be_repeated, "{code:?}");
            assert!(!meaning.is_empty() && !meaning.ends_with('.') && !meaning.contains('|'), "{code:?}");
        }
    }
}
