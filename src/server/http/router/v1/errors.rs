//! The errors of the endpoints, for their description.

use utoipa::IntoResponses;

use crate::server::request::problem::Problem;

/// The errors of endpoints that read.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes responses")]
pub(super) enum ReadErrors {
    /// Invalid input.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(Problem),
    /// The token is missing or not valid.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorized(Problem),
    /// The scope of the token or the role of its owner does not permit it.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(Problem),
    /// It does not exist, or the token does not include the project.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(Problem),
    /// Too many requests with this token. Wait for the seconds in `Retry-After`.
    #[response(status = 429, content_type = "application/problem+json")]
    TooManyRequests(Problem),
    /// Docket is overloaded, or its database does not respond. Try again.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(Problem),
}

/// The further errors of endpoints that change something.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes responses")]
pub(super) enum ChangeErrors {
    /// The state of the job does not permit it.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(Problem),
}

/// The further errors of endpoints that send a prompt. Status 429 also means that the hourly budget is spent.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes responses")]
pub(super) enum PromptErrors {
    /// The body did not arrive in time.
    #[response(status = 408, content_type = "application/problem+json")]
    Timeout(Problem),
    /// A prompt with this key is being sent, or the state of the job does not permit it.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(Problem),
    /// The body is too large.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(Problem),
    /// The body is not JSON.
    #[response(status = 415, content_type = "application/problem+json")]
    UnsupportedMediaType(Problem),
    /// Another prompt was sent with this key.
    #[response(status = 422, content_type = "application/problem+json")]
    IntentReused(Problem),
}
