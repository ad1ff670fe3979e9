//! Rejects ambiguous paths: the router takes a path literally, but a browser resolves `.` and `..`.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;

use super::server_fns::error_response;
use model::error::AppError;

/// Rejects a path with `.` or `..` segments. Browsers resolve them before a request, so people never see the error.
pub(in crate::http) async fn unambiguous(request: Request, next: Next) -> Response {
    if climbs(request.uri().path()) {
        let error = AppError::bad_input("This is not a valid address: it contains . or .. between slashes.");
        return error_response(StatusCode::BAD_REQUEST, error);
    }
    next.run(request).await
}

fn climbs(path: &str) -> bool {
    let dots =
        |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    path.split(['/', '\\']).any(dots)
}

#[cfg(test)]
mod tests {
    use super::climbs;

    #[test]
    fn dot_segments_are_found_in_any_encoding() {
        for path in ["/p/..", "/p/../docs", "/./p", "/p/%2e%2E/x", "/p/.%2e", "/p\\..\\x", "/.."] {
            assert!(climbs(path), "{path}");
        }
        for path in ["/", "/p/docs", "/p/...", "/p/a..b", "/.well-known/x", "/p/..%2fx", "/pkg/a.b.js"] {
            assert!(!climbs(path), "{path}");
        }
    }
}
