//! The response when a request fails without one: the session layer responds with an empty 500 if a session cannot be loaded.

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::AppError;
use crate::server::auth::session_store::DatabaseFailed;
use crate::server::forms::accepts_html;
use crate::server::state::AppState;

/// Replaces an empty 500 by a message: with status 503 if the database does not answer.
pub(super) async fn explain(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let page = accepts_html(request.headers());
    let response = next.run(request).await;
    let bare = !response.headers().contains_key(header::CONTENT_TYPE);
    if response.status() != StatusCode::INTERNAL_SERVER_ERROR || !bare {
        return response;
    }
    let error = match state.store.ready().await {
        Ok(()) if response.extensions().get::<DatabaseFailed>().is_some() => AppError::database_unavailable(),
        Ok(()) => AppError::internal(),
        Err(error) => error.into(),
    };
    let status = StatusCode::from(error.code);
    if page { (status, error.message).into_response() } else { (status, axum::Json(error)).into_response() }
}
