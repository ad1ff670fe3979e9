//! The origin check: requests that change data must come from Docket's own pages.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::backend::AuthSession;
use super::{client_ip, roles};
use crate::state::AppState;
use model::audit::{Action, Actor, AuditEvent};
use model::error::{AppError, ErrorCode};
use service::auth::own_path::own_path;

/// Refuses a mutating request unless its headers show that it is same-origin. Removes a foreign `Referer`, so that no
/// redirect leads to it.
pub async fn same_origin(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if !reads && !is_same_origin(request.headers(), state.public_url.origin()) {
        let (by, event) = refusal(&request);
        state.refusals.note(&by, &event).await;
        let error = AppError::new(
            ErrorCode::Forbidden,
            "This request did not come from Docket’s own pages, so nothing was done. Open Docket and try again there.",
        );
        return (StatusCode::FORBIDDEN, axum::Json(error)).into_response();
    }
    let referer = request.headers().get(header::REFERER);
    if referer
        .is_some_and(|referer| !is_ours(referer.as_bytes(), request.headers(), state.public_url.origin()))
    {
        request.headers_mut().remove(header::REFERER);
    }
    next.run(request).await
}

/// The record of a refusal, with the person or the IP.
fn refusal(request: &Request) -> (Actor, AuditEvent) {
    let ip = client_ip::of(request.extensions()).to_string();
    let user = request.extensions().get::<AuthSession>().and_then(|session| session.user.as_ref());
    let by = user.map_or_else(|| Actor::unknown(&ip), |user| user.actor(&ip));
    // The path of an anonymous request may be anything.
    let path = Some(request.uri().path()).filter(|path| roles::of(path).is_some()).unwrap_or_default();
    (by, AuditEvent::new(Action::Denied).refused().on(path).with_detail("Another site's request"))
}

/// Path and query of the page that contained the form; `/` if unknown. Requires [`same_origin`].
pub fn came_from(headers: &HeaderMap) -> String {
    let referer =
        headers.get(header::REFERER).and_then(|referer| url::Url::parse(referer.to_str().ok()?).ok());
    let path = referer.map(|referer| {
        let query = referer.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", referer.path())
    });
    // `//elsewhere.example/` is a valid path here, but a browser would follow a redirect to another site.
    own_path(path.as_deref())
}

/// `Sec-Fetch-Site` decides if the browser sends it, otherwise `Origin`; a request with neither is refused. No page can
/// cause `none`: a person sent a form again from a restored tab.
fn is_same_origin(headers: &HeaderMap, public_origin: &str) -> bool {
    let header_bytes = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
    let is_ours = header_bytes("origin").map(|origin| origin == public_origin.as_bytes());
    match header_bytes("sec-fetch-site") {
        Some(b"same-origin") => true,
        Some(b"none") => header_bytes("sec-fetch-mode") == Some(b"navigate") && is_ours != Some(false),
        Some(_) => false,
        None => is_ours == Some(true),
    }
}

/// Whether a URL has the public origin, or the host in the request.
fn is_ours(referer: &[u8], headers: &HeaderMap, public_origin: &str) -> bool {
    let Some(referer) = std::str::from_utf8(referer).ok().and_then(|text| url::Url::parse(text).ok()) else {
        return false;
    };
    let origin = referer.origin().ascii_serialization();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    origin == public_origin
        || host.is_some_and(|host| origin.split_once("://").is_some_and(|(_, named)| named == host))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "https://docket.example";

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| ((*name).parse().expect("a name"), value.parse().expect("a value")))
            .collect()
    }

    #[test]
    fn mutating_request_needs_same_origin_headers() {
        let allowed = |pairs| is_same_origin(&headers(pairs), OURS);
        assert!(allowed(&[("sec-fetch-site", "same-origin")]));
        assert!(allowed(&[("origin", OURS)]));
        assert!(!allowed(&[]));
        assert!(!allowed(&[("sec-fetch-site", "cross-site"), ("origin", OURS)]));
        assert!(!allowed(&[("sec-fetch-site", "same-site")]));
        assert!(!allowed(&[("sec-fetch-site", "none")]));
        assert!(allowed(&[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")]));
        assert!(!allowed(&[("sec-fetch-site", "none"), ("sec-fetch-mode", "cors")]));
        assert!(!allowed(&[
            ("sec-fetch-site", "none"),
            ("sec-fetch-mode", "navigate"),
            ("origin", "https://evil.example")
        ]));
        assert!(!allowed(&[("origin", "null")]));
        assert!(!allowed(&[("origin", "https://docket.example.evil")]));
    }

    #[test]
    fn form_redirects_only_to_own_pages() {
        let led = |referer| came_from(&headers(&[("referer", referer)]));
        assert_eq!(led("https://docket.example/p/docs/jobs?q=a+b&x=%2F#top"), "/p/docs/jobs?q=a+b&x=%2F");
        for odd in [
            "https://docket.example//evil.example/x",
            "https://docket.example/api/jobs/create",
            "x",
            "about:blank",
        ] {
            assert_eq!(led(odd), "/", "{odd}");
        }
        assert_eq!(came_from(&headers(&[])), "/");
    }

    #[test]
    fn foreign_referer_is_not_own_origin() {
        let host = headers(&[("host", "127.0.0.1:3000")]);
        assert!(is_ours(b"https://docket.example/p/docs", &host, OURS));
        assert!(is_ours(b"http://127.0.0.1:3000/p/docs", &host, OURS));
        assert!(!is_ours(b"https://evil.example/", &host, OURS));
        assert!(!is_ours(b"not an address", &host, OURS));
    }
}
