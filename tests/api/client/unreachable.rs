//! What a wait survives until its time is over, and what is wrong for good: then the command ends at once.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use super::{Finished, Installation};
use crate::helpers::{Act, RawUpstream, TlsUpstream, certificate, json};

pub(super) const START: [&str; 6] = ["job", "start", "--project", "docs", "Fix typos", "--wait"];
pub(super) const ID: &str = "01920000-0000-7000-8000-000000000001";

pub(super) fn client(server: &str) -> Installation {
    Installation::new().set("DOCKET_SERVER", server).set("DOCKET_TOKEN", "dkt_x")
}

pub(super) fn job(state: &str) -> Value {
    json!({"id": ID, "state": state, "reason": null, "pull_request": null})
}

/// A response with this status and headers. One without content has no body.
pub(super) fn response(head: &str, body: &str) -> Vec<u8> {
    let length =
        if head.starts_with("204") { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    let body = if length.is_empty() { "" } else { body };
    format!("HTTP/1.1 {head}\r\n{length}\r\n{body}").into_bytes()
}

pub(super) fn json_response(body: &Value) -> Vec<u8> {
    response("200 OK\r\ncontent-type: application/json", &body.to_string())
}

/// What may go wrong for a while.
fn passing_faults() -> [Act; 8] {
    let gateway = |head: &str| response(&format!("{head}\r\ncontent-type: text/html"), "<h1>No.</h1>");
    let busy =
        r#"{"status": 503, "code": "database_unavailable", "detail": "Docket’s database is unavailable."}"#;
    [
        Act::HangUp(Vec::new()),
        Act::HangUp(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{".to_vec(),
        ),
        Act::HangUp(response("200 OK\r\ncontent-type: application/json", "{\"id\": ")),
        Act::Send(gateway("500 Error")),
        Act::Send(gateway("502 Bad Gateway")),
        Act::Send(gateway("504 Gateway Timeout")),
        Act::Send(gateway("503 Unavailable\r\nretry-after: 600")),
        Act::Send(response("503 Unavailable\r\ncontent-type: application/problem+json", busy)),
    ]
}

#[tokio::test]
async fn request_waits_for_less_than_a_balancer() {
    let server = MockServer::start().await;
    let states = std::sync::Mutex::new(vec!["completed", "active", "active"]);
    let next = move |_: &wiremock::Request| {
        ResponseTemplate::new(200).set_body_json(job(states.lock().unwrap().pop().unwrap()))
    };
    Mock::given(matchers::any()).respond_with(next).mount(&server).await;
    let finished = client(&server.uri()).run(&[&START[..], &["--timeout", "2h"]].concat());
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let requests = server.received_requests().await.unwrap();
    let queries: Vec<_> = requests.iter().map(|request| request.url.query()).collect();
    assert_eq!(queries, [None, Some("wait=25"), Some("wait=25")]);
}

#[test]
fn wait_survives_each_passing_fault() {
    for (number, fault) in passing_faults().into_iter().enumerate() {
        // The pause that this server names is a minute for a read.
        if number == 6 {
            continue;
        }
        let server = RawUpstream::start(move |request| match request {
            0 => Act::Send(json_response(&job("active"))),
            1 => fault.clone(),
            _ => Act::Send(json_response(&job("completed"))),
        });
        let finished = client(&server.url()).run(&START);
        assert_eq!((finished.code, server.requests()), (Some(0), 3), "{number}: {finished:?}");
    }
}

#[test]
fn wait_ends_when_its_time_is_over_whatever_the_fault() {
    let faults =
        passing_faults().into_iter().chain([Act::Stall(Vec::new()), Act::Stall(b"HTTP/1.1 200".to_vec())]);
    std::thread::scope(|scope| {
        for (number, fault) in faults.enumerate() {
            scope.spawn(move || {
                let server = RawUpstream::start(move |request| match request {
                    0 => Act::Send(json_response(&job("active"))),
                    _ => fault.clone(),
                });
                let started = Instant::now();
                let finished = client(&server.url()).run(&[&START[..], &["--timeout", "3s"]].concat());
                assert_eq!(finished.code, Some(5), "{number}: {finished:?}");
                assert!(finished.stderr.contains("the job has not ended after 3s"), "{number}: {finished:?}");
                assert!(finished.stdout.starts_with(&format!("{ID}  active\n")), "{number}: {finished:?}");
                assert!(started.elapsed() >= Duration::from_secs(3), "{number}: {finished:?}");
                let show = ["job", "show", "--project", "docs", ID, "--wait", "--timeout", "1s"];
                let shown = client(&server.url()).run(&show);
                assert_eq!(shown.code, Some(5), "{number}: {shown:?}");
            });
        }
    });
}

/// A server that stops, and the balancer before it, refuse connections.
#[test]
fn wait_outlives_a_server_that_is_gone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let show = ["job", "show", "--project", "docs", ID, "--wait", "--timeout", "2s"];
    let finished = client(&format!("http://{address}")).run(&show);
    assert_eq!(finished.code, Some(5), "{finished:?}");
    assert!(finished.stderr.contains("cannot be reached"), "{finished:?}");
}

/// The end of commands that fail for good. `code_of_start`: that of the only one whose first request is a change.
#[track_caller]
fn end_at_once(client: &Installation, code_of_start: i32, explanation: &str) {
    let show = ["job", "show", "--project", "docs", ID, "--wait"];
    let commands =
        [&START[..], &show, &["job", "list", "--project", "docs"], &["views"], &["job", "cancel", ID]];
    for command in commands {
        let finished: Finished = client.run(command);
        let code = if command == START { code_of_start } else { 1 };
        assert_eq!(finished.code, Some(code), "{command:?}: {finished:?}");
        assert!(finished.stderr.contains(explanation), "{command:?}: {finished:?}");
        assert!(!finished.stderr.contains("next attempt"), "{command:?}: {finished:?}");
    }
}

#[test]
fn unknown_host_is_final() {
    end_at_once(&client("https://docket.invalid"), 1, "the host of https://docket.invalid/ does not exist");
}

#[test]
fn unknown_host_of_a_proxy_is_final() {
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let client = client("https://docket.example.com").set(variable, "http://proxy.invalid:3128");
        end_at_once(&client, 1, "the host of the proxy does not exist: check HTTPS_PROXY");
    }
}

#[test]
fn untrusted_certificate_is_final() {
    let server = TlsUpstream::start(&job("completed"));
    let port = server.url().rsplit_once(':').unwrap().1.to_owned();
    let unknown = client(&server.url());
    end_at_once(&unknown, 1, "is not trusted: check DOCKET_SERVER, and DOCKET_CA_FILE");
    let trusting = |url: &str, authority: &str| {
        let client = client(url).set("DOCKET_CA_FILE", "ca.pem");
        std::fs::write(client.path("ca.pem"), authority).unwrap();
        client
    };
    end_at_once(&trusting(&server.url(), &certificate("127.0.0.1").authority), 1, "is not trusted");
    end_at_once(&trusting(&format!("https://localhost:{port}"), &server.authority), 1, "is not trusted");
    assert_eq!(server.requests().len(), 0, "the token is sent to nobody");
    let finished = trusting(&server.url(), &server.authority).run(&START);
    assert_eq!(finished.code, Some(0), "{finished:?}");
}

#[test]
fn server_without_https_is_final() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // It takes the first bytes of TLS for a request.
            let _ = stream.read(&mut [0; 16 * 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    end_at_once(&client(&format!("https://{address}")), 1, "does not speak https");
}

#[test]
fn page_instead_of_json_is_final() {
    for (head, code_of_start, explanation) in [
        ("200 OK\r\ncontent-type: text/html; charset=utf-8", 4, "text/html instead of JSON"),
        ("201 Created\r\ncontent-type: text/plain", 4, "text/plain instead of JSON"),
        ("200 OK", 4, "something instead of JSON"),
        ("204 No Content", 4, "something instead of JSON"),
        ("302 Found\r\nlocation: /login", 4, "not as Docket does: check DOCKET_SERVER"),
        ("403 Forbidden\r\ncontent-type: text/html", 1, "not as Docket does: check DOCKET_SERVER"),
        ("404 Not Found\r\ncontent-type: text/html", 1, "not as Docket does: check DOCKET_SERVER"),
    ] {
        let server = RawUpstream::start(move |_| Act::Send(response(head, "<h1>Sign in</h1>")));
        end_at_once(&client(&server.url()), code_of_start, explanation);
        assert_eq!(server.requests(), 5, "one for each command");
    }
}
