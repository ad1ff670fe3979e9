//! The server checks the session when the body of a request is complete, and again when the request writes.

use model::user::{GivenProjects, Role};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::gate::{OPEN, endpoints};
use crate::helpers::work::work_at;
use crate::helpers::{Browser, TestApp, fields, intent};

/// A request whose body is incomplete.
struct LateBody {
    path: &'static str,
    stream: TcpStream,
    rest: Vec<u8>,
}

/// Values for the fields of every endpoint, as far as they matter here.
async fn all_fields(app: &TestApp) -> String {
    let (ada, otto, intent) = (app.id_of("ada").await, app.id_of("otto").await, intent());
    let day = "2026-01-01";
    fields(&[
        ("project", "docs"),
        ("user", &ada),
        ("name", "mallory"),
        ("role", "admin"),
        ("access", "all"),
        ("prompt", "Fix typos"),
        ("text", "Fix typos"),
        ("intent", &intent),
        ("day", day),
        ("from", day),
        ("to", day),
        ("old", "x"),
        ("new", "x"),
        ("session", &otto),
    ])
}

impl LateBody {
    /// Sends the head and five bytes of the body. The server asks for more (`100 Continue`) when it begins to read the body.
    async fn begin(app: &TestApp, browser: &Browser, path: &'static str, body: &str) -> Self {
        let (head, cookie) = (app.origin(), browser.cookie().unwrap());
        let host = head.trim_start_matches("http://");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\norigin: {head}\r\ncookie: {cookie}\r\nexpect: 100-continue\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(app.address()).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut interim = [0; 25];
        stream.read_exact(&mut interim).await.unwrap();
        assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n", "{path}");
        let (first, rest) = body.as_bytes().split_at(5);
        stream.write_all(first).await.unwrap();
        Self { path, stream, rest: rest.to_vec() }
    }

    /// Sends the remaining body, and returns the status of the response.
    async fn finish(mut self) -> (&'static str, String) {
        self.stream.write_all(&self.rest).await.unwrap();
        let mut response = String::new();
        self.stream.read_to_string(&mut response).await.unwrap();
        (self.path, response.split(' ').nth(1).unwrap_or_default().to_owned())
    }
}

fn guarded() -> impl Iterator<Item = &'static str> {
    endpoints().into_iter().filter(|path| !OPEN.contains(path))
}

/// How many writes users made: every action leaves an audit record, apart from drafts and saved views.
async fn count_writes(app: &TestApp) -> i64 {
    let tables = ["audit", "users", "jobs", "messages", "drafts", "saved_views", "templates", "batches"];
    let counts = tables.map(|table| format!("(SELECT COUNT(*) FROM {table})"));
    let mut connection = app.ledger().connection().await;
    let count = format!("SELECT {}", counts.join(" + "));
    sqlx::query_scalar(sqlx::AssertSqlSafe(count)).fetch_one(&mut connection).await.unwrap()
}

/// Opens a request to every guarded endpoint, changes the account, and completes each request.
async fn refused_after(app: &TestApp, browser: &Browser, change: impl AsyncFnOnce()) {
    let body = all_fields(app).await;
    let mut late = Vec::new();
    for path in guarded() {
        late.push(LateBody::begin(app, browser, path, &body).await);
    }
    change().await;
    let before = count_writes(app).await;
    for request in late {
        let (path, status) = request.finish().await;
        assert_eq!(status, "401", "{path}");
    }
    assert_eq!(count_writes(app).await, before);
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn account_disabled_while_a_body_arrives_is_refused() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    // The last administrator cannot be disabled.
    let (store, now) = (&app.state().store, app.clock().now());
    store.add_user((&work_at(now)).into(), "adele", Role::Admin, "").await.unwrap();
    refused_after(&app, &ada, async || {
        assert!(store.set_disabled((&work_at(now)).into(), "ada", true).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn session_ended_while_a_body_arrives_is_refused() {
    let app = TestApp::start().await;
    let (ada, elsewhere) = (app.sign_in("ada").await, app.sign_in("ada").await);
    refused_after(&app, &ada, async || {
        elsewhere.post_json("/api/account/sign-out-others", &[]).await;
    })
    .await;
}

#[tokio::test]
async fn demoted_administrator_is_refused_while_a_body_arrives() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let (store, now) = (&app.state().store, app.clock().now());
    store.add_user((&work_at(now)).into(), "adele", Role::Admin, "").await.unwrap();
    let id = app.id_of("ada").await;
    refused_after(&app, &ada, async || {
        assert!(
            store.set_access((&work_at(now)).into(), &id, Role::Operator, &GivenProjects::All).await.unwrap()
        );
    })
    .await;
}

#[tokio::test]
async fn large_body_without_a_session_is_refused_as_unauthenticated() {
    let app = TestApp::start().await;
    let large = "x".repeat(17 * 1024);
    let pairs = [("project", "docs"), ("prompt", large.as_str())];
    app.anonymous().post("/api/jobs/create", &pairs).await.refused(401, "unauthenticated");
    let forged = app.anonymous();
    forged.set_cookie("docket=AAAAAAAAAAAAAAAAAAAAAA");
    forged.post("/api/jobs/create", &pairs).await.refused(401, "unauthenticated");
}
