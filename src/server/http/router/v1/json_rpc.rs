//! The errors of JSON-RPC for messages that are not one request: `rmcp` would respond without an error object. The errors of `rmcp` itself are passed on.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde_json::{Value, json};

use super::input::is_json;
use crate::server::http::problem::OwnFormat;

/// A layer of the service at `/mcp`, inside of the one that receives the body.
pub(super) async fn check(request: Request, next: Next) -> Response {
    let is_message = request.method() == Method::POST && is_json(request.headers());
    let (parts, body) = request.into_parts();
    // It is in memory, and its size was checked.
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return error(ErrorCode::INVALID_REQUEST, "The body is incomplete.");
    };
    if is_message && let Err((code, message)) = message_of(&body) {
        return error(code, message);
    }
    let mut response = next.run(Request::from_parts(parts, Body::from(body))).await;
    if is_json(response.headers()) {
        response.extensions_mut().insert(OwnFormat);
    }
    response
}

/// The error of a body that is not one message of the protocol.
fn message_of(body: &[u8]) -> Result<(), (ErrorCode, &'static str)> {
    let value: Value =
        serde_json::from_slice(body).map_err(|_| (ErrorCode::PARSE_ERROR, "The body is not JSON."))?;
    if value.is_array() {
        return Err((
            ErrorCode::INVALID_REQUEST,
            "Batches are not supported. Send one message in each request.",
        ));
    }
    match serde_json::from_value::<ClientJsonRpcMessage>(value) {
        Ok(_) => Ok(()),
        Err(_) => Err((ErrorCode::INVALID_REQUEST, "The body is not a message of JSON-RPC 2.0.")),
    }
}

fn error(ErrorCode(code): ErrorCode, message: &str) -> Response {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    let mut response = (StatusCode::BAD_REQUEST, Json(error)).into_response();
    response.extensions_mut().insert(OwnFormat);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_that_is_not_one_message_has_an_error_of_json_rpc() {
        let code = |body: &[u8]| message_of(body).map_err(|(code, _)| code.0);
        for body in [&b""[..], b"{", b"\xff", b"[1,", "[".repeat(10_000).as_bytes()] {
            assert_eq!(code(body), Err(-32_700), "{body:.20?}");
        }
        for body in
            ["[]", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "1", "null", "{}", "{\"id\":1}"]
        {
            assert_eq!(code(body.as_bytes()), Err(-32_600), "{body}");
        }
        for body in [
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        ] {
            assert_eq!(code(body.as_bytes()), Ok(()), "{body}");
        }
    }
}
