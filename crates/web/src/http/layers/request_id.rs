//! Adds a request id to each response, and to each log line of its request, including the access log. Begins the trace
//! of the request.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::{Instrument, Span};

use super::Endpoints;
use super::access_log::Line;
use super::measure::{label, route};
use crate::auth::client_ip::is_trusted;
use base::config::AccessConfig;
use base::traces;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Frequent, cheap requests, which have no trace.
const NOT_TRACED: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

pub(super) async fn identify(
    State((access, endpoints)): State<(Arc<AccessConfig>, Endpoints)>,
    request: Request,
    next: Next,
) -> Response {
    let id = uuid::Uuid::now_v7().to_string();
    // Without the query, which may contain typed text or a set-up token.
    let span = tracing::info_span!("request", id, method = %request.method(), path = request.uri().path());
    let route = route(&request);
    let line = Line::begin(span.clone(), &route, endpoints.polled);
    let traced = span.in_scope(|| begin_trace(&access, &request, &route, &id));
    let mut response = next.run(request).instrument(traced.clone()).instrument(span).await;
    traces::answered(&traced, response.status().as_u16());
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HEADER, id);
    }
    line.follow(response)
}

fn begin_trace(access: &AccessConfig, request: &Request, route: &str, id: &str) -> Span {
    if NOT_TRACED.contains(&route) || route.starts_with("/pkg/") {
        return Span::none();
    }
    traces::request(label(request.method()), route, id, of_trusted_proxy(access, request))
}

/// The headers, if a trusted proxy sent them.
fn of_trusted_proxy<'a>(access: &AccessConfig, request: &'a Request) -> Option<&'a HeaderMap> {
    let ConnectInfo(peer) = request.extensions().get::<ConnectInfo<SocketAddr>>()?;
    is_trusted(peer.ip().to_canonical(), &access.trusted_proxies).then(|| request.headers())
}
