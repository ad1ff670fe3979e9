//! The server functions' endpoints, and the one place where an error gets its HTTP status.

use std::any::Any;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use leptos::server_fn::axum::server_fn_paths;
use leptos::server_fn::error::SERVER_FN_ERROR_HEADER;

use super::pages;
use crate::error::{AppError, ErrorCode};
use crate::server::panel::Panel;

/// The most an error's body can hold, in bytes.
const ERROR_BYTES: usize = 64 * 1024;

pub(super) fn routes(panel: &Panel) -> Router<Panel> {
    let context = pages::context(panel);
    let handler =
        move |request: Request| leptos_axum::handle_server_fns_with_context(context.clone(), request);
    server_fn_paths()
        .filter_map(|(path, method)| Some((path, method.try_into().ok()?)))
        .fold(Router::new(), |router, (path, method)| router.route(path, on(method, handler.clone())))
        .route("/api/{*anything}", axum::routing::any(no_such_endpoint))
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn(status_of_error))
}

/// Leptos answers each error with 500; its code says which status it is.
async fn status_of_error(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if !response.headers().contains_key(SERVER_FN_ERROR_HEADER) || !response.status().is_server_error() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, ERROR_BYTES).await.unwrap_or_default();
    let error: Option<AppError> = serde_json::from_slice(&body).ok();
    if let Some(status) = error.and_then(|error| StatusCode::from_u16(error.code.status()).ok()) {
        parts.status = status;
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, Body::from(body))
}

async fn no_such_endpoint() -> Response {
    answer(StatusCode::NOT_FOUND, AppError::not_found("There is no such endpoint."))
}

async fn wrong_method() -> Response {
    answer(
        StatusCode::METHOD_NOT_ALLOWED,
        AppError::bad_input("This endpoint takes a POST of url-encoded fields."),
    )
}

/// The answer to a request whose handler panicked; the process lives on.
pub(super) fn panicked(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a handler panicked");
    let message = "Something went wrong on our side. Please try again; the request id in this answer helps to find the cause.";
    answer(StatusCode::INTERNAL_SERVER_ERROR, AppError::new(ErrorCode::Internal, message))
}

fn answer(status: StatusCode, error: AppError) -> Response {
    (status, axum::Json(error)).into_response()
}
