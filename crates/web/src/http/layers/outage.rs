//! The response when a request fails without one. The session layer responds with an empty 500 if a session cannot be
//! loaded, and an interrupted network causes no error at all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Mutex;

use crate::auth::session_store::DatabaseFailed;
use crate::request::error_response::{json, status_of};
use crate::request::forms::accepts_html;
use crate::state::AppState;
use model::error::AppError;
use store::Store;

/// After this time, a request may be waiting for an unreachable database.
const LONG: Duration = Duration::from_secs(5);

/// The interval of database checks.
const PAUSE: Duration = Duration::from_secs(2);

/// The time of the last check, and whether the database responded. All waiting requests share one check.
#[derive(Clone, Default)]
pub(in crate::http) struct Pulse(Arc<Mutex<Option<(Instant, bool)>>>);

/// Replaces an empty 500 by a message, with status 503 if the database does not respond. Ends requests that wait for an
/// unreachable database.
pub(in crate::http) async fn explain(
    State((state, pulse)): State<(AppState, Pulse)>,
    request: Request,
    next: Next,
) -> Response {
    let page = accepts_html(request.headers());
    let response = tokio::select! {
        biased;
        response = next.run(request) => response,
        () = pulse.ends(&state.store) => return respond(page, AppError::database_silent()),
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
    respond(page, error)
}

fn respond(page: bool, error: AppError) -> Response {
    if page { (status_of(error.code), error.message).into_response() } else { json(&error) }
}

impl Pulse {
    /// Completes when the database does not respond any more.
    async fn ends(&self, store: &Store) {
        tokio::time::sleep(LONG).await;
        while self.beats(store).await {
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn beats(&self, store: &Store) -> bool {
        let mut last = self.0.lock().await;
        if let Some((at, is_up)) = *last
            && at.elapsed() < PAUSE
        {
            return is_up;
        }
        let is_up = store.ready().await.is_ok();
        *last = Some((Instant::now(), is_up));
        is_up
    }
}
