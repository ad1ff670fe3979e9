//! Headers of every response.

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use super::Endpoints;
use crate::auth::background;
use crate::auth::sign_in::CLEAR_SITE_DATA;
use base::config::PublicUrl;

const SECURITY: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=(), payment=()"),
];

/// The value of HSTS, a year, if the public URL uses https.
pub(in crate::http) fn insist_on_https(public_url: &PublicUrl, subdomains: bool) -> Option<HeaderValue> {
    let value = if subdomains { "max-age=31536000; includeSubDomains" } else { "max-age=31536000" };
    public_url.is_https().then(|| HeaderValue::from_static(value))
}

/// `hsts`: the value of [`insist_on_https`].
pub(in crate::http) async fn security(
    State(hsts): State<Option<HeaderValue>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in SECURITY {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let policy = HeaderValue::from_static(NO_PAGE);
    response.headers_mut().entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    // Responses without a caching policy of their own, unlike assets, must not be stored.
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(no_store);
    if let Some(value) = hsts {
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

/// Marks every cookie as `Secure` if the public URL uses https. The session layer omits it when it removes the
/// session's cookie, and browsers then ignore that for a name with `__Host-`.
pub(super) async fn secure_cookies(
    State(public_url): State<PublicUrl>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    if !public_url.is_https() || !response.headers().contains_key(header::SET_COOKIE) {
        return response;
    }
    let cookies: Vec<HeaderValue> = response.headers().get_all(header::SET_COOKIE).iter().cloned().collect();
    response.headers_mut().remove(header::SET_COOKIE);
    for cookie in cookies {
        let is_secure = cookie.as_bytes().windows(8).any(|part| part.eq_ignore_ascii_case(b"; secure"));
        let whole = HeaderValue::from_bytes(&[cookie.as_bytes(), b"; Secure"].concat());
        let whole = whole.ok().filter(|_| !is_secure).unwrap_or(cookie);
        response.headers_mut().append(header::SET_COOKIE, whole);
    }
    response
}

/// The policy of responses that are not pages of Docket: no scripts, no forms, no framing. Styles are not restricted,
/// because browsers use their own for plain text.
const NO_PAGE: &str =
    "script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Prevents caching of personal responses.
///
/// A page may stay in the browser's Back/Forward cache until sign-out. But browsers drop it if its script received a
/// response with `no-store`. So the endpoint that an open page polls gets a weaker header that only forbids
/// reuse. As a response to a POST it is not stored either way.
///
/// After a change browsers drop the pages that they have prefetched.
pub(super) async fn personal(State(endpoints): State<Endpoints>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_polled = path == endpoints.polled;
    let cache_control = if is_polled { "private, no-cache" } else { "no-store" };
    let may_change = background::may_change(request.method(), path);
    let mut response = next.run(request).await;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_control));
    if may_change && !response.status().is_client_error() {
        response.headers_mut().append(CLEAR_SITE_DATA, HeaderValue::from_static("\"prefetchCache\""));
    }
    response
}
