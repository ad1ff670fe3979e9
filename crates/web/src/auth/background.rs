//! Background requests: an open page refreshes itself, or a browser prefetches a page. They do not count as use of a
//! session. A client chooses the headers, so they count only on requests that a page really makes in the background.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;

use crate::request::forms;
use model::headers::{OPENED_HEADER, REFRESH_HEADER};

/// Endpoints that an open page polls. If they counted, an abandoned browser would stay signed in.
const POLLED: [&str; 4] =
    ["/api/batches/get", "/api/jobs/statuses", "/api/queue/list", "/api/upstream/budgets"];

/// Further endpoints that an open page posts to while somebody types or looks: they change no page.
const READ: [&str; 7] = [
    "/api/batches/use-template",
    "/api/jobs/draft",
    "/api/jobs/mentioned-pages",
    "/api/jobs/similar",
    "/api/jobs/suggest-pages",
    "/api/jobs/unknown-pages",
    "/api/palette/find",
];

/// Whether a request may change what pages show.
pub(crate) fn may_change(method: &Method, path: &str) -> bool {
    method == Method::POST && !POLLED.contains(&path) && !READ.contains(&path)
}

/// Whether a request counts as use of the session.
pub(super) fn is_use(request: &Request) -> bool {
    let is_polled = POLLED.contains(&request.uri().path());
    !is_background(request) && (!is_polled || request.headers().contains_key(OPENED_HEADER))
}

/// Whether a script or a browser prefetches or reloads a page. Never true for a POST, an endpoint, a download or an
/// unknown path.
pub(super) fn is_background(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::GET
        && request.extensions().get::<MatchedPath>().is_some_and(|route| is_page(route.as_str()))
        && (headers.contains_key(REFRESH_HEADER) || forms::is_prefetch(headers))
}

/// Whether the route leads to a page. The last segment of a download's route is a file name.
fn is_page(route: &str) -> bool {
    !route.starts_with("/api/") && !route.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_and_downloads_are_no_pages() {
        for route in ["/", "/p/{project}/jobs", "/p/{project}/jobs/{job}", "/account"] {
            assert!(is_page(route), "{route}");
        }
        for route in ["/api/jobs/create", "/p/{project}/analytics/export.csv", "/admin/audit/export.json"] {
            assert!(!is_page(route), "{route}");
        }
    }
}
