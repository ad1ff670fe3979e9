//! `/metrics`: on the main listener with a token, and on its own listener without one. Other responses do not reveal
//! that it exists.

use axum::Router;
use axum::extract::State;
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use secrecy::ExposeSecret;

use super::layers::headers;
use crate::state::AppState;
use crate::telemetry::metrics::{Format, exposition};
use service::auth::token;

const PATH: &str = "/metrics";

/// The path on the main listener.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route(PATH, get(with_token))
}

/// The routes of the separate listener for metrics.
pub fn metrics_router(state: &AppState) -> Router {
    let hsts: Option<HeaderValue> = None;
    Router::new()
        .route(PATH, get(open))
        .layer(from_fn_with_state(hsts, headers::security))
        .with_state(state.clone())
}

async fn with_token(State(state): State<AppState>, headers: HeaderMap) -> Response {
    let Some(configured) = state.settings().metrics_token.clone() else {
        return (StatusCode::NOT_FOUND, "not found\n").into_response();
    };
    let sent = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let sent = sent.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    // Hashes are compared, so the duration reveals nothing about the token.
    if token::hash(sent) != token::hash(configured.expose_secret()) {
        let message = "Send the token of DOCKET_METRICS_TOKEN_FILE in the header Authorization: Bearer …\n";
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], message).into_response();
    }
    respond(&state, &headers).await
}

async fn open(State(state): State<AppState>, headers: HeaderMap) -> Response {
    respond(&state, &headers).await
}

async fn respond(state: &AppState, headers: &HeaderMap) -> Response {
    let format = Format::accepted(headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()));
    match exposition(state, format).await {
        Ok(text) => ([(CONTENT_TYPE, format.content_type())], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "the metrics could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
