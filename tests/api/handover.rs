//! Successive processes share a socket that outlives them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::routing::get;
use reqwest::Method;
use tokio_util::sync::CancellationToken;
use web::process::listen;

use crate::helpers::{Browser, Installation, New, PausedUpstream, until};

const SOCKET: &str = include_str!("../../packaging/docket.socket");

fn bound() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

#[tokio::test]
async fn restart_under_load_loses_no_request() {
    let upstream = PausedUpstream::start().await;
    let socket = bound();
    let address = socket.local_addr().unwrap().to_string();
    let installation = Installation::with_administrator(&upstream.url())
        .set("DOCKET_ADDR", &address)
        .set("DOCKET_AGENT_PER_HOUR", "100000");
    let first = installation.serve_on(&socket, None);
    let browser = Arc::new(first.signed_in().await);
    assert_eq!(first.address().await, format!("http://{address}"));

    let (stop, done) = (CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
    let person = |n: usize| {
        let (browser, stop, done) = (browser.clone(), stop.clone(), done.clone());
        tokio::spawn(async move {
            let mut posted = Vec::new();
            while !stop.is_cancelled() {
                // Half of the clients connect for each request, the others keep their connections.
                let kind = if n.is_multiple_of(2) { "close" } else { "keep-alive" };
                let page = browser.request(Method::GET, "/p/docs/jobs").header("connection", kind);
                let page = browser.try_send(page).await.expect("a page");
                assert_eq!(page.status, 200, "{}", page.text);
                let prompt = format!("Prompt {} of person {n}", posted.len());
                let create = New::job(&prompt).request(&browser).header("connection", kind);
                let response = browser.try_send(create).await.expect("a response");
                assert_eq!(response.status, 200, "{}", response.text);
                posted.push(prompt);
                done.fetch_add(1, Ordering::SeqCst);
            }
            posted
        })
    };
    let people: Vec<_> = (0..6).map(person).collect();
    let more = async || {
        let before = done.load(Ordering::SeqCst);
        until("people go on", async || (done.load(Ordering::SeqCst) >= before + 12).then_some(())).await;
    };
    more().await;
    first.signal("TERM");
    assert!(first.ended().await.success());
    let second = installation.serve_on(&socket, None);
    second.address().await;
    more().await;
    stop.cancel();
    let mut posted = 0;
    for person in people {
        for prompt in person.await.expect("a request was lost") {
            // One that was accepted after the stop signal is sent by the second process.
            until("it is sent", async || (upstream.posts_of(&prompt) > 0).then_some(())).await;
            assert_eq!(upstream.posts_of(&prompt), 1, "{prompt}");
            posted += 1;
        }
    }
    let (ledger, accepted) =
        (installation.ledger(), "SELECT COUNT(*) FROM messages WHERE state = 'accepted'");
    until("all are accepted", async || (ledger.count(accepted).await >= posted).then_some(())).await;
    assert_eq!(ledger.count(accepted).await, posted);
}

#[tokio::test]
async fn socket_named_metrics_serves_metrics() {
    let (main, metrics) = (bound(), bound());
    let installation = Installation::configured("http://127.0.0.1:9");
    let server = installation.serve_on(&main, Some(&metrics));
    let main = Browser::at(&format!("http://{}", main.local_addr().unwrap()));
    assert_eq!(server.address().await, format!("http://{}", server.output_after("listening address=").await));
    // DOCKET_ADDR is port 0: other commands could not find this server by it.
    assert!(server.output().contains("another address than DOCKET_ADDR"), "{}", server.output());
    assert_eq!(main.get("/healthz").await.status, 200);
    assert_eq!(main.get("/metrics").await.status, 404);
    let metrics = Browser::at(&format!("http://{}", metrics.local_addr().unwrap()));
    assert_eq!(metrics.get("/metrics").await.status, 200);
    assert_eq!(metrics.get("/healthz").await.status, 404);
}

#[test]
fn socket_with_an_unknown_name_is_refused() {
    let installation = Installation::configured("http://127.0.0.1:9");
    let line = "exec 3</dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$0\" \"$@\"";
    let finished = installation.run_by(line, &["serve"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("is not for TCP"), "{finished:?}");
}

/// Sends one request and returns its response.
fn exchange(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nhost: docket\r\n\r\n").unwrap();
    let (mut response, mut bytes) = (Vec::new(), [0; 1_024]);
    while !response.ends_with(b"here") {
        let length = stream.read(&mut bytes).unwrap();
        assert!(length > 0, "closed after {}", String::from_utf8_lossy(&response));
        response.extend_from_slice(&bytes[..length]);
    }
    String::from_utf8(response).unwrap().to_lowercase()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_connections_get_their_response_after_the_stop_signal() {
    let socket = bound();
    let address = socket.local_addr().unwrap();
    socket.set_nonblocking(true).unwrap();
    let stop = CancellationToken::new();
    let listener = tokio::net::TcpListener::from_std(socket).unwrap();
    let routes = Router::new().route("/", get(async || "here"));
    let limits = listen::Connections::unlimited();
    let serving = tokio::spawn(listen::serve(listener, routes, limits, stop.clone()));
    let talk = tokio::task::spawn_blocking(move || {
        let mut open = TcpStream::connect(address).unwrap();
        assert!(!exchange(&mut open).contains("connection: close"));
        // The server accepts the third connection before it responds to the fourth.
        let mut new = TcpStream::connect(address).unwrap();
        exchange(&mut TcpStream::connect(address).unwrap());
        stop.cancel();
        for stream in [&mut open, &mut new] {
            assert!(exchange(stream).contains("connection: close"));
            assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0, "it is closed then");
        }
    });
    talk.await.unwrap();
    serving.await.unwrap();
}

#[test]
fn socket_unit_listens_on_the_default_address() {
    let defaults = &base::config::KEYS.iter().find(|key| key.name == "addr").unwrap().default;
    for line in [&format!("ListenStream={defaults}"), "WantedBy=sockets.target"] {
        assert!(SOCKET.lines().any(|other| other == line), "{line}");
    }
}
