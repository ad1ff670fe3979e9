//! The response when a request fails without one: the session layer responds with an empty 500 if a session cannot be loaded, and
//! a network that lets nothing through gives no error at all.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::AppError;
use crate::server::auth::session_store::DatabaseFailed;
use crate::server::forms::accepts_html;
use crate::server::state::AppState;
use crate::server::store::Store;

/// A request that takes longer may wait for a database that is gone.
const LONG: Duration = Duration::from_secs(5);

/// Between two looks whether the database answers.
const PAUSE: Duration = Duration::from_secs(2);

/// Replaces an empty 500 by a message: with status 503 if the database does not answer. Nobody waits for one that has stopped.
pub(super) async fn explain(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let page = accepts_html(request.headers());
    let response = tokio::select! {
        biased;
        response = next.run(request) => response,
        () = silence(&state.store) => return answer(page, AppError::database_silent()),
    };
    let bare = !response.headers().contains_key(header::CONTENT_TYPE);
    if response.status() != StatusCode::INTERNAL_SERVER_ERROR || !bare {
        return response;
    }
    let error = match state.store.ready().await {
        Ok(()) if response.extensions().get::<DatabaseFailed>().is_some() => AppError::database_unavailable(),
        Ok(()) => AppError::internal(),
        Err(error) => error.into(),
    };
    answer(page, error)
}

fn answer(page: bool, error: AppError) -> Response {
    let status = StatusCode::from(error.code);
    if page { (status, error.message).into_response() } else { (status, axum::Json(error)).into_response() }
}

/// Completes when the database does not answer any more.
async fn silence(store: &Store) {
    tokio::time::sleep(LONG).await;
    while store.ready().await.is_ok() {
        tokio::time::sleep(PAUSE).await;
    }
}
