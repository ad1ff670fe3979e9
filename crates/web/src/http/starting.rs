//! The responses while the database is being opened, which takes minutes if many rows are migrated: status 503, except for `/healthz`.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

use super::layers::headers;
use crate::request::problem::Problem;
use model::error::{AppError, ErrorCode};

/// When clients may try again.
const AGAIN: Duration = Duration::from_secs(10);

const MESSAGE: &str = "Docket is starting, and its database is not ready yet. Try again in a minute.";

const PAGE: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="10">
<title>Docket is starting</title>
</head>
<body>
<h1>Docket is starting</h1>
<p>Its database is not ready yet: it is being upgraded, or does not respond. This page reloads every ten seconds.</p>
</body>
</html>
"#;

/// Serves requests without a database.
pub fn starting_router() -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(|| async { (StatusCode::SERVICE_UNAVAILABLE, "starting\n") }))
        .fallback(later)
        .layer(from_fn_with_state(None::<HeaderValue>, headers::security))
}

async fn later(request: Request) -> Response {
    let path = request.uri().path();
    let mut response = if path.starts_with("/api/v1/") || path == "/mcp" {
        Problem::new(ErrorCode::DatabaseUnavailable, MESSAGE).into_response()
    } else if path.starts_with("/api/") {
        let error = AppError::new(ErrorCode::DatabaseUnavailable, MESSAGE);
        (StatusCode::SERVICE_UNAVAILABLE, axum::Json(error)).into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, Html(PAGE)).into_response()
    };
    response.headers_mut().insert(header::RETRY_AFTER, AGAIN.as_secs().into());
    response
}
