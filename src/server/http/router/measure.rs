//! Counts each request under the route it matched, never under the path that was sent.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;

use crate::server::telemetry::instruments::Instruments;

/// The route of a request that matched none.
const NO_ROUTE: &str = "none";

pub(super) async fn count(State(instruments): State<Instruments>, request: Request, next: Next) -> Response {
    let route = route(&request);
    let method = label(request.method());
    let begun = Instant::now();
    let response = next.run(request).await;
    instruments.request(&route, method, response.status().as_u16(), begun.elapsed());
    response
}

/// The template that the path of a request matched.
pub(super) fn route(request: &Request) -> String {
    request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned()
}

/// Anybody can make up methods.
pub(super) fn label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        _ => "other",
    }
}
