//! [`AppError`] as an HTTP response: its status and JSON, or only its sentence for a person who followed a link.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::request::forms::accepts_html;
use model::error::{AppError, ErrorCode};

/// The status of a response with this code.
pub fn status_of(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
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
        let mut response = (status_of(error.code), Json(&error)).into_response();
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
