//! The errors of the endpoints, for their description.

use utoipa::IntoResponses;

use crate::request::problem::ProblemBody;

/// The errors of endpoints that read.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes responses")]
pub(super) enum ReadErrors {
    /// Invalid input.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(ProblemBody),
    /// The token is missing or not valid.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorized(ProblemBody),
    /// The scope of the token or the role of its owner does not permit it.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(ProblemBody),
    /// It does not exist, or the token does not include the project.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemBody),
    /// Too many requests with this token. Wait for the seconds in `Retry-After`.
    #[response(status = 429, content_type = "application/problem+json")]
    TooManyRequests(ProblemBody),
    /// Docket is overloaded, or its database does not respond. Try again.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(ProblemBody),
}

/// The further errors of tables that are continued by a cursor.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes responses")]
pub(super) enum CursorErrors {
    /// The figures changed since the cursor was written. Start again without a cursor.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemBody),
}

/// The further errors of endpoints that change something.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes responses")]
pub(super) enum ChangeErrors {
    /// The state of the job does not permit it.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemBody),
}

/// The further errors of endpoints that send a prompt. Status 429 also means that the hourly budget is spent.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes responses")]
pub(super) enum PromptErrors {
    /// The body did not arrive in time.
    #[response(status = 408, content_type = "application/problem+json")]
    Timeout(ProblemBody),
    /// A prompt with this key is being sent, or the state of the job does not permit it.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemBody),
    /// The body is too large.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(ProblemBody),
    /// The body is not JSON.
    #[response(status = 415, content_type = "application/problem+json")]
    UnsupportedMediaType(ProblemBody),
    /// A request with another body was sent with this key.
    #[response(status = 422, content_type = "application/problem+json")]
    IntentReused(ProblemBody),
    /// Requests are paused, because the platform fails or has no AI credits, and `queue` is not set. Wait for the seconds in `Retry-After`.
    #[response(status = 502, content_type = "application/problem+json")]
    Paused(ProblemBody),
}
