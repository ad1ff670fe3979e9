//! The response when a request fails without one: the session layer responds with an empty 500 if a session cannot be loaded, and
//! a network that lets nothing through gives no error at all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Mutex;

use crate::error::AppError;
use crate::server::auth::session_store::DatabaseFailed;
use crate::server::http::forms::accepts_html;
use crate::server::state::AppState;
use crate::server::store::Store;

/// A request that takes longer may wait for a database that is gone.
const LONG: Duration = Duration::from_secs(5);

/// Between two looks whether the database answers.
const PAUSE: Duration = Duration::from_secs(2);

/// When somebody last looked, and whether it answered: one look is for all requests that wait.
#[derive(Clone, Default)]
pub(super) struct Pulse(Arc<Mutex<Option<(Instant, bool)>>>);

/// Replaces an empty 500 by a message: with status 503 if the database does not answer. Nobody waits for one that has stopped.
pub(super) async fn explain(
    State((state, pulse)): State<(AppState, Pulse)>,
    request: Request,
    next: Next,
) -> Response {
    let page = accepts_html(request.headers());
    let response = tokio::select! {
        biased;
        response = next.run(request) => response,
        () = pulse.ends(&state.store) => return answer(page, AppError::database_silent()),
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

impl Pulse {
    /// Completes when the database does not answer any more.
    async fn ends(&self, store: &Store) {
        tokio::time::sleep(LONG).await;
        while self.beats(store).await {
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn beats(&self, store: &Store) -> bool {
        let mut last = self.0.lock().await;
        if let Some((at, answered)) = *last
            && at.elapsed() < PAUSE
        {
            return answered;
        }
        let answered = store.ready().await.is_ok();
        *last = Some((Instant::now(), answered));
        answered
    }
}
