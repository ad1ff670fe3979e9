//! A token is checked before the body of its request is read, and again when the body is complete.

use model::audit::Outcome;
use model::user::{GivenProjects, Role};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Script;
use super::description::{description, endpoints};
use crate::api_tokens::{audited, listed};
use crate::helpers::work::work;
use crate::helpers::{TestApp, json, within_deadline};

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A request with a body: its method, path and body.
type Call = (String, String, String);

/// A request whose body is incomplete.
struct LateBody {
    what: String,
    stream: TcpStream,
    rest: Vec<u8>,
}

/// A request to each endpoint of the description, and to the tools of MCP. The path of `job` is in them.
async fn calls(app: &TestApp, job: &str) -> Vec<Call> {
    let prompt = json!({"prompt": "Fix typos"}).to_string();
    let of_endpoint = |(method, path): (String, String)| {
        (method, path.replace("{project}", "docs").replace("{job}", job), prompt.clone())
    };
    let mut calls: Vec<Call> = endpoints(&description(app).await).into_iter().map(of_endpoint).collect();
    calls.push(("POST".to_owned(), "/api/v1/nowhere".to_owned(), prompt.clone()));
    let text = json!({"project": "docs", "job": job, "prompt": "Fix typos", "idempotency_key": "mcp"});
    for (tool, fields) in [
        ("start_job", &["project", "prompt", "idempotency_key"][..]),
        ("send_follow_up", &["project", "job", "prompt", "idempotency_key"]),
        ("cancel_job", &["project", "job"]),
        ("list_projects", &[]),
        ("list_templates", &["project"]),
        ("list_budgets", &[]),
        ("list_jobs", &["project"]),
        ("get_job", &["project", "job"]),
        ("page_views", &["project"]),
        ("falling_pages", &["project"]),
    ] {
        let arguments: Value =
            fields.iter().map(|field| ((*field).to_owned(), text[field].clone())).collect();
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
        calls.push(("POST".to_owned(), "/mcp".to_owned(), call.to_string()));
    }
    calls
}

/// Sends the head of a request that announces a body of `length` bytes, and begins to send it only if the server asks for it.
async fn send_head(
    app: &TestApp,
    method: &str,
    path: &str,
    token: &str,
    key: usize,
    length: usize,
) -> TcpStream {
    let origin = app.origin();
    let host = origin.trim_start_matches("http://");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nexpect: 100-continue\r\n\
         idempotency-key: late-{key}\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    let mut stream = TcpStream::connect(app.address()).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn response(stream: &mut TcpStream) -> String {
    let mut response = Vec::new();
    within_deadline("a response", stream.read_to_end(&mut response)).await.unwrap();
    String::from_utf8(response).unwrap()
}

impl LateBody {
    /// Sends the head and five bytes of the body.
    async fn begin(app: &TestApp, token: &str, key: usize, (method, path, body): &Call) -> Self {
        let mut stream = send_head(app, method, path, token, key, body.len()).await;
        let mut interim = [0; CONTINUE.len()];
        within_deadline("the server reads the body", stream.read_exact(&mut interim)).await.unwrap();
        assert_eq!(&interim, CONTINUE, "{method} {path}");
        let (first, rest) = body.as_bytes().split_at(5);
        stream.write_all(first).await.unwrap();
        Self { what: format!("{method} {path} {body}"), stream, rest: rest.to_vec() }
    }

    /// Sends the remaining body, and returns the response.
    async fn finish(mut self) -> (String, String) {
        self.stream.write_all(&self.rest).await.unwrap();
        (self.what, response(&mut self.stream).await)
    }
}

/// Everything that a request with a token can write.
async fn count_writes(app: &TestApp) -> i64 {
    app.ledger()
        .count(
            "SELECT (SELECT COUNT(*) FROM messages) + (SELECT COUNT(*) FROM job_events) + (SELECT COUNT(*) FROM audit WHERE action <> 'api_token_use')",
        )
        .await
}

/// Begins each request, changes the account, and completes each request: all are refused.
async fn refused_after(reason: &str, change: impl AsyncFnOnce(&TestApp)) {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let job = script.post("/projects/docs/jobs", "first", &json!({"prompt": "Fix typos"})).await.json();
    let calls = calls(&app, job["id"].as_str().unwrap()).await;
    let mut late = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        late.push(LateBody::begin(&app, &script.token, number, call).await);
    }
    change(&app).await;
    let (writes, sent) = (count_writes(&app).await, app.upstream.requests().await.len());
    let requests = late.len();
    for request in late {
        let (what, response) = request.finish().await;
        assert!(response.starts_with("HTTP/1.1 401 "), "{reason}: {what}: {response}");
        assert!(
            response.contains("\"invalid_token\"") && response.contains("www-authenticate: Bearer"),
            "{response}"
        );
    }
    assert_eq!((count_writes(&app).await, app.upstream.requests().await.len()), (writes, sent), "{reason}");
    let refused = audited(&app, "api_token_use", Outcome::Refused).await;
    assert!(!refused.is_empty() && refused.len() <= requests, "{refused:?}");
    assert!(refused.iter().all(|(_, _, detail)| detail.starts_with(reason)), "{refused:?}");
}

#[tokio::test]
async fn token_revoked_while_a_body_arrives_is_refused() {
    refused_after("revoked", async |app| {
        let olga = app.operator().await;
        let id = listed(&olga).await["id"].as_str().unwrap().to_owned();
        olga.post_json("/api/tokens/revoke", &[("token", &id)]).await;
    })
    .await;
}

#[tokio::test]
async fn owner_disabled_while_a_body_arrives_is_refused() {
    refused_after("owner disabled", async |app| {
        assert!(app.state().store.set_disabled((&work()).into(), "olga", true).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn owner_demoted_while_a_body_arrives_is_refused() {
    refused_after("access changed", async |app| {
        let (store, id) = (&app.state().store, app.id_of("olga").await);
        assert!(store.set_access((&work()).into(), &id, Role::Viewer, &GivenProjects::All).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn unknown_client_uploads_no_body() {
    let app = TestApp::start().await;
    let unknown = service::auth::api_token::TokenText::random();
    for (number, (method, path, _)) in
        calls(&app, "01920000-0000-7000-8000-000000000001").await.iter().enumerate()
    {
        for token in ["", "dkt_wrong", unknown.expose()] {
            let mut stream = send_head(&app, method, path, token, number, 100_000).await;
            let refused = response(&mut stream).await;
            let is_refused =
                ["HTTP/1.1 401 ", "HTTP/1.1 429 "].iter().any(|status| refused.starts_with(status));
            assert!(is_refused, "{method} {path}: {refused}");
        }
    }
}
