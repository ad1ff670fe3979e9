//! Adds a request id to each response, and to each log line of its request.

use std::time::Instant;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

pub(super) async fn identify(request: Request, next: Next) -> Response {
    let id = uuid::Uuid::now_v7().to_string();
    // Without the query, which may contain text that a person typed, or a set-up token.
    let span = tracing::info_span!("request", id, method = %request.method(), path = request.uri().path());
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let status = response.status();
    span.in_scope(|| {
        let milliseconds = started.elapsed().as_millis() as u64;
        if status.is_server_error() {
            tracing::warn!(status = status.as_u16(), milliseconds, "request failed");
        } else {
            tracing::debug!(status = status.as_u16(), milliseconds, "request handled");
        }
    });
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HEADER, id);
    }
    response
}
