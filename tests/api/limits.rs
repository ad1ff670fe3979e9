//! Limits for one client: bodies, headers and waiting times are bounded, and many connections are possible.

use std::net::SocketAddr;
use std::time::Duration;

use base::config::AccessConfig;
use futures::future::join_all;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use wiremock::ResponseTemplate;

use crate::gate::{OPEN, endpoints};
use crate::helpers::{
    Browser, Installation, PASSWORD, Settings, TestApp, TestResponse, intent, remote_job, until,
    within_deadline,
};

const KIB: usize = 1024;

/// Sends `request` and returns the whole response; empty if there is none.
pub(crate) async fn send_raw(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A rejected request may not be read completely.
    let _ = stream.write_all(request).await;
    let mut response = Vec::new();
    let _ = within_deadline("the response", stream.read_to_end(&mut response)).await;
    String::from_utf8_lossy(&response).into_owned()
}

pub(crate) fn status(response: &str) -> &str {
    response.split(' ').nth(1).unwrap_or_default()
}

/// Posts `bytes` of fields to `endpoint`, one of which is named `filler`.
async fn post_of(person: &Browser, endpoint: &str, bytes: usize) -> TestResponse {
    let fields = "project=docs&filler=";
    let body = format!("{fields}{}", "x".repeat(bytes - fields.len()));
    person.send(person.call(endpoint, &[]).body(body)).await
}

#[tokio::test]
async fn body_without_a_prompt_is_limited_to_256_kib() {
    let app = TestApp::start().await;
    let admin = app.sign_in("ada").await;
    let take_a_prompt = [
        "/api/jobs/import",
        "/api/jobs/create",
        "/api/jobs/draft",
        "/api/jobs/message",
        "/api/jobs/similar",
        "/api/batches/prepare",
        "/api/batches/use-template",
        "/api/templates/save",
    ];
    let is_open = |path: &&str| OPEN.contains(path);
    let sign_out = |path: &&str| *path == "/api/session/logout";
    for path in endpoints().into_iter().filter(|path| !is_open(path) && !sign_out(path)) {
        let most = if take_a_prompt.contains(&path) { 512 * KIB } else { 256 * KIB };
        assert_ne!(post_of(&admin, path, most).await.status, 413, "{path}");
        for bytes in [most + 1, 3 * KIB * KIB] {
            let message = post_of(&admin, path, bytes).await.refused(413, "bad_input");
            assert!(message.contains(&format!("{} KiB", most / KIB)), "{path}: {message}");
        }
    }
    // A body without a length has the same limit.
    let endless = futures::stream::iter((0..64).map(|_| Ok::<_, std::io::Error>("x".repeat(16 * KIB))));
    let request = admin.call("/api/jobs/get", &[]).body(reqwest::Body::wrap_stream(endless));
    admin.send(request).await.refused(413, "bad_input");
    assert_eq!(app.upstream.posts().await.len(), 0);
}

#[tokio::test]
async fn anonymous_body_is_limited_to_16_kib() {
    let app = TestApp::start().await;
    for path in OPEN {
        assert_ne!(post_of(&app.anonymous(), path, 16 * KIB).await.status, 413, "{path}");
        let message = post_of(&app.anonymous(), path, 16 * KIB + 1).await.refused(413, "bad_input");
        assert!(message.contains("16 KiB"), "{path}: {message}");
    }
}

#[tokio::test]
async fn connections_are_limited_per_client_ip() {
    let access = AccessConfig { connections_per_address: 20, ..AccessConfig::default() };
    let app = TestApp::with(Settings { access, ..Settings::default() }).await;
    let connect = async || TcpStream::connect(app.address()).await.unwrap();
    let mut idle = Vec::new();
    for _ in 0..20 {
        let mut stream = connect().await;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut byte = [0];
        within_deadline("the first byte", stream.read_exact(&mut byte)).await.unwrap();
        idle.push(stream);
    }
    assert_eq!(status(&send_raw(app.address(), b"").await), "503");
    assert_eq!(app.anonymous_from([127, 0, 0, 2].into()).get("/healthz").await.status, 200);
    drop(idle.pop());
    let request = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    until("a connection has ended", async || {
        (status(&send_raw(app.address(), request).await) == "200").then_some(())
    })
    .await;
}

#[tokio::test]
async fn longest_prompt_fits_every_endpoint_in_any_script() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let accepted = remote_job(job["remote"]["id"].as_str().unwrap(), "active");
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(accepted)).await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_7", "completed"))).await;
    let (longest, id, other) = ("\u{1F4DA}".repeat(32_768), job["id"].as_str().unwrap(), intent());
    let placeholder = "{{page}}";
    let of_batch = format!("{placeholder}{}", "\u{1F4DA}".repeat(32_768 - placeholder.len()));
    for (endpoint, text, others) in [
        ("/api/jobs/create", "prompt", vec![("intent", intent())]),
        ("/api/jobs/message", "prompt", vec![("job", id.to_owned()), ("intent", intent())]),
        ("/api/jobs/draft", "text", vec![]),
        ("/api/jobs/similar", "prompt", vec![]),
        ("/api/templates/save", "text", vec![("name", "Longest".to_owned())]),
        ("/api/batches/prepare", "prompt", vec![("values", "x".to_owned()), ("intent", other)]),
        ("/api/jobs/import", "note", vec![("remote_id", "job_7".to_owned())]),
    ] {
        let typed = if endpoint == "/api/batches/prepare" { &of_batch } else { &longest };
        let mut pairs = vec![("project", "docs"), (text, typed.as_str())];
        pairs.extend(others.iter().map(|(name, value)| (*name, value.as_str())));
        let response = operator.post(endpoint, &pairs).await;
        assert_eq!(response.status, 200, "{endpoint}: {}", response.text);
        // Similar jobs are searched while typing, even if the text is too long.
        if endpoint == "/api/jobs/similar" {
            continue;
        }
        // One more character is rejected because of the length.
        let longer = format!("{typed}x");
        pairs[1].1 = longer.as_str();
        let again = intent();
        if let Some(sent) = pairs.iter_mut().find(|(name, _)| *name == "intent") {
            sent.1 = again.as_str();
        }
        let message = operator.post(endpoint, &pairs).await.refused(400, "bad_input");
        assert!(message.replace(',', "").contains("32768"), "{endpoint}: {message}");
    }
}

#[tokio::test]
async fn body_limit_follows_the_configured_prompt_length() {
    let app = TestApp::with(Settings { prompt_max: 100_000, ..Settings::default() }).await;
    let operator = app.operator().await;
    let most = 12 * 100_000 + 128 * KIB;
    post_of(&operator, "/api/jobs/create", most).await.refused(400, "bad_input");
    assert_eq!(post_of(&operator, "/api/jobs/create", most + 1).await.status, 413);
    assert_eq!(post_of(&operator, "/api/jobs/get", 256 * KIB + 1).await.status, 413);
}

#[tokio::test]
async fn headers_are_limited_to_32_kib() {
    let app = TestApp::start().await;
    let of = |bytes: usize| {
        let head = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-filler: ";
        format!("{head}{}\r\n\r\n", "x".repeat(bytes - head.len() - 4))
    };
    for (bytes, expected) in [(31 * KIB, "200"), (33 * KIB, "431"), (1000 * KIB, "431")] {
        let response = send_raw(app.address(), of(bytes).as_bytes()).await;
        assert_eq!(status(&response), expected, "{bytes}: {response}");
    }
    let many: String = (0..200).map(|n| format!("x-{n}: y\r\n")).collect();
    let response =
        send_raw(app.address(), format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{many}\r\n").as_bytes()).await;
    assert_eq!(status(&response), "431", "{response}");
}

/// Sends `request`, then nothing more. Returns the server's response, which must not come before that to a later request.
async fn response_to(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    let mut end = std::pin::pin!(stream.read_to_end(&mut response));
    assert_eq!(status(&send_raw(address, b"GET /healthz HTTP/1.0\r\nhost: x\r\n\r\n").await), "200");
    assert!(futures::poll!(&mut end).is_pending(), "{request:?} was not waited for");
    within_deadline("the end of the connection", end).await.unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

#[tokio::test]
async fn incomplete_request_ends_after_thirty_seconds() {
    let app = TestApp::start().await;
    let cookie = app.operator().await.cookie().unwrap();
    let post = format!(
        "POST /api/session/current HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\nsec-fetch-site: same-origin\r\n\
         accept: application/json\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 10\r\n\r\na=b",
        app.address()
    );
    let (address, cases) =
        (app.address(), ["", "GET", "GET /healthz HTTP/1.1\r\nhost: x\r\nx-more: ", &post]);
    let ends = join_all(cases.map(|request| response_to(address, request))).await;
    // Without a complete head, there is nothing to respond to.
    assert_eq!(ends[..3], ["", "", ""]);
    assert_eq!(status(&ends[3]), "408");
    assert!(ends[3].contains("408") && ends[3].contains("took too long"), "{}", ends[3]);
}

/// Processes often have a limit of 1,024 file descriptors unless they raise it.
#[tokio::test]
async fn two_thousand_idle_connections_do_not_stop_others() {
    let most = getrlimit(Resource::Nofile).maximum;
    assert!(
        most.is_none_or(|most| most > 4_000),
        "the system lets a process open {most:?} files; this test needs 4,000"
    );
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
    let installation = Installation::configured("http://127.0.0.1:9").set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    let server = installation.serve_by("ulimit -S -n 1024; exec \"$0\" \"$@\"", &["serve"]);
    let url = server.address().await;
    let address: SocketAddr = url.trim_start_matches("http://").parse().unwrap();
    let mut idle = Vec::new();
    for n in 0..2_000 {
        // From several IP addresses, because the number of connections for one is limited.
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 1, (n % 8) as u8], 0))).unwrap();
        let mut stream = socket.connect(address).await.unwrap();
        // Some send nothing, some an incomplete request, some stay open after a response.
        let begun = ["", "GET /healthz HTTP/1.1\r\nhost:", "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"][n % 3];
        stream.write_all(begun.as_bytes()).await.unwrap();
        idle.push(stream);
    }
    let person = Browser::at(&url);
    let served = async {
        assert_eq!(person.sign_in("admin", PASSWORD).await.status, 200);
        assert_eq!(person.get("/p/docs/jobs").await.status, 200);
    };
    // Long: the server's log shows whether a connection could not be accepted.
    tokio::time::timeout(Duration::from_secs(90), served).await.expect("others are not served");
    assert!(!server.output().contains("could not be accepted"), "{}", server.output());
    assert_eq!(idle.len(), 2_000);
}
