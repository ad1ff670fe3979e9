//! The response while the database is unavailable: sessions cannot be loaded then, and the session layer responds with
//! an empty 500.

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::AppError;
use crate::server::forms::accepts_html;

/// Replaces an empty 500 by a message with status 503.
pub(super) async fn explain(request: Request, next: Next) -> Response {
    let page = accepts_html(request.headers());
    let response = next.run(request).await;
    let bare = !response.headers().contains_key(header::CONTENT_TYPE);
    if response.status() != StatusCode::INTERNAL_SERVER_ERROR || !bare {
        return response;
    }
    let error = AppError::database_unavailable();
    let status = StatusCode::SERVICE_UNAVAILABLE;
    if page { (status, error.message).into_response() } else { (status, axum::Json(error)).into_response() }
}
