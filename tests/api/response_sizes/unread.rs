//! Clients that do not read large responses: two of each person are produced, and the others are refused.

use reqwest::Method;
use serde_json::Value;
use service::response_size::FREE_MAX_BYTES;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::filled::{self, Filled};
use super::id_of;
use crate::api_tokens::problem;
use crate::helpers::{intent, json, until, within_deadline};

/// As many as one of the attacks had.
const CLIENTS: usize = 84;
/// How many large responses one person has at once.
const PERMITS: usize = 2;

/// A connection with a request whose response is not read, with a small buffer.
async fn unread(filled: &Filled, request: String) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut stream = socket.connect(filled.app.address()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// The statuses of the responses: only their first bytes are read.
async fn statuses(streams: &mut [TcpStream]) -> Vec<String> {
    let mut statuses = Vec::new();
    for stream in streams {
        let mut start = [0; 12];
        within_deadline("a response", stream.read_exact(&mut start)).await.unwrap();
        statuses.push(String::from_utf8_lossy(&start[9..]).into_owned());
    }
    statuses
}

/// Checks that two responses are produced, and that both permits are free when their clients have left.
async fn check(filled: &Filled, who: &str, mut streams: Vec<TcpStream>) {
    let statuses = statuses(&mut streams).await;
    let produced = statuses.iter().filter(|status| *status == "200").count();
    assert_eq!(produced, PERMITS, "{statuses:?}");
    assert!(statuses.iter().all(|status| ["200", "503"].contains(&status.as_str())), "{statuses:?}");
    let person = id_of(&filled.app, who).await;
    let permits = &filled.app.state().query_permits;
    assert!(permits.acquire(&person).await.is_err(), "the permits of unread responses are free");
    drop(streams);
    until("the permits are free", async || permits.acquire(&person).await.ok()).await;
}

#[tokio::test]
async fn unread_streams_of_the_json_api_are_limited_per_person() {
    let filled = filled::with_long_job().await;
    let path = format!("/api/v1/projects/docs/jobs/{}", filled.stored.long_job);
    let mut streams = Vec::new();
    for _ in 0..CLIENTS {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n", filled.app.address());
        streams
            .push(unread(&filled, format!("{head}authorization: Bearer {}\r\n\r\n", filled.token())).await);
    }
    check(&filled, "olga", streams).await;
}

/// A socket's buffer holds 1 MiB, so a whole body is sent even if nobody reads it: the permits are used here directly.
#[tokio::test]
async fn whole_body_above_256_kib_needs_a_permit_of_its_person() {
    let filled = filled::with_long_job().await;
    let person = id_of(&filled.app, "ada").await;
    let permits = &filled.app.state().query_permits;
    let used = [permits.acquire(&person).await.unwrap(), permits.acquire(&person).await.unwrap()];
    let fields = [("project", "docs"), ("job", filled.stored.long_job.as_str())];
    filled.ada.post("/api/jobs/get", &fields).await.refused(503, "busy");
    // The last follow-up before number 2 is short enough.
    let small = [fields[0], fields[1], ("before", "2")];
    assert_eq!(filled.ada.post("/api/jobs/get", &small).await.status, 200);
    drop(used);
    assert_eq!(filled.ada.post("/api/jobs/get", &fields).await.status, 200);
}

/// Two responses of olga's tokens, which nobody reads and which use both permits.
async fn two_unread(filled: &Filled) -> Vec<TcpStream> {
    let path = format!("/api/v1/projects/docs/jobs/{}", filled.stored.long_job);
    let mut streams = Vec::new();
    for _ in 0..PERMITS {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n", filled.app.address());
        let request = format!("{head}authorization: Bearer {}\r\n\r\n", filled.token());
        streams.push(unread(filled, request).await);
    }
    assert_eq!(statuses(&mut streams).await, ["200"; PERMITS]);
    streams
}

#[tokio::test]
async fn change_is_reported_although_unread_responses_use_all_permits() {
    let filled = filled::with_long_job().await;
    let app = &filled.app;
    app.upstream.accepts_follow_ups().await;
    let (olga, client) = (app.operator().await, app.anonymous());
    let id = filled.stored.long_job.as_str();
    let ledger = app.ledger();
    let messages = async || ledger.count("SELECT COUNT(*) FROM messages").await;
    let before = messages().await;
    let unread = two_unread(&filled).await;
    let post = async |path: &str, key: &str, body: &Value| {
        let request = client.request(Method::POST, path).bearer_auth(filled.token());
        let request = request.header("accept", "application/json, text/event-stream");
        client.send(request.header("idempotency-key", key).json(body)).await
    };
    // The second one is a repeated request.
    let job = format!("/api/v1/projects/docs/jobs/{id}");
    for _ in 0..2 {
        let sent = post(&format!("{job}/messages"), "first", &json!({ "prompt": "Fix typos" })).await;
        assert_eq!(sent.status, 201, "{:.300}", sent.text);
        let mut short = sent.json();
        assert!(short["follow_up_id"].take().is_string(), "{short}");
        let expected = json!({
            "id": id, "state": "active", "ended": false, "reason_code": null,
            "follow_up_id": null, "follow_up_state": "accepted", "follow_up_reason_code": null,
        });
        assert_eq!(short, expected);
        assert_eq!(messages().await, before + 1);
    }
    let arguments = json!({"project": "docs", "job": id, "prompt": "Fix more", "idempotency_key": "second"});
    let params = json!({ "name": "send_follow_up", "arguments": arguments });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let called = post("/mcp", "", &call).await;
    assert_eq!(called.status, 200, "{:.300}", called.text);
    assert_eq!(called.json()["result"]["structuredContent"]["id"], id, "{:.300}", called.text);
    assert_eq!(messages().await, before + 2);
    let form = intent();
    let fields = [("project", "docs"), ("job", id), ("prompt", "Fix all"), ("intent", &*form)];
    let sent = olga.post("/api/jobs/message", &fields).await;
    assert_eq!(sent.status, 200, "{:.300}", sent.text);
    assert!(sent.bytes.len() <= FREE_MAX_BYTES, "{}", sent.bytes.len());
    assert_eq!(messages().await, before + 3);
    let cancelled = post(&format!("{job}/cancel"), "third", &json!({})).await;
    // No prompt is queued, and nothing is said about the responses that are still being sent.
    problem(&cancelled, 409, "conflict");
    drop(unread);
}

#[tokio::test]
async fn revoked_token_ends_a_response_that_is_being_sent() {
    let filled = filled::with_long_job().await;
    let mut unread = two_unread(&filled).await;
    let olga = filled.app.operator().await;
    for token in olga.post_json("/api/tokens/list", &[]).await["tokens"].as_array().unwrap() {
        let fields = [("token", token["id"].as_str().unwrap())];
        assert_eq!(olga.post("/api/tokens/revoke", &fields).await.status, 200);
    }
    let person = id_of(&filled.app, "olga").await;
    let permits = &filled.app.state().query_permits;
    // Although nothing is read, and no unread response is closed for that reason (`helpers::app`).
    until("the permits are free", async || {
        Some([permits.acquire(&person).await.ok()?, permits.acquire(&person).await.ok()?])
    })
    .await;
    for stream in &mut unread {
        let mut rest = Vec::new();
        // A complete body in chunks ends with an empty one.
        _ = within_deadline("the end", stream.read_to_end(&mut rest)).await;
        assert!(!rest.ends_with(b"0\r\n\r\n"), "the body is complete: {} bytes", rest.len());
    }
}
