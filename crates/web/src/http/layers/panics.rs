//! Converts a panic in a handler to a response that reveals only its request id. The process keeps running.

use std::any::Any as Anything;

use axum::http::StatusCode;
use axum::response::Response;

use super::server_fns::error_response;
use model::error::{AppError, ErrorCode};

/// The response after a panic. The panic hook has logged its location.
pub(in crate::http) fn explain(_: Box<dyn Anything + Send>) -> Response {
    tracing::error!("a handler panicked");
    let message =
        "Docket met an unexpected error. Try again; the request id in this response helps to find the cause.";
    error_response(StatusCode::INTERNAL_SERVER_ERROR, AppError::new(ErrorCode::Internal, message))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::{Request, StatusCode, header};
    use axum::routing::{get, post};
    use leptos::prelude::AnyView;
    use tower::ServiceExt;

    use crate::http::layers::{Endpoints, around};
    use model::error::{AppError, ErrorCode};

    async fn handler() -> StatusCode {
        panic!("the secret is s3cret")
    }

    fn page() -> AnyView {
        panic!("the secret is s3cret")
    }

    #[tokio::test]
    async fn panic_becomes_a_500_that_reveals_only_its_request_id() {
        let routes = Router::new()
            .route("/handler", post(handler))
            .route("/page", get(leptos_axum::render_app_async(page)))
            .route("/fine", get(|| async { "fine" }));
        let router = around(routes, None, (Arc::default(), Endpoints::default()));
        let send = |request: axum::http::request::Builder| {
            let request = request.body(Body::empty()).expect("a request");
            async { router.clone().oneshot(request).await.expect("a response") }
        };
        for request in [Request::post("/handler"), Request::get("/page"), Request::post("/handler")] {
            let response = send(request).await;
            assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
            assert!(response.headers()["x-request-id"].len() >= 16);
            assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
            let body = to_bytes(response.into_body(), 10_000).await.expect("a body");
            let error: AppError = serde_json::from_slice(&body).expect("an error");
            assert_eq!(error.code, ErrorCode::Internal);
            let body = String::from_utf8_lossy(&body);
            for inside in ["s3cret", "panic", "src/", ".rs", "thread"] {
                assert!(!body.contains(inside), "{body}");
            }
            assert_eq!(send(Request::get("/fine")).await.status(), StatusCode::OK);
        }
    }
}
