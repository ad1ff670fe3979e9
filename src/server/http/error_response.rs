//! [`AppError`] as an HTTP response: its status and JSON, or only its sentence for a person who followed a link.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::{AppError, ErrorCode};
use crate::server::http::forms::accepts_html;

impl From<ErrorCode> for StatusCode {
    fn from(code: ErrorCode) -> Self {
        Self::from_u16(code.status()).unwrap_or(Self::INTERNAL_SERVER_ERROR)
    }
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        let mut response = (StatusCode::from(self.code), Json(&self)).into_response();
        response.extensions_mut().insert(self);
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
