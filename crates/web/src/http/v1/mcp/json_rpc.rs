//! The errors of JSON-RPC for messages that are not one request: `rmcp` would respond without an error object. The errors of `rmcp` itself are passed on.

use std::time::Duration;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomRequest, ErrorCode, JsonRpcRequest, JsonRpcVersion2_0,
    RequestId,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::http::v1::input::{accepts_json, is_json};
use crate::http::v1::mcp;
use crate::request::problem::{OwnFormat, Problem};
use model::error::ErrorCode as AppErrorCode;

/// What `rmcp` requires of each client. Its answers are JSON whatever else a client accepts.
const ACCEPT_OF_RMCP: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// A layer of the service at `/mcp`, inside of the one that receives the body.
pub(in crate::http::v1) async fn check(request: Request, next: Next) -> Response {
    if request.headers().contains_key(header::ORIGIN) {
        return from_a_page().into_response();
    }
    if !accepts_json(request.headers()) {
        return not_acceptable().into_response();
    }
    let is_message = is_json(request.headers());
    let (mut parts, body) = request.into_parts();
    parts.headers.insert(header::ACCEPT, ACCEPT_OF_RMCP);
    // It is in memory, and its size was checked.
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return Refused::INCOMPLETE.into_response();
    };
    if is_message && let Err(refused) = check_message(&body) {
        return refused.into_response();
    }
    let mut response = next.run(Request::from_parts(parts, Body::from(body))).await;
    if is_json(response.headers()) {
        response.extensions_mut().insert(OwnFormat);
    }
    response
}

/// The most bytes of a request above the limit that are read for its id.
const OVER_LIMIT_MAX_BYTES: usize = 64 * 1024;

/// How long such a request may take to arrive.
const OVER_LIMIT_PATIENCE: Duration = Duration::from_secs(5);

/// The response to a request above the limit of its token: the refusal of a tool, or an error of JSON-RPC. Clients end their session after a
/// status that is not 200. A message without an id, or a long one, gets the problem itself.
pub(in crate::http::v1) async fn over_limit(request: Request, problem: Problem) -> Response {
    let is_message = request.method() == Method::POST && is_json(request.headers());
    let body = timeout(OVER_LIMIT_PATIENCE, to_bytes(request.into_body(), OVER_LIMIT_MAX_BYTES)).await;
    let envelope = match body {
        Ok(Ok(body)) if is_message => serde_json::from_slice::<Envelope>(&body).ok(),
        _ => None,
    };
    let Some(Envelope { id, method, .. }) = envelope else { return problem.into_response() };
    let answer = match method.as_str() {
        "tools/call" => json!({"jsonrpc": "2.0", "id": id, "result": mcp::refused(&problem)}),
        _ => {
            let data = json!({"code": problem.code(), "retry_after": problem.retry_after()});
            let error = json!({"code": OVER_LIMIT, "message": problem.detail(), "data": data});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    };
    Json(answer).into_response()
}

/// An error of the server that JSON-RPC does not name.
const OVER_LIMIT: i32 = -32_000;

fn from_a_page() -> Problem {
    let detail = "Docket does not answer pages in a browser here: send no header Origin.";
    Problem::new(AppErrorCode::WrongOrigin, detail)
}

fn not_acceptable() -> Problem {
    let detail = "The answer is JSON. The header Accept must permit application/json.";
    Problem::new(AppErrorCode::NotAcceptable, detail)
}

/// The methods that `rmcp` answers. It takes a request whose parameters it cannot read for one with an unknown method.
const METHODS: [&str; 5] = ["initialize", "ping", "server/discover", "tools/list", "tools/call"];

/// The maximum length of ids, names of methods and versions of the protocol, in bytes. Responses and log lines of `rmcp` contain them.
const NAME_MAX_BYTES: usize = 256;

/// Where a message has a version of the protocol.
const VERSIONS: [&str; 2] =
    ["/params/protocolVersion", "/params/_meta/io.modelcontextprotocol~1protocolVersion"];

/// The error of a message.
#[derive(Debug, PartialEq)]
struct Refused {
    /// That of the request, if the message is a request.
    id: Option<RequestId>,
    code: ErrorCode,
    message: &'static str,
}

impl Refused {
    const INCOMPLETE: Self = Self::without_id(ErrorCode::INVALID_REQUEST, "The body is incomplete.");

    const fn without_id(code: ErrorCode, message: &'static str) -> Self {
        Self { id: None, code, message }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Self { id, code: ErrorCode(code), message } = self;
        // As `rmcp` responds to a request with an error.
        let status = if id.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
        let mut response = (status, Json(error)).into_response();
        response.extensions_mut().insert(OwnFormat);
        response
    }
}

/// Fails unless a body is one message of the protocol that `rmcp` can read.
fn check_message(body: &[u8]) -> Result<(), Refused> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|_| Refused::without_id(ErrorCode::PARSE_ERROR, "The body is not JSON."))?;
    if value.is_array() {
        let message = "Batches are not supported. Send one message in each request.";
        return Err(Refused::without_id(ErrorCode::INVALID_REQUEST, message));
    }
    for version in VERSIONS {
        if value.pointer(version).and_then(Value::as_str).is_some_and(|text| text.len() > NAME_MAX_BYTES) {
            let message = "The version of the protocol is too long.";
            return Err(Refused::without_id(ErrorCode::INVALID_REQUEST, message));
        }
    }
    // Of the bytes, as `rmcp` does: the value has one of two fields with the same name.
    let (id, method, is_readable) = match serde_json::from_slice(body) {
        Ok(ClientJsonRpcMessage::Request(JsonRpcRequest { id, request, .. })) => match request {
            ClientRequest::CustomRequest(CustomRequest { method, .. }) => (id, Some(method), true),
            _ => (id, None, true),
        },
        Ok(_) => return Ok(()),
        Err(_) => {
            let Envelope { id, method, .. } = serde_json::from_slice(body).map_err(|_| {
                let message = "The body is not a message of JSON-RPC 2.0.";
                Refused::without_id(ErrorCode::INVALID_REQUEST, message)
            })?;
            (id, Some(method), false)
        }
    };
    if matches!(&id, RequestId::String(id) if id.len() > NAME_MAX_BYTES) {
        return Err(Refused::without_id(ErrorCode::INVALID_REQUEST, "The id is too long."));
    }
    let (code, message) = match method.as_deref() {
        None => return Ok(()),
        Some(known) if METHODS.contains(&known) => {
            (ErrorCode::INVALID_PARAMS, "The parameters of the method are missing or have a wrong type.")
        }
        Some(unknown) if is_readable && unknown.len() <= NAME_MAX_BYTES => return Ok(()),
        Some(_) => (ErrorCode::METHOD_NOT_FOUND, "There is no such method."),
    };
    Err(Refused { id: Some(id), code, message })
}

/// A request, whatever its parameters are: `rmcp` reads no list of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion2_0,
    id: RequestId,
    method: String,
    #[serde(default, rename = "params")]
    _parameters: IgnoredAny,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_that_is_not_one_message_has_an_error_of_json_rpc() {
        let code = |body: &[u8]| check_message(body).map_err(|refused| refused.code.0);
        for body in [&b""[..], b"{", b"\xff", b"[1,", "[".repeat(10_000).as_bytes()] {
            assert_eq!(code(body), Err(-32_700), "{body:.20?}");
        }
        for body in
            ["[]", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "1", "null", "{}", "{\"id\":1}"]
        {
            assert_eq!(code(body.as_bytes()), Err(-32_600), "{body}");
        }
        let twice = "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}";
        assert_eq!(code(twice.as_bytes()), Err(-32_600));
        let version = |text: &str| {
            let of_call = json!({"io.modelcontextprotocol/protocolVersion": text});
            let info = json!({"protocolVersion": text, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
            [("initialize", info), ("ping", json!({"_meta": of_call}))].map(|(method, params)| {
                let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
                code(message.to_string().as_bytes())
            })
        };
        assert_eq!(version("2025-06-18"), [Ok(()), Ok(())]);
        assert_eq!(
            version(&"x".repeat(257)),
            [Err(-32_600), Err(-32_600)],
            "it would be in the response and in the log"
        );
        for body in [
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        ] {
            assert_eq!(code(body.as_bytes()), Ok(()), "{body}");
        }
    }
}
