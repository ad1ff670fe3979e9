//! Error responses, in the shape of their area.

use axum::Json;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An error response: `{"error"}` of the agent operations, `{"error", "details"}` of analytics.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    retry_after: Option<u64>,
    body: Body,
}

#[derive(Debug, Serialize)]
struct Body {
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Vec<Detail>>,
}

#[derive(Debug, Serialize)]
struct Detail {
    message: String,
}

impl Refusal {
    /// The error shape of the agent operations.
    pub(super) fn agent(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, retry_after: None, body: Body { error: error.into(), details: None } }
    }

    /// The error shape of analytics, with one detail for each problem.
    pub(super) fn analytics(status: StatusCode, error: &str, problems: Vec<String>) -> Self {
        let details = problems.into_iter().map(|message| Detail { message }).collect();
        Self { status, retry_after: None, body: Body { error: error.to_owned(), details: Some(details) } }
    }

    /// Adds the number of whole seconds after which a call will be accepted.
    pub(super) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// The key is checked before the area is determined: one shape for all.
    pub(super) fn wrong_key() -> Self {
        Self::agent(StatusCode::UNAUTHORIZED, "Invalid or missing API key")
    }

    pub(super) fn no_such_route() -> Self {
        Self::agent(StatusCode::NOT_FOUND, "Not found")
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
