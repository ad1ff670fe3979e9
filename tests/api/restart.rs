//! A restart takes a short time, whatever clients wait for or leave unfinished.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use futures::StreamExt;
use futures::future::join_all;
use reqwest::Method;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use web::process::listen;

use crate::helpers::{
    Browser, Installation, PASSWORD, PausedUpstream, Served, TestResponse, intent, json, until,
};

/// Requests that wait, and tokens that send them: each may send 30 at once.
const WAITING: usize = 200;
const TOKENS: usize = 10;

/// The expected time is two seconds. This is far below the 41 seconds of requests in progress, and far above what a busy machine needs.
const MOST: Duration = Duration::from_secs(25);

/// A server with an active job, and tokens of its owner.
struct Serving {
    installation: Installation,
    server: Served,
    upstream: PausedUpstream,
    operator: Browser,
    tokens: Vec<String>,
    /// The path of the job in `/api/v1`.
    job: String,
    id: String,
}

impl Serving {
    async fn start(change: impl FnOnce(Installation) -> Installation) -> Self {
        let upstream = PausedUpstream::start().await;
        let installation = change(Installation::configured(&upstream.url()));
        installation.run_with_input(&["user", "add", "olga", "--role", "operator"], PASSWORD);
        let create =
            ["token", "create", "--user", "olga", "--name", "CI", "--scopes", "jobs:read,jobs:write"];
        let tokens = (0..TOKENS).map(|_| installation.run(&create).stdout.trim().to_owned()).collect();
        let server = installation.serve(&["serve"]);
        let operator = Browser::at(&server.address().await);
        assert_eq!(operator.sign_in("olga", PASSWORD).await.status, 200);
        let job = operator.created("Fix typos").await;
        assert_eq!(job["state"], "active", "{job}");
        let id = job["id"].as_str().unwrap().to_owned();
        Self {
            installation,
            server,
            upstream,
            operator,
            tokens,
            job: format!("/api/v1/projects/docs/jobs/{id}"),
            id,
        }
    }

    async fn browser(&self) -> Browser {
        Browser::at(&self.server.address().await)
    }

    /// Waits for the job, by the JSON API or by MCP.
    async fn wait(&self, client: &Browser, number: usize) -> TestResponse {
        let token = &self.tokens[number % TOKENS];
        if number.is_multiple_of(2) {
            let request = client.request(Method::GET, &format!("{}?wait=60", self.job));
            return client.send(request.bearer_auth(token)).await;
        }
        let arguments = json!({"project": "docs", "job": self.id, "wait": 45});
        let parameters = json!({"name": "get_job", "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters});
        let request = client.request(Method::POST, "/mcp").bearer_auth(token);
        let request = request.header("accept", "application/json, text/event-stream");
        client.send(request.header("mcp-protocol-version", "2025-06-18").json(&message)).await
    }

    /// Completes when `number` requests have arrived that wait.
    async fn until_waiting(&self, number: usize) {
        until("all requests wait", async || {
            let waiting = self.server.output().matches("a request waits for the end of a job").count();
            (waiting >= number).then_some(())
        })
        .await;
    }
}

/// The job in a response of either kind.
fn job_of(response: &TestResponse) -> Value {
    assert_eq!(response.status, 200, "{}", response.text);
    let mut body = response.json();
    if body["result"].is_object() { body["result"]["structuredContent"].take() } else { body }
}

#[tokio::test]
async fn two_hundred_waiting_requests_do_not_delay_a_restart() {
    let serving =
        Serving::start(|installation| installation.set("DOCKET_LOG", "info,docket_service::jobs=debug"))
            .await;
    let client = serving.browser().await;
    let waiting = join_all((0..WAITING).map(|number| serving.wait(&client, number)));
    let stopped = async {
        serving.until_waiting(WAITING).await;
        let began = Instant::now();
        serving.server.signal("TERM");
        assert!(serving.server.ended().await.success());
        began.elapsed()
    };
    let (responses, took) = tokio::join!(waiting, stopped);
    for response in &responses {
        assert_eq!(job_of(response)["state"], "active");
    }
    assert!(took < MOST, "{took:?}");
    report(&format!("stopped with {WAITING} waiting requests"), took);
}

#[tokio::test]
async fn waiting_ends_with_the_signal_and_new_requests_are_served() {
    let serving = Serving::start(|installation| {
        installation
            .set("DOCKET_LOG", "info,docket_service::jobs=debug")
            .set("DOCKET_SHUTDOWN_DELAY_SECONDS", "300")
    })
    .await;
    let client = serving.browser().await;
    let signals = async {
        serving.until_waiting(2).await;
        serving.server.signal("TERM");
    };
    let (first, second, ()) = tokio::join!(serving.wait(&client, 0), serving.wait(&client, 1), signals);
    for response in [first, second] {
        assert_eq!(job_of(&response)["state"], "active");
    }
    // The drain has not begun.
    let new = serving.browser().await;
    assert_eq!(new.get("/login").await.status, 200);
    for number in 0..2 {
        assert_eq!(job_of(&serving.wait(&new, number).await)["state"], "active", "nothing waits any longer");
    }
    serving.server.signal("TERM");
    assert!(serving.server.ended().await.success());
}

#[tokio::test]
async fn prompt_being_sent_is_responded_to_at_the_signal_and_delivered() {
    let serving =
        Serving::start(|installation| installation.set("DOCKET_SHUTDOWN_DELAY_SECONDS", "300")).await;
    serving.upstream.pause();
    let (client, key, of_page) = (serving.browser().await, intent(), intent());
    let page = serving.operator.create("From a page", &of_page);
    let request = client.request(Method::POST, "/api/v1/projects/docs/jobs").bearer_auth(&serving.tokens[0]);
    let script =
        client.send(request.header("idempotency-key", &key).json(&json!({"prompt": "From a script"})));
    let signals = async {
        until("both are being sent", async || {
            let posts = ["From a page", "From a script"].map(|prompt| serving.upstream.posts_of(prompt));
            (posts == [1, 1]).then_some(())
        })
        .await;
        serving.server.signal("TERM");
    };
    let (page, script, ()) = tokio::join!(page, script, signals);
    assert_eq!((page.status, page.json()["state"].as_str()), (200, Some("sending")), "{}", page.text);
    assert_eq!((script.status, script.json()["state"].as_str()), (202, Some("sending")), "{}", script.text);
    serving.server.signal("TERM");
    serving.upstream.resume();
    assert!(serving.server.ended().await.success());
    let accepted = "SELECT COUNT(*) FROM messages WHERE state = 'accepted'";
    assert_eq!(serving.installation.ledger().count(accepted).await, 3);
}

/// The routes of a server that is stopped: a response that never ends, and one that needs the body.
fn routes() -> Router {
    let endless = async || {
        Body::from_stream(futures::stream::repeat(vec![b'x'; 64 * 1_024]).map(Ok::<_, std::io::Error>))
    };
    let slow = async || {
        // Longer than a client may take, so that it is noticed if the server may not.
        tokio::time::sleep(Duration::from_secs(7)).await;
        "done"
    };
    Router::new()
        .route("/endless", get(endless))
        .route("/slow", get(slow))
        .route("/body", post(async |body: String| body))
}

/// A connection on which a client has sent this.
fn begun(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_do_not_delay_a_restart() {
    let listener = listen::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let serving =
        tokio::spawn(listen::serve(listener, routes(), listen::Connections::unlimited(), stop.clone()));
    let host = "host: docket\r\n";
    let texts = [
        "GET /headers HTTP/1.1\r\nhost: doc".to_owned(),
        format!("POST /body HTTP/1.1\r\n{host}content-length: 100\r\n\r\nhalf"),
        format!("GET /endless HTTP/1.1\r\n{host}\r\n"),
    ];
    let slow: Vec<TcpStream> = texts.iter().map(|text| begun(address, text)).collect();
    // One client reads without end.
    let mut reader = slow[2].try_clone().unwrap();
    let stopped = Arc::new(CancellationToken::new());
    let reads = {
        let stopped = stopped.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            while !stopped.is_cancelled() && matches!(reader.read(&mut buffer), Ok(1..)) {
                std::thread::sleep(Duration::from_millis(10));
            }
        })
    };
    let mut working = begun(address, &format!("GET /slow HTTP/1.1\r\n{host}\r\n"));
    // The server has received them all when it responds to another one.
    let mut last = begun(address, &format!("GET / HTTP/1.1\r\n{host}connection: close\r\n\r\n"));
    let text = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        last.read_to_string(&mut text).unwrap();
        text
    });
    assert!(text.await.unwrap().starts_with("HTTP/1.1 404"));
    let began = Instant::now();
    stop.cancel();
    serving.await.unwrap();
    let took = began.elapsed();
    stopped.cancel();
    let response = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        working.read_to_string(&mut text).unwrap();
        text
    });
    assert!(response.await.unwrap().ends_with("done"), "the server's own work is completed");
    assert!(took < MOST, "{took:?}");
    report("stopped with slow clients", took);
    for stream in &slow {
        _ = stream.shutdown(Shutdown::Both);
    }
    reads.join().unwrap();
}

#[expect(clippy::print_stderr, reason = "a measured time that no test asserts exactly")]
fn report(what: &str, took: Duration) {
    eprintln!("{what} after {:.2} s", took.as_secs_f64());
}

#[tokio::test]
async fn start_that_cannot_record_its_heartbeat_ends_with_an_error() {
    let upstream = PausedUpstream::start().await;
    let installation = Installation::configured(&upstream.url());
    installation.run_with_input(&["user", "add", "olga", "--role", "operator"], PASSWORD);
    installation.ledger().refuse("INSERT ON instances", "1 = 1").await;
    let server = installation.serve(&["serve"]);
    assert_eq!(server.ended().await.code(), Some(1), "{}", server.output());
    let output = server.output();
    assert!(output.contains("recording what an earlier run left behind"), "{output}");
    assert!(!output.contains("listening"), "it was ready before: {output}");
}
