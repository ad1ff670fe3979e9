//! Around the server functions, which Leptos routes together with the pages: the one place where an error gets
//! its HTTP status, and what may be sent to one.

use std::any::Any as Anything;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use leptos::server_fn::ServerFn;
use leptos::server_fn::error::SERVER_FN_ERROR_HEADER;
use url::form_urlencoded;

use crate::api::filing::{ArchiveJobs, TagJobs, UnarchiveJobs, UntagJobs};
use crate::api::users::{ChangePerson, InvitePerson};
use crate::error::{AppError, ErrorCode};

/// The server functions whose forms name things one by one, and the field that does.
const TAKE_MANY: [(&str, &str); 6] = [
    (ArchiveJobs::PATH, "jobs"),
    (UnarchiveJobs::PATH, "jobs"),
    (TagJobs::PATH, "jobs"),
    (UntagJobs::PATH, "jobs"),
    (InvitePerson::PATH, "projects"),
    (ChangePerson::PATH, "projects"),
];

/// The most an error's body can hold, in bytes.
const ERROR_BYTES: usize = 64 * 1024;

/// Leptos answers each error with 500; its code says which status it is.
pub(super) async fn status_of_error(request: Request, next: Next) -> Response {
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

/// Browsers let any site post texts and files without asking; server functions would read fields out of them.
pub(super) async fn url_encoded_only(request: Request, next: Next) -> Response {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = content_type.and_then(|value| value.split(';').next()).map(str::trim);
    let url_encoded = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/x-www-form-urlencoded"));
    if request.method() == Method::POST && !url_encoded && !request.body().is_end_stream() {
        let error = AppError::bad_input("Server functions take url-encoded fields, and nothing else.");
        return answer(StatusCode::UNSUPPORTED_MEDIA_TYPE, error);
    }
    next.run(request).await
}

/// Forms name what was chosen one by one, in fields of one name; server functions take each field once.
pub(super) async fn one_list(request: Request, next: Next) -> Response {
    let many = TAKE_MANY.iter().find(|(path, _)| *path == request.uri().path());
    let Some((_, field)) = many.filter(|_| request.method() == Method::POST) else {
        return next.run(request).await;
    };
    let (parts, body) = request.into_parts();
    let body = match Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await {
        Ok(body) => body,
        Err(refusal) => {
            tracing::debug!(%refusal, "a form that could not be read");
            return answer(
                StatusCode::BAD_REQUEST,
                AppError::bad_input("That form is too large, or it broke off."),
            );
        }
    };
    let body = joined(&body, field).map_or(Body::from(body), Body::from);
    next.run(Request::from_parts(parts, body)).await
}

/// The fields with one list in place of those called `field`, if there are several.
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

pub(super) async fn wrong_method() -> Response {
    answer(
        StatusCode::METHOD_NOT_ALLOWED,
        AppError::bad_input(
            "That method is not allowed here; server functions take a POST of url-encoded fields.",
        ),
    )
}

/// The answer to a request whose handler panicked; the process lives on.
pub(super) fn panicked(_: Box<dyn Anything + Send>) -> Response {
    tracing::error!("a handler panicked");
    let message = "Something went wrong on our side. Please try again; the request id in this answer helps to find the cause.";
    answer(StatusCode::INTERNAL_SERVER_ERROR, AppError::new(ErrorCode::Internal, message))
}

fn answer(status: StatusCode, error: AppError) -> Response {
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
