//! What requests end with, for each response. Their time is over at once, so that one which is to be repeated has no second attempt.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;

use super::*;
use crate::failure::{TimeIsOver, UnknownEnd};
use crate::output;
use model::error::{ErrorCode, Retry as RetryOfCode};

const JOB: [&str; 4] = ["projects", "docs", "jobs", "1"];

/// How a request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Succeeded,
    /// A change may have been carried out.
    Unknown,
    /// A read would have been repeated.
    TimeIsOver,
    Failed,
}

/// A server, which sends the same response until it gets another one.
struct Server {
    address: SocketAddr,
    response: Arc<Mutex<Vec<u8>>>,
}

impl Server {
    fn start() -> Self {
        output::diagnose_by(|_| ());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let response = Arc::new(Mutex::new(Vec::new()));
        let current = response.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let response = current.lock().expect("a response").clone();
                thread::spawn(move || serve(stream, &response));
            }
        });
        Self { address, response }
    }

    fn sends(&self, response: Vec<u8>) {
        *self.response.lock().expect("a response") = response;
    }

    /// A new run of the client. `is_reached`: it had a response of Docket.
    async fn run(&self, is_reached: bool) -> Connection {
        let server = Url::parse(&format!("http://{}", self.address)).expect("an address");
        let token = Token::parse("dkt_x").expect("a token");
        let connection =
            Connection::new(Config { server, token, authorities: Vec::new() }).expect("a client");
        if is_reached {
            self.sends(response(200, JSON, &job()));
            assert_eq!(end_of(&connection, &ApiRequest::get(&JOB)).await, End::Succeeded);
        }
        connection
    }
}

/// Sends a response, or nothing until the client leaves if it is empty.
fn serve(mut stream: TcpStream, response: &[u8]) {
    let (mut request, mut bytes) = (Vec::new(), [0; 4096]);
    while !request.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(count) => request.extend_from_slice(&bytes[..count]),
        }
    }
    // The client may have left.
    _ = match response {
        [] => stream.read(&mut bytes).map(|_| ()),
        response => stream.write_all(response),
    };
}

const JSON: Option<&str> = Some("application/json");
const PROBLEM: Option<&str> = Some("application/problem+json");

fn response(status: u16, kind: Option<&str>, body: &str) -> Vec<u8> {
    let kind = kind.map(|kind| format!("content-type: {kind}\r\n")).unwrap_or_default();
    let body = if status == 204 { "" } else { body };
    let head = format!("HTTP/1.1 {status} X\r\n{kind}retry-after: 0\r\nconnection: close\r\n");
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn job() -> String {
    json!({"id": "1", "state": "active"}).to_string()
}

/// The end of a request whose time is over after its first attempt.
async fn end_of(connection: &Connection, request: &ApiRequest<'_>) -> End {
    match connection.send(request, Some(Instant::now())).await {
        Ok(_) => End::Succeeded,
        Err(error) if error.is::<UnknownEnd>() => End::Unknown,
        Err(error) if error.is::<TimeIsOver>() => End::TimeIsOver,
        Err(_) => End::Failed,
    }
}

/// The ends of a read and of a change, before and after a success of the same run.
async fn ends(server: &Server, response: &[u8]) -> [(bool, End, End); 2] {
    let mut ends = Vec::new();
    for is_reached in [false, true] {
        let connection = server.run(is_reached).await;
        server.sends(response.to_vec());
        let read = end_of(&connection, &ApiRequest::get(&JOB)).await;
        let change = end_of(&connection, &ApiRequest::post(&JOB)).await;
        ends.push((is_reached, read, change));
    }
    ends.try_into().unwrap_or_else(|_| panic!("two ends"))
}

const STATUSES: [u16; 24] = [
    200, 201, 202, 204, 301, 302, 303, 307, 400, 401, 403, 404, 405, 407, 408, 409, 413, 415, 422, 429, 500,
    502, 503, 504,
];

/// Each status with each kind of body that is none of Docket's.
#[tokio::test]
async fn foreign_response_ends_as_its_status_says() {
    let server = Server::start();
    let other = json!({"error": "no", "message": "sign in"}).to_string();
    for status in STATUSES {
        for (kind, body) in [
            (Some("text/html; charset=utf-8"), "<h1>Sign in</h1>"),
            (Some("text/plain"), "ok"),
            (None, ""),
            (JSON, &other),
            (JSON, "[]"),
            (None, "1"),
        ] {
            let is_passing = matches!(status, 408 | 429 | 500..);
            let is_refused = matches!(status, 400..=499);
            // The type says JSON, and the body is none: it was cut.
            for (is_reached, read, change) in ends(&server, &response(status, kind, body)).await {
                let is_cut = kind == JSON && status == 204;
                let is_repeated = is_passing || is_reached || is_cut;
                let expected_read = if is_repeated { End::TimeIsOver } else { End::Failed };
                let expected_change = if is_refused { End::Failed } else { End::Unknown };
                let name = format!("{status} {kind:?} {body} {is_reached}");
                assert_eq!((read, change), (expected_read, expected_change), "{name}");
            }
        }
    }
}

/// A proxy may change or leave out the type.
#[tokio::test]
async fn job_is_an_answer_whatever_its_type() {
    let server = Server::start();
    for status in STATUSES.into_iter().filter(|status| matches!(status, 200..=202)) {
        for kind in [JSON, PROBLEM, Some("text/plain"), Some("application/octet-stream"), None] {
            for (is_reached, read, change) in ends(&server, &response(status, kind, &job())).await {
                assert_eq!(
                    (read, change),
                    (End::Succeeded, End::Succeeded),
                    "{status} {kind:?} {is_reached}"
                );
            }
        }
    }
}

#[tokio::test]
async fn cut_response_may_be_repeated() {
    let server = Server::start();
    for status in [200, 201, 202] {
        let whole = response(status, JSON, &job());
        let half = response(status, JSON, &job()[..5]);
        for cut in [half, whole[..whole.len() - 3].to_vec()] {
            for (_, read, change) in ends(&server, &cut).await {
                assert_eq!((read, change), (End::TimeIsOver, End::Unknown), "{status}");
            }
        }
    }
}

/// Each code of the API: what Docket says counts, and no earlier success.
#[tokio::test]
async fn refusal_of_docket_ends_as_its_code_says() {
    const POSSIBLE: [&str; 4] = ["database_unavailable", "internal", "query_too_slow", "upstream_slow"];
    let server = Server::start();
    for code in ErrorCode::of_api() {
        let (row, name) = (code.row(), code.as_str());
        let body = json!({"status": row.status, "code": name, "detail": "No."}).to_string();
        let is_final = row.retry == RetryOfCode::Never || code == ErrorCode::BudgetSpent;
        let expected_read = if is_final { End::Failed } else { End::TimeIsOver };
        let expected_change = if POSSIBLE.contains(&name) { End::Unknown } else { End::Failed };
        for (is_reached, read, change) in ends(&server, &response(row.status, PROBLEM, &body)).await {
            assert_eq!((read, change), (expected_read, expected_change), "{name} {is_reached}");
        }
    }
}

#[tokio::test]
async fn end_of_a_large_answer_is_known() {
    let server = Server::start();
    let large = json!({"id": "1", "state": "active", "more": "x".repeat(BODY_MAX)}).to_string();
    for (kind, words, change) in
        [(JSON, "carried out", End::Failed), (Some("text/html"), "text/html", End::Unknown)]
    {
        let connection = server.run(false).await;
        server.sends(response(201, kind, &large));
        let read = connection.send(&ApiRequest::get(&JOB), None).await;
        assert!(read.is_err_and(|error| error.to_string().contains("16 MiB") == (kind == JSON)), "{kind:?}");
        let failure = connection.attempt(&ApiRequest::post(&JOB), TIMEOUT).await.err();
        assert!(failure.is_some_and(|failure| failure.error.to_string().contains(words)), "{kind:?}");
        assert_eq!(end_of(&connection, &ApiRequest::post(&JOB)).await, change, "{kind:?}");
    }
}

#[tokio::test]
async fn attempt_ends_with_the_wait_it_is_a_part_of() {
    let server = Server::start();
    let connection = server.run(false).await;
    let started = Instant::now();
    let (read, change) = (ApiRequest::get(&JOB), ApiRequest::post(&JOB));
    let ends = tokio::join!(end_of(&connection, &read), end_of(&connection, &change));
    assert_eq!(ends, (End::TimeIsOver, End::Unknown));
    assert!((LAST_ATTEMPT..LAST_ATTEMPT * 3).contains(&started.elapsed()), "{:?}", started.elapsed());
}

/// Pauses of each length that a server may name, at each time that may be left.
#[test]
fn pause_is_neither_too_short_nor_beyond_the_end() {
    let (now, second) = (Instant::now(), Duration::from_secs(1));
    let read = ApiRequest::get(&JOB);
    let change = ApiRequest::post(&JOB);
    for named in [None, Some(0), Some(1), Some(45), Some(600), Some(u64::MAX)]
        .map(|named| named.map(Duration::from_secs))
    {
        for usual in [PAUSE_MIN, PAUSE_MAX] {
            let wanted = named.map_or(usual, |named| named.max(usual));
            let long = Repeated::of(&read, Some(now + second * 3_600));
            assert_eq!(long.pause(named, usual), Some(wanted.min(READ_PAUSE_MAX)), "{named:?}");
            assert_eq!(Repeated::of(&read, Some(now)).pause(named, usual), None, "{named:?}");
            let short = Repeated::of(&read, Some(Instant::now() + second / 2)).pause(named, usual);
            assert!(short.is_some_and(|pause| pause <= second / 2), "{named:?}: {short:?}");
            for wait in [None, Some(now + second * 3_600)] {
                let pause = Repeated::of(&change, wait).pause(named, usual);
                assert_eq!(pause, (wanted < REPEATED_FOR).then_some(wanted), "{named:?}");
            }
            assert_eq!(Repeated::of(&change, Some(now)).pause(named, usual), None, "{named:?}");
        }
    }
}

#[test]
fn attempt_of_a_wait_has_the_time_that_is_left() {
    let now = Instant::now();
    for request in [ApiRequest::get(&JOB), ApiRequest::post(&JOB)] {
        let timeout = |wait: Option<u64>| {
            Repeated::of(&request, wait.map(|seconds| now + Duration::from_secs(seconds))).timeout()
        };
        assert_eq!((timeout(None), timeout(Some(3_600)), timeout(Some(0))), (TIMEOUT, TIMEOUT, LAST_ATTEMPT));
        let some = timeout(Some(20));
        assert!(some > LAST_ATTEMPT && some <= LAST_ATTEMPT + Duration::from_secs(20), "{some:?}");
    }
}
