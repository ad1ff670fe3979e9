//! `/healthz`: the process is up. `/readyz`: it was not told to stop, the database responds and is migrated, and each background
//! task runs. They reveal nothing else.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::model::upstream::TaskStatus;
use crate::server::state::AppState;

pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/healthz", get(|| async { "ok\n" })).route("/readyz", get(ready))
}

async fn ready(State(state): State<AppState>) -> (StatusCode, String) {
    if state.leaving.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n".to_owned());
    }
    if let Err(error) = state.store.ready().await {
        tracing::error!(%error, "not ready: the database failed");
        return (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n".to_owned());
    }
    let tasks = state.tasks.all();
    let lines: String = tasks.iter().map(line).collect();
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
