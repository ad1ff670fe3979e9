//! Errors of the JSON API: `application/problem+json` (RFC 9457), with a `code` for programs.

use std::borrow::Cow;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::request::error_response::status_of;
use model::error::{AppError, ErrorCode, shortened};

/// Of a change that was not stored, because the token became invalid.
const ACCESS_CHANGED: &str =
    "This API token, or the access of its owner, changed during the request, and nothing was changed.";

pub const CONTENT_TYPE: &str = "application/problem+json";

/// An extension of responses whose errors have a format of their own: they are not converted.
#[derive(Clone, Copy)]
pub struct OwnFormat;

/// The maximum length of the name of a field. A request may have any.
const FIELD_MAX_CHARS: usize = 100;

/// The maximum size of a body that is converted, in bytes.
const BODY_MAX_BYTES: usize = 64 * 1024;

/// An error response of the JSON API.
#[derive(Debug, Clone)]
pub struct Problem {
    body: ProblemBody,
    /// The header `Retry-After`, in seconds.
    retry_after: Option<u64>,
}

/// A code of the table that the JSON API sends. There are no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ApiCode(ErrorCode);

/// An error response of the JSON API.
#[derive(Debug, Clone, Serialize, ToSchema)]
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
    #[schema(inline)]
    code: ApiCode,
    /// The parts of the request that are not valid, as far as they are known.
    errors: Vec<FieldError>,
}

/// A part of a request that is not valid.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FieldError {
    /// A parameter, a header, or a field of the body, such as `limit`, `Idempotency-Key` or `tags[0]`.
    field: String,
    /// Why it is not valid.
    detail: String,
}

impl Problem {
    /// With the status of the code. A temporary cause has a `Retry-After`.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        let code = ApiCode::from(code);
        let status = status_of(code.0);
        let title = status.canonical_reason().unwrap_or("Error");
        let (status, detail) = (status.as_u16(), shortened(detail.into()));
        let body = ProblemBody { kind: "about:blank", title, status, detail, code, errors: Vec::new() };
        Self { body, retry_after: code.0.retry_after().map(u64::from) }
    }

    /// Names the part of the request that is not valid: a parameter, a header, or a field of the body, such as `tags[0]`.
    pub fn about(mut self, field: &str) -> Self {
        let field = short(field);
        self.body.errors.push(FieldError { field, detail: self.body.detail.clone() });
        self
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

    pub fn code(&self) -> &'static str {
        self.body.code.0.as_str()
    }

    /// When to try again, in seconds; `None` if the same request would fail again.
    pub fn retry_after(&self) -> Option<u64> {
        self.retry_after
    }

    pub fn body(&self) -> &ProblemBody {
        &self.body
    }
}

impl From<ErrorCode> for ApiCode {
    fn from(code: ErrorCode) -> Self {
        Self(code.in_api())
    }
}

impl PartialSchema for ApiCode {
    fn schema() -> RefOr<Schema> {
        let names = ErrorCode::of_api().map(ErrorCode::as_str);
        let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
        schema.description(Some("The cause. Programs may rely on it.")).into()
    }
}

impl ToSchema for ApiCode {}

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        // Scripts have no session.
        let detail = match error.code {
            ErrorCode::Unauthenticated => ACCESS_CHANGED.to_owned(),
            _ => error.message,
        };
        let problem = Self::new(error.code, detail);
        let problem = error.field.into_iter().fold(problem, |problem, field| problem.about(field));
        Self { retry_after: error.retry_after.map(u64::from).or(problem.retry_after), ..problem }
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
        Ok(error) if status_of(error.code) == parts.status => error.into(),
        Ok(error) => Problem::new(code_of(parts.status), error.message),
        Err(_) => {
            let detail =
                str::from_utf8(&body).ok().map(str::trim_end).filter(|text| is_text && !text.is_empty());
            Problem::new(code_of(parts.status), sentence(detail.unwrap_or("The request failed.")))
        }
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    (problem.status(), parts.headers, problem).into_response()
}

fn sentence(text: &str) -> Cow<'_, str> {
    if text.ends_with('.') { text.into() } else { format!("{text}.").into() }
}

/// Whole seconds, rounded up.
pub fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

/// The name of a field without its end, if it is too long.
fn short(field: &str) -> String {
    let end = if field.chars().nth(FIELD_MAX_CHARS).is_some() { "…" } else { "" };
    field.chars().take(FIELD_MAX_CHARS).chain(end.chars()).collect()
}

/// The code of an error that has only a status.
fn code_of(status: StatusCode) -> ErrorCode {
    match status.as_u16() {
        401 => ErrorCode::InvalidToken,
        403 => ErrorCode::Forbidden,
        404 => ErrorCode::NotFound,
        405 => ErrorCode::MethodNotAllowed,
        406 => ErrorCode::NotAcceptable,
        408 => ErrorCode::TooSlow,
        413 => ErrorCode::TooLarge,
        415 => ErrorCode::UnsupportedMediaType,
        421 => ErrorCode::WrongHost,
        429 => ErrorCode::TooManyRequests,
        400..=499 => ErrorCode::BadInput,
        503 => ErrorCode::DatabaseUnavailable,
        _ => ErrorCode::Internal,
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
            "detail": "This project does not exist.", "errors": [],
        });
        assert_eq!(body, expected);
    }
}
