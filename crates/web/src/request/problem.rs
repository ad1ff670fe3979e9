//! Errors of the JSON API: `application/problem+json` (RFC 9457), with a `code` for programs.

use std::borrow::Cow;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::request::error_response::status_of;
use model::error::{AppError, ErrorCode, shortened};

pub const CONTENT_TYPE: &str = "application/problem+json";

/// An extension of responses whose errors have a format of their own: they are not converted.
#[derive(Clone, Copy)]
pub struct OwnFormat;

/// The maximum size of a body that is converted, in bytes.
const BODY_MAX_BYTES: usize = 64 * 1024;

/// An error response of the JSON API.
#[derive(Debug, Clone)]
pub struct Problem {
    body: ProblemBody,
    /// The header `Retry-After`, in seconds.
    retry_after: Option<u64>,
}

/// An error response of the JSON API.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// Always `about:blank`: `code` identifies the problem.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The phrase of the status, such as `Not Found`.
    title: &'static str,
    status: u16,
    /// What happened and what to do, in one or two sentences.
    detail: String,
    /// Programs may rely on it.
    #[schema(value_type = String)]
    code: Cow<'static, str>,
}

impl Problem {
    pub fn new(status: StatusCode, code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error");
        let body = ProblemBody {
            kind: "about:blank",
            title,
            status: status.as_u16(),
            detail: shortened(detail.into()),
            code: code.into(),
        };
        Self { body, retry_after: None }
    }

    /// Tells the client to try again after this time.
    pub fn with_retry_after(self, wait: Duration) -> Self {
        Self { retry_after: Some(seconds(wait)), ..self }
    }

    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.body.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub fn detail(&self) -> &str {
        &self.body.detail
    }

    pub fn code(&self) -> &str {
        &self.body.code
    }
}

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        Self::new(status_of(error.code), name(error.code), error.message)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status(), axum::Json(&self.body)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Converts the errors of layers that also serve pages.
pub async fn complete(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    let content_type = response.headers().get(header::CONTENT_TYPE).cloned();
    let has_own_format = response.extensions().get::<OwnFormat>().is_some();
    if !is_error || has_own_format || content_type.as_ref().is_some_and(|kind| kind == CONTENT_TYPE) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, BODY_MAX_BYTES).await.unwrap_or_default();
    // The transport of MCP names no type.
    let is_text = content_type.is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    let problem = match serde_json::from_slice::<AppError>(&body) {
        Ok(error) => Problem::new(parts.status, name(error.code), error.message),
        Err(_) => {
            let detail =
                str::from_utf8(&body).ok().map(str::trim_end).filter(|text| is_text && !text.is_empty());
            Problem::new(
                parts.status,
                code_of(parts.status),
                sentence(detail.unwrap_or("The request failed.")),
            )
        }
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    (parts.status, parts.headers, problem).into_response()
}

fn sentence(text: &str) -> Cow<'_, str> {
    if text.ends_with('.') { text.into() } else { format!("{text}.").into() }
}

/// Whole seconds, rounded up.
pub fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

/// The name of an [`ErrorCode`] on the wire.
fn name(code: ErrorCode) -> Cow<'static, str> {
    let name = serde_json::to_value(code).ok().and_then(|name| name.as_str().map(str::to_owned));
    name.map_or(Cow::Borrowed("internal"), Cow::Owned)
}

/// The code of an error that has only a status.
fn code_of(status: StatusCode) -> &'static str {
    match status.as_u16() {
        403 => "forbidden",
        404 => "not_found",
        405 => "method_not_allowed",
        413 => "too_large",
        415 => "unsupported_media_type",
        400..=499 => "bad_input",
        503 => "database_unavailable",
        _ => "internal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn error_has_the_members_of_rfc_9457_and_a_code() {
        let response = Problem::from(AppError::not_found("This project does not exist.")).into_response();
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        assert_eq!(response.headers()[header::CONTENT_TYPE], CONTENT_TYPE);
        let body = to_bytes(response.into_body(), 1_000).await.unwrap_or_default();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let expected = serde_json::json!({
            "type": "about:blank", "title": "Not Found", "status": 404, "code": "not_found",
            "detail": "This project does not exist.",
        });
        assert_eq!(body, expected);
    }
}
