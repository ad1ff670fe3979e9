//! Fault injection for development and tests: a layer in front of the emulator's router that makes the next requests of an operation fail in a chosen
//! way. It changes nothing while no fault is pending.
//!
//! `POST /__emulator/faults` adds a fault, `GET` returns the pending ones and the number of requests, `DELETE` removes the pending ones. All three
//! need the key. A request gets the oldest pending fault of its operation:
//!
//! ```json
//! { "operation": "create", "times": 2, "fault": { "kind": "status", "code": 503 } }
//! ```
//!
//! `operation` is `create`, `follow-up`, `get`, `views` or `any` (the default); `times` a number (default 1) or
//! `"until-cleared"`. [`Fault`] lists the kinds.

mod effect;
mod fault;
mod operation;
mod pending;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use axum::{Json, Router};
use parking_lot::{Mutex, MutexGuard};
use thiserror::Error;
use tower::ServiceExt;

use self::fault::Fault;
use self::operation::Operation;
use self::pending::{Ordered, Pending, Shown};
use super::Emulator;
use super::compression;
use super::key::require_key;
use super::refusal::Refusal;

/// The path of the fault injection.
pub(super) const PATH: &str = "/__emulator/faults";

/// The connection must be closed without a response.
#[derive(Debug, Error)]
#[error("the emulator hangs up on purpose")]
pub struct HungUp;

/// The pending faults and the requests so far.
#[derive(Default)]
pub(super) struct Faults(Mutex<Pending>);

impl Faults {
    /// The response of `router`, or of the fault that applies to the request.
    pub(super) async fn respond(&self, request: Request, router: Router) -> Result<Response, HungUp> {
        match self.next_fault(&request) {
            Some(fault) => effect::apply(fault, request, router).await,
            None => {
                let is_compressed = compression::is_accepted(request.headers());
                let Ok(response) = router.oneshot(request).await;
                Ok(if is_compressed { compression::compressed(response).await } else { response })
            }
        }
    }

    /// Counts a request, and returns the fault that applies to it.
    fn next_fault(&self, request: &Request) -> Option<Fault> {
        if request.uri().path() == PATH {
            return None;
        }
        self.pending().next_fault(Operation::of(request.method(), request.uri().path()))
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.0.lock()
    }
}

/// The methods of [`PATH`].
pub(super) fn routes(emulator: &Emulator) -> MethodRouter<Emulator> {
    get(show).post(order).delete(clear).route_layer(from_fn_with_state(emulator.clone(), require_key))
}

async fn show(State(emulator): State<Emulator>) -> Json<Shown> {
    Json(emulator.state.faults.pending().shown())
}

async fn order(State(emulator): State<Emulator>, body: Bytes) -> Response {
    match Ordered::parse(&body) {
        Ok(ordered) => {
            emulator.state.faults.pending().add(ordered);
            show(State(emulator)).await.into_response()
        }
        Err(problem) => Refusal::agent(StatusCode::BAD_REQUEST, problem).into_response(),
    }
}

async fn clear(State(emulator): State<Emulator>) -> Json<Shown> {
    emulator.state.faults.pending().clear();
    show(State(emulator)).await
}

#[cfg(test)]
#[path = "faults/tests.rs"]
mod tests;
