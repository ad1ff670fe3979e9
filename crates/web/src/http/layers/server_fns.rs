//! Layers around the server functions, which Leptos routes together with the pages: the HTTP status of errors, and
//! lists in forms.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use leptos::server_fn::error::SERVER_FN_ERROR_HEADER;
use url::form_urlencoded;

use super::Endpoints;
use crate::request::error_response::{add_retry_after, status_of};
use crate::state::AppState;
use model::error::{AppError, ErrorCode};

/// The maximum size of an error's body, in bytes.
const ERROR_BYTES: usize = 64 * 1024;

/// Leptos responds to each error with 500; this sets the status of the error's code.
pub(super) async fn status_of_error(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if !response.headers().contains_key(SERVER_FN_ERROR_HEADER) || !response.status().is_server_error() {
        return response;
    }
    let (mut parts, error) = error_in(response).await;
    if error.code == ErrorCode::DatabaseUnavailable {
        state.heartbeat.request_failed();
    }
    parts.status = status_of(error.code);
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    add_retry_after(&mut parts.headers, &error);
    (parts, axum::Json(error)).into_response()
}

/// The error that a server function returned, and the other parts of the response.
pub(super) async fn error_in(response: Response) -> (axum::http::response::Parts, AppError) {
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, ERROR_BYTES).await.unwrap_or_default();
    (parts, serde_json::from_slice(&body).unwrap_or_else(|_| AppError::internal()))
}

/// Forms repeat a field for each chosen item; server functions expect each field once.
pub(super) async fn one_list(State(endpoints): State<Endpoints>, request: Request, next: Next) -> Response {
    let repeated = endpoints.with_repeated_fields.iter().filter(|(path, _)| *path == request.uri().path());
    let fields: Vec<&str> = repeated.map(|(_, field)| *field).collect();
    if fields.is_empty() || request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    // Already complete, with limited size.
    let mut body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    for field in fields {
        body = joined(&body, field).map_or(body, Bytes::from);
    }
    next.run(Request::from_parts(parts, Body::from(body))).await
}

/// The fields with those named `field` joined into one list, if there are several.
fn joined(body: &[u8], field: &str) -> Option<String> {
    let (many, others): (Vec<_>, Vec<_>) = form_urlencoded::parse(body).partition(|(name, _)| name == field);
    (many.len() > 1).then(|| {
        let many: Vec<_> = many.iter().map(|(_, value)| value.as_ref()).collect();
        form_urlencoded::Serializer::new(String::new())
            .extend_pairs(others)
            .append_pair(field, &many.join(","))
            .finish()
    })
}

pub(in crate::http) async fn wrong_method() -> Response {
    error_response(
        StatusCode::METHOD_NOT_ALLOWED,
        AppError::bad_input(
            "That method is not allowed here; server functions take a POST of url-encoded fields.",
        ),
    )
}

pub(super) fn error_response(status: StatusCode, error: AppError) -> Response {
    (status, axum::Json(error)).into_response()
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn several_fields_of_one_name_become_one_list() {
        assert_eq!(
            joined(b"project=docs&jobs=a&tag=x+y&jobs=b", "jobs").as_deref(),
            Some("project=docs&tag=x+y&jobs=a%2Cb")
        );
        assert_eq!(joined(b"project=docs&jobs=a,b", "jobs"), None);
    }
}
