//! The `Host` header of a request must match the public URL, so that no other name reaches Docket (DNS rebinding).
//! Probes are exempt, because they use an IP.

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::request::forms::accepts_html;
use base::config::PublicUrl;
use model::error::AppError;

pub(in crate::http) async fn ours_only(
    State(public_url): State<PublicUrl>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let mut hosts = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
    let is_ours = match (request.uri().authority(), hosts.next(), hosts.next()) {
        (None, Some(host), None) => public_url.is_host(host),
        (Some(authority), _, None) => public_url.is_host(authority.as_str()),
        _ => false,
    };
    if is_ours {
        return next.run(request).await;
    }
    let error = AppError::bad_input(
        "Docket is not at this address. Use the one that is configured as its public address.",
    );
    let status = StatusCode::MISDIRECTED_REQUEST;
    match accepts_html(request.headers()) {
        true => (status, error.message).into_response(),
        false => (status, axum::Json(error)).into_response(),
    }
}
