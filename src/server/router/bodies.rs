//! Request bodies: url-encoded fields, of a bounded size and read within a bounded time. What is behind this gets them whole.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;
use leptos::server_fn::ServerFn;

use super::server_fns::answer;
use crate::api::batches::PrepareBatch;
use crate::api::jobs::{CreateJob, ImportJob, KeepDraft, SendFollowUp, SimilarJobs};
use crate::api::templates::SaveTemplate;
use crate::error::AppError;
use crate::server::state::AppState;

/// The most bytes of a body.
const MOST_BYTES: usize = 256 * 1024;

/// The endpoints that take a prompt, which may be longer than that.
const TAKE_A_PROMPT: [&str; 7] = [
    ImportJob::PATH,
    CreateJob::PATH,
    SendFollowUp::PATH,
    KeepDraft::PATH,
    SimilarJobs::PATH,
    SaveTemplate::PATH,
    PrepareBatch::PATH,
];

/// How many bytes a character of a prompt takes at its worst: four, each percent-encoded.
const BYTES_PER_CHARACTER: usize = 12;

/// Room for all that is not the prompt, in bytes.
const BYTES_BESIDE_PROMPT: usize = 128 * 1024;

/// How much of a body that is too large is read all the same, in bytes.
const FORGOTTEN_BYTES: usize = 4 * 1024 * 1024;

/// How long a client may take to send a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Browsers let any site post texts and files without asking; server functions would read fields out of them.
pub(super) async fn url_encoded_only(request: Request, next: Next) -> Response {
    if request.method() == Method::POST && !is_url_encoded(&request) {
        let error = AppError::bad_input("Server functions take url-encoded fields, and nothing else.");
        return answer(StatusCode::UNSUPPORTED_MEDIA_TYPE, error);
    }
    next.run(request).await
}

/// A post without fields needs to say nothing about them.
fn is_url_encoded(request: &Request) -> bool {
    let mut said = request.headers().get_all(header::CONTENT_TYPE).iter();
    let kind = |value: &header::HeaderValue| {
        let kind = value.to_str().ok()?.split(';').next()?;
        Some(kind.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
    };
    match (said.next(), said.next()) {
        (None, _) => axum::body::HttpBody::is_end_stream(request.body()),
        (Some(one), None) => kind(one) == Some(true),
        (Some(_), Some(_)) => false,
    }
}

/// Reads the body of a post to its end, or says why not.
pub(super) async fn whole(State(state): State<AppState>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let most = most_bytes(request.uri().path(), state.prompt_max);
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(PATIENCE, read(body, most)).await {
        Ok(Ok(Some(body))) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Ok(Ok(None)) => answer(
            StatusCode::PAYLOAD_TOO_LARGE,
            AppError::bad_input(format!("That is too much: at most {} KiB are taken here.", most / 1024)),
        ),
        Ok(Err(error)) => {
            tracing::debug!(%error, "a body broke off");
            answer(
                StatusCode::BAD_REQUEST,
                AppError::bad_input("The request broke off. Please send it again."),
            )
        }
        Err(_) => answer(
            StatusCode::REQUEST_TIMEOUT,
            AppError::bad_input("The request took too long to arrive. Please send it again."),
        ),
    }
}

/// The whole body, or nothing if it has more than `most` bytes. Somewhat more is read and forgotten: a browser that is still
/// sending when the connection ends shows no answer.
async fn read(mut body: Body, most: usize) -> Result<Option<Vec<u8>>, axum::Error> {
    let (mut whole, mut bytes) = (Vec::new(), 0);
    while bytes <= most + FORGOTTEN_BYTES {
        let Some(frame) = body.frame().await else { break };
        let Ok(data) = frame?.into_data() else { continue };
        bytes += data.len();
        if bytes <= most {
            whole.extend_from_slice(&data);
        }
    }
    Ok((bytes <= most).then_some(whole))
}

/// The longest prompt fits whatever its script; everything else gets by with less.
fn most_bytes(path: &str, prompt_max: u32) -> usize {
    if TAKE_A_PROMPT.contains(&path) {
        MOST_BYTES.max(prompt_max as usize * BYTES_PER_CHARACTER + BYTES_BESIDE_PROMPT)
    } else {
        MOST_BYTES
    }
}
