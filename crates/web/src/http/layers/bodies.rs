//! Request bodies: url-encoded fields of limited size, received within a time limit. Inner layers get the complete
//! body, so the sender is checked after all of it has arrived.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;

use super::Endpoints;
use super::server_fns::error_response;
use crate::auth::gate;
use crate::auth::made_for::MadeFor;
use crate::auth::roles::{self, Access};
use crate::request::error_response::status_of;
use crate::state::AppState;
use model::error::AppError;

/// The maximum size of a body.
const MOST_BYTES: usize = 256 * 1024;

/// The same for endpoints that need no session.
const ANONYMOUS_MAX_BYTES: usize = 16 * 1024;

/// The worst case per character of a prompt: four bytes, each percent-encoded.
const BYTES_PER_CHARACTER: usize = 12;

/// Room for all other fields, in bytes.
const BYTES_BESIDE_PROMPT: usize = 128 * 1024;

/// How many bytes of a too large body are received and discarded.
const FORGOTTEN_BYTES: usize = 4 * 1024 * 1024;

/// How long a client may take to send a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Browsers let any site post `text/plain` and `multipart/form-data` without a preflight request, and server functions
/// would accept fields from them.
pub(super) async fn url_encoded_only(request: Request, next: Next) -> Response {
    let is_fields = is_url_encoded(&request) && !is_encoded(request.headers());
    if request.method() == Method::POST && !is_fields {
        let error =
            AppError::bad_input("Server functions accept only url-encoded fields, without compression.");
        return error_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, error);
    }
    next.run(request).await
}

/// Whether a body is compressed, or encoded otherwise.
pub(in crate::http) fn is_encoded(headers: &HeaderMap) -> bool {
    let mut encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// A post without a body needs no content type.
fn is_url_encoded(request: &Request) -> bool {
    let mut content_types = request.headers().get_all(header::CONTENT_TYPE).iter();
    let kind = |value: &header::HeaderValue| {
        let kind = value.to_str().ok()?.split(';').next()?;
        Some(kind.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
    };
    match (content_types.next(), content_types.next()) {
        (None, _) => axum::body::HttpBody::is_end_stream(request.body()),
        (Some(one), None) => kind(one) == Some(true),
        (Some(_), Some(_)) => false,
    }
}

/// Receives the whole body of a post, or responds with an error.
pub(super) async fn whole(
    State((state, endpoints)): State<(AppState, Endpoints)>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    let size = axum::body::HttpBody::size_hint(&body).exact();
    let signed_in = most_bytes(endpoints, parts.uri.path(), state.settings().prompt_max);
    let most = match limit(&state, &parts, size, signed_in).await {
        Ok(most) => most,
        Err(error) => return error_response(status_of(error.code), error),
    };
    match tokio::time::timeout(PATIENCE, read(body, size, most)).await {
        Ok(Ok(Some(body))) => {
            if let Some(made_for) = MadeFor::of_fields(&body) {
                parts.extensions.insert(made_for);
            }
            next.run(Request::from_parts(parts, Body::from(body))).await
        }
        Ok(Ok(None)) if most < signed_in => gate::refuse(&state, &parts.uri, &parts.headers).await,
        Ok(Ok(None)) => error_response(
            StatusCode::PAYLOAD_TOO_LARGE,
            AppError::bad_input(format!("The request is too large: the limit is {} KiB.", most / 1024)),
        ),
        Ok(Err(error)) => {
            tracing::debug!(%error, "a request body was incomplete");
            error_response(
                StatusCode::BAD_REQUEST,
                AppError::bad_input("The request was interrupted. Send it again."),
            )
        }
        Err(_) => error_response(
            StatusCode::REQUEST_TIMEOUT,
            AppError::bad_input("The request took too long to arrive. Send it again."),
        ),
    }
}

/// The complete body, or `None` if it is larger than `most` bytes. Somewhat more is received and discarded, because a
/// browser that is still sending at the end of the connection shows no response. A body that its headers declare as
/// too large is not stored at all.
pub(in crate::http) async fn read(
    mut body: Body,
    size: Option<u64>,
    most: usize,
) -> Result<Option<Vec<u8>>, axum::Error> {
    let stored = if size.is_some_and(|size| size > most as u64) { 0 } else { most };
    let (mut whole, mut bytes) = (Vec::new(), 0);
    while bytes <= most + FORGOTTEN_BYTES {
        let Some(frame) = body.frame().await else { break };
        let Ok(data) = frame?.into_data() else { continue };
        bytes += data.len();
        if bytes <= stored {
            whole.extend_from_slice(&data);
        }
    }
    Ok((bytes <= stored).then_some(whole))
}

/// The maximum size of the body of this request, in bytes. `size` comes from its headers. A request without a session
/// has the limit of open endpoints, others have `most`. The session is looked up only for a body that is larger or of unknown size.
async fn limit(state: &AppState, parts: &Parts, size: Option<u64>, most: usize) -> Result<usize, AppError> {
    let is_small = size.is_some_and(|size| size <= ANONYMOUS_MAX_BYTES as u64);
    if is_small || most <= ANONYMOUS_MAX_BYTES || !gate::is_known(state, parts).await? {
        return Ok(most.min(ANONYMOUS_MAX_BYTES));
    }
    Ok(most)
}

/// The maximum size of a body with a prompt. The longest prompt fits in any script.
pub(in crate::http) fn with_prompt(prompt_max: u32) -> usize {
    MOST_BYTES.max(prompt_max as usize * BYTES_PER_CHARACTER + BYTES_BESIDE_PROMPT)
}

/// The longest prompt fits in any script. Other endpoints have the smaller limit, and open ones the smallest.
fn most_bytes(endpoints: Endpoints, path: &str, prompt_max: u32) -> usize {
    if endpoints.with_prompt.contains(&path) {
        with_prompt(prompt_max)
    } else if roles::of(path) == Some(Access::Anybody) {
        ANONYMOUS_MAX_BYTES
    } else {
        MOST_BYTES
    }
}
