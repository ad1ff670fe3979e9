//! [`AppError`] as an HTTP response: its status and JSON, or only its sentence for a person who followed a link.

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::request::forms::accepts_html;
use model::error::{AppError, ErrorCode};

/// The status of a response with this code.
pub fn status_of(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The JSON of an error, with its status. A temporary one has a `Retry-After`.
pub fn json(error: &AppError) -> Response {
    let mut response = (status_of(error.code), Json(error)).into_response();
    add_retry_after(response.headers_mut(), error);
    response
}

/// Adds the header `Retry-After` of a temporary error, unless there is one.
pub fn add_retry_after(headers: &mut HeaderMap, error: &AppError) {
    if let Some(seconds) = error.retry_after.or(error.code.retry_after()) {
        headers.entry(header::RETRY_AFTER).or_insert(seconds.into());
    }
}

/// A layer that adds `Retry-After` to each 429 and 503 without one, whatever writes them.
pub async fn with_retry_after(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let code = match response.status() {
        StatusCode::TOO_MANY_REQUESTS => ErrorCode::TooManyRequests,
        StatusCode::SERVICE_UNAVAILABLE => ErrorCode::Busy,
        _ => return response,
    };
    if let Some(seconds) = code.retry_after() {
        response.headers_mut().entry(header::RETRY_AFTER).or_insert(seconds.into());
    }
    response
}

/// The error of a handler.
pub struct ErrorResponse(AppError);

impl<E: Into<AppError>> From<E> for ErrorResponse {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let Self(error) = self;
        let mut response = json(&error);
        response.extensions_mut().insert(error);
        response
    }
}

/// Replaces JSON by the sentence for a person who followed a link.
pub async fn in_words(request: Request, next: Next) -> Response {
    let person = accepts_html(request.headers());
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<AppError>() {
        Some(error) if person => (response.status(), error.message).into_response(),
        _ => response,
    }
}
