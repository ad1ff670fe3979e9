//! A layer that limits the bodies that are built as a whole. One of more than 256 KiB is sent under a permit of its person, so that
//! unread responses use little memory. One of more than 1 MiB is a defect, and is not sent.

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;

use crate::auth::bearer::TokenCaller;
use crate::request::error_response::ErrorResponse;
use base::query_permits::QueryPermit;
use model::error::AppError;
use service::caller::Caller;
use service::response_size::{FREE_MAX_BYTES, WHOLE_MAX_BYTES};

/// Must be inside the layers that add the caller to the request. Streams are not limited here: they have permits of their own.
pub(in crate::http) async fn limit(request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    let caller = extensions.get::<Caller>().cloned();
    let caller = caller.or_else(|| Some(extensions.get::<TokenCaller>()?.caller().clone()));
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    let bytes = response.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok());
    let Some(bytes) = bytes.filter(|bytes| *bytes > FREE_MAX_BYTES) else { return response };
    // Nobody reads the body of a redirect.
    if response.status().is_redirection() {
        return response.map(|_| Body::empty());
    }
    if bytes > WHOLE_MAX_BYTES {
        tracing::error!(path, bytes, "a response is too large and was not sent");
        return ErrorResponse::from(AppError::internal()).into_response();
    }
    let Some(caller) = caller else { return response };
    match caller.query_permit().await {
        Ok(permit) => under(permit, response),
        Err(error) => ErrorResponse::from(error).into_response(),
    }
}

/// The response, with a permit that is released when the body was sent or the client disconnected.
fn under(permit: QueryPermit, response: Response) -> Response {
    response.map(|body| {
        Body::from_stream(body.into_data_stream().inspect(move |_| {
            let _ = &permit;
        }))
    })
}
