//! Headers of every response.

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::server::config::PublicUrl;

const SECURITY: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=(), payment=()"),
];

/// HSTS for a year, if the public address uses https.
const INSIST_ON_HTTPS: &str = "max-age=31536000";

pub(super) async fn security(State(public_url): State<PublicUrl>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in SECURITY {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if public_url.is_https() {
        let value = HeaderValue::from_static(INSIST_ON_HTTPS);
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

/// The policy of responses that are not pages of Docket: no scripts, no forms, no framing. Styles are not restricted,
/// because browsers show plain text with their own.
const NO_PAGE: &str =
    "script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Prevents caching of personal responses.
pub(super) async fn personal(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let policy = HeaderValue::from_static(NO_PAGE);
    response.headers_mut().entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
