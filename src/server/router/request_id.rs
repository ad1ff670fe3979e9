//! Adds a request id to each response, and to each log line of its request, the last of which is that of the access log.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;

use super::access_log::Line;
use super::measure::route;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

pub(super) async fn identify(request: Request, next: Next) -> Response {
    let id = uuid::Uuid::now_v7().to_string();
    // Without the query, which may contain text that a person typed, or a set-up token.
    let span = tracing::info_span!("request", id, method = %request.method(), path = request.uri().path());
    let line = Line::begin(span.clone(), &route(&request));
    let mut response = next.run(request).instrument(span).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HEADER, id);
    }
    line.follow(response)
}
