//! `/healthz`: the process is up. `/readyz`: it is not stopping, the database responds, is migrated and writable, and
//! all background tasks run. They reveal nothing else.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::state::AppState;
use model::upstream::TaskStatus;

/// The log's message while the database does not respond.
const NOT_READY: &str = "not ready: the database failed";

/// This does not make the process unready, because it only delays the removal of old data.
const CLOCK_JUMPED: &str = "The clock jumped ahead: old data is not removed\n";

pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/healthz", get(|| async { "ok\n" })).route("/readyz", get(ready))
}

async fn ready(State(state): State<AppState>) -> (StatusCode, String) {
    if state.leaving.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n".to_owned());
    }
    let failures = state.tasks.failures();
    if let Err(error) = state.store.ready().await {
        failures.failed(NOT_READY, error);
        return (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n".to_owned());
    }
    failures.ended(NOT_READY);
    if let Some(fault) = state.heartbeat.write_fault() {
        return (StatusCode::SERVICE_UNAVAILABLE, format!("{fault}\n"));
    }
    let tasks = state.tasks.all();
    let mut lines: String = tasks.iter().map(line).collect();
    if state.clock_check.jump().is_some() {
        lines.push_str(CLOCK_JUMPED);
    }
    match tasks.iter().all(|task| task.is_well) {
        true => (StatusCode::OK, format!("ready\n{lines}")),
        false => (StatusCode::SERVICE_UNAVAILABLE, format!("a background task failed\n{lines}")),
    }
}

fn line(task: &TaskStatus) -> String {
    let state = if task.is_well { "running" } else { "failed" };
    let success = task.last_success_at.map_or_else(|| "none yet".to_owned(), |at| at.to_string());
    format!("{}: {state}, last success {success}\n", task.name)
}
