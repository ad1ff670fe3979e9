//! The effect of a fault on one request.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::HungUp;
use super::fault::Fault;
use crate::compression::packed;

/// More than any client should be prepared to read.
const OVERSIZE: usize = 9 * 1024 * 1024;

/// The fault's response to `request`. If the fault only changes the response, `router` handles the request first.
pub(super) async fn apply(fault: Fault, request: Request, router: Router) -> Result<Response, HungUp> {
    Ok(match fault {
        Fault::Drop {} => return Err(HungUp),
        Fault::Status { code, body } => instead(request, code, body).await,
        Fault::Redirect { code, location } => {
            with_header(instead(request, code, None).await, LOCATION, &location)
        }
        Fault::TooMany { retry_after } => {
            let response = instead(request, 429, None).await;
            match retry_after {
                Some(text) => with_header(response, RETRY_AFTER, &text),
                None => response,
            }
        }
        Fault::AcceptThenDrop {} => {
            received(request, router).await;
            return Err(HungUp);
        }
        Fault::Delay { millis } => {
            let response = received(request, router).await;
            tokio::time::sleep(Duration::from_millis(millis)).await;
            response.with(|body| body.into())
        }
        Fault::Trickle { millis } => {
            received(request, router).await.with(|body| trickling(body, Duration::from_millis(millis)))
        }
        Fault::Cut {} => received(request, router).await.with(breaking_off),
        Fault::Garbage {} => {
            received(request, router).await.with(|_| Bytes::from_static(b"\x00\xff<html>{\"id\": ").into())
        }
        Fault::WrongTypes {} => {
            received(request, router).await.with(|body| retyped(&body).to_string().into())
        }
        Fault::Oversize { gzip: false } => received(request, router).await.with(|body| padded(&body).into()),
        Fault::Oversize { gzip: true } => {
            let response = received(request, router).await.with(|body| packed(&padded(&body)).into());
            with_header(response, CONTENT_ENCODING, "gzip")
        }
    })
}

/// A successful response, read to its end.
struct Received {
    response: Response,
    body: Bytes,
}

async fn received(request: Request, router: Router) -> Received {
    let Ok(response) = router.oneshot(request).await;
    let (parts, body) = response.into_parts();
    // The emulator builds its responses in memory; reading them cannot fail.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    Received { response: Response::from_parts(parts, Body::empty()), body }
}

impl Received {
    /// The response with another body; of the headers only the content length changes.
    fn with(mut self, body: impl FnOnce(Bytes) -> Body) -> Response {
        let body = body(self.body);
        let length = axum::body::HttpBody::size_hint(&body).exact();
        if let Some(length) = length {
            self.response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        *self.response.body_mut() = body;
        self.response
    }
}

/// Replaces the response. The request is read anyway: a server that closes the connection while it is being sent is another fault.
async fn instead(request: Request, code: u16, body: Option<String>) -> Response {
    let _ = to_bytes(request.into_body(), usize::MAX).await;
    let body = body.unwrap_or_else(|| json!({ "error": "A fault of the emulator" }).to_string());
    let mut response = body.into_response();
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    with_header(response, CONTENT_TYPE, "application/json")
}

fn with_header(mut response: Response, name: axum::http::HeaderName, text: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(text) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Sends a byte at a time, with the correct content length, so that only the timing is wrong.
fn trickling(body: Bytes, pause: Duration) -> Body {
    Body::from_stream(stream::iter(0..body.len()).then(move |index| {
        let byte = body.slice(index..=index);
        async move {
            tokio::time::sleep(pause).await;
            Ok::<_, HungUp>(byte)
        }
    }))
}

/// Sends half of the announced length.
fn breaking_off(body: Bytes) -> Body {
    let half = body.slice(..body.len() / 2);
    let end = async {
        // Yields once, so that the first half is sent.
        tokio::task::yield_now().await;
        Err(HungUp)
    };
    Body::from_stream(stream::iter([Ok(half)]).chain(stream::once(end)))
}

/// Gives each field a wrong type.
fn retyped(body: &[u8]) -> Value {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(body) else { return json!([]) };
    for value in fields.values_mut() {
        *value = match value {
            Value::String(_) | Value::Array(_) => json!({}),
            Value::Object(_) => json!([]),
            Value::Null | Value::Number(_) => json!(true),
            Value::Bool(_) => json!("no"),
        };
    }
    Value::Object(fields)
}

fn padded(body: &[u8]) -> Vec<u8> {
    let mut padded = body.to_vec();
    padded.resize(OVERSIZE, b' ');
    padded
}

#[cfg(test)]
mod tests {
    use futures::poll;

    use super::*;

    #[tokio::test]
    async fn trickle_sends_one_byte_after_each_pause() {
        let body = Bytes::from_static(b"{}");
        let sent: Vec<_> = trickling(body.clone(), Duration::ZERO).into_data_stream().collect().await;
        assert_eq!(sent.into_iter().map(Result::unwrap_or_default).collect::<Vec<_>>(), ["{", "}"]);
        let mut slow = trickling(body, Duration::from_secs(3_600)).into_data_stream();
        assert!(poll!(slow.next()).is_pending());
    }
}
