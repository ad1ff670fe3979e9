//! Counts each request under its matched route, never under the path that was sent.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;

use base::instruments::Instruments;

/// The label of a request without a matching route.
const NO_ROUTE: &str = "none";

pub(in crate::http) async fn count(
    State(instruments): State<Instruments>,
    request: Request,
    next: Next,
) -> Response {
    let route = route(&request);
    let method = label(request.method());
    let begun = Instant::now();
    let response = next.run(request).await;
    instruments.request(&route, method, response.status().as_u16(), begun.elapsed());
    response
}

/// The template that matched the path of a request.
pub(super) fn route(request: &Request) -> String {
    request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned()
}

/// Other methods share a label, because clients can invent any number of them.
pub(super) fn label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        _ => "other",
    }
}
