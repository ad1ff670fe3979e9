//! What one client can take from the others: bodies, headers and waiting all end somewhere, connections are many, and an id
//! that is none goes no further than the door.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::gate::endpoints;
use crate::helpers::{Answer, Browser, PASSWORD, Settings, TestApp, Workplace, intent};

const KIB: usize = 1024;

/// Says `request` and gives the whole answer; empty if there is none.
async fn said(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // Whoever refuses a request need not have read it to its end.
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

/// Posts `bytes` of fields to `endpoint`, one of which is called `filler`.
async fn post_of(person: &Browser, endpoint: &str, bytes: usize) -> Answer {
    let fields = "project=docs&filler=";
    let body = format!("{fields}{}", "x".repeat(bytes - fields.len()));
    person.send(person.call(endpoint, &[]).body(body)).await
}

#[tokio::test]
async fn a_body_has_256_kib_at_most_where_no_prompt_is_in_it() {
    let app = TestApp::start().await;
    let admin = app.sign_in("ada").await;
    let take_a_prompt = [
        "/api/jobs/adopt",
        "/api/jobs/create",
        "/api/jobs/draft",
        "/api/jobs/message",
        "/api/jobs/similar",
        "/api/batches/prepare",
        "/api/templates/save",
    ];
    for path in endpoints().into_iter().filter(|path| !path.starts_with("/api/session/log")) {
        let most = if take_a_prompt.contains(&path) { 512 * KIB } else { 256 * KIB };
        assert_ne!(post_of(&admin, path, most).await.status, 413, "{path}");
        for bytes in [most + 1, 3 * KIB * KIB] {
            let message = post_of(&admin, path, bytes).await.refused(413, "bad_input");
            assert!(message.contains(&format!("{} KiB", most / KIB)), "{path}: {message}");
        }
    }
    // Nor can a stranger, or a body that does not say how long it is.
    post_of(&app.stranger(), "/api/session/login", 256 * KIB + 1).await.refused(413, "bad_input");
    let endless = futures::stream::iter((0..64).map(|_| Ok::<_, std::io::Error>("x".repeat(16 * KIB))));
    let request = admin.call("/api/jobs/get", &[]).body(reqwest::Body::wrap_stream(endless));
    admin.send(request).await.refused(413, "bad_input");
    assert_eq!(app.upstream.posts().await.len(), 0);
}

#[tokio::test]
async fn the_longest_prompt_fits_wherever_one_is_taken_in_any_script() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let (longest, id, other) = ("\u{1F4DA}".repeat(32_768), job["id"].as_str().unwrap(), intent());
    for (endpoint, text, others) in [
        ("/api/jobs/create", "prompt", vec![("intent", intent())]),
        ("/api/jobs/message", "prompt", vec![("job", id.to_owned()), ("intent", intent())]),
        ("/api/jobs/draft", "text", vec![]),
        ("/api/jobs/similar", "prompt", vec![]),
        ("/api/templates/save", "text", vec![("name", "Longest".to_owned())]),
        ("/api/batches/prepare", "prompt", vec![("values", "x".to_owned()), ("intent", other)]),
        ("/api/jobs/adopt", "note", vec![("remote_id", "job_7".to_owned())]),
    ] {
        let mut pairs = vec![("project", "docs"), (text, longest.as_str())];
        pairs.extend(others.iter().map(|(name, value)| (*name, value.as_str())));
        let answer = operator.post(endpoint, &pairs).await;
        // A batch wants places in its text, and the upstream knows no job to adopt: both have read it.
        assert!([200, 400, 502, 404].contains(&answer.status), "{endpoint}: {}", answer.text);
        assert!(!answer.text.contains("KiB"), "{endpoint}: {}", answer.text);
    }
}

#[tokio::test]
async fn the_room_for_prompts_follows_the_longest_that_is_configured() {
    let app = TestApp::with(Settings { prompt_max: 100_000, ..Settings::default() }).await;
    let operator = app.operator().await;
    let most = 12 * 100_000 + 128 * KIB;
    assert_ne!(post_of(&operator, "/api/jobs/create", most).await.status, 413);
    assert_eq!(post_of(&operator, "/api/jobs/create", most + 1).await.status, 413);
    assert_eq!(post_of(&operator, "/api/jobs/get", 256 * KIB + 1).await.status, 413);
}

#[tokio::test]
async fn a_block_of_headers_has_32_kib_at_most() {
    let app = TestApp::start().await;
    let of = |bytes: usize| {
        let head = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-filler: ";
        format!("{head}{}\r\n\r\n", "x".repeat(bytes - head.len() - 4))
    };
    for (bytes, expected) in [(31 * KIB, "200"), (33 * KIB, "431"), (1000 * KIB, "431")] {
        let answer = said(app.address(), of(bytes).as_bytes()).await;
        assert_eq!(status(&answer), expected, "{bytes}: {answer}");
    }
    let many: String = (0..200).map(|n| format!("x-{n}: y\r\n")).collect();
    let answer =
        said(app.address(), format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{many}\r\n").as_bytes()).await;
    assert_eq!(status(&answer), "431", "{answer}");
}

/// Says `request`, then nothing more; how long it was waited for, and what was answered.
async fn waited_for(address: SocketAddr, request: &str) -> (Duration, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let (began, mut answer) = (Instant::now(), Vec::new());
    let end = tokio::time::timeout(Duration::from_secs(90), stream.read_to_end(&mut answer)).await;
    assert!(end.is_ok(), "{request:?} is waited for without an end");
    (began.elapsed(), String::from_utf8_lossy(&answer).into_owned())
}

#[tokio::test]
async fn whoever_stops_talking_is_waited_for_half_a_minute() {
    let app = TestApp::start().await;
    let cookie = app.operator().await.cookie().unwrap();
    let post = format!(
        "POST /api/session/current HTTP/1.1\r\nhost: x\r\ncookie: {cookie}\r\nsec-fetch-site: same-origin\r\n\
         accept: application/json\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 10\r\n\r\na=b"
    );
    let (address, cases) =
        (app.address(), ["", "GET", "GET /healthz HTTP/1.1\r\nhost: x\r\nx-more: ", &post]);
    let ends = join_all(cases.map(|request| waited_for(address, request))).await;
    for (request, (waited, answer)) in cases.iter().zip(&ends) {
        assert!((25..60).contains(&waited.as_secs()), "{request:?} after {waited:?}");
        assert!(!answer.contains(" 200 "), "{request:?}: {answer}");
    }
    assert!(ends[3].1.contains("408") && ends[3].1.contains("took too long"), "{}", ends[3].1);
}

/// A process is often granted 1,024 file descriptors unless it asks for more.
#[tokio::test]
async fn two_thousand_idle_connections_do_not_stop_others() {
    let most = getrlimit(Resource::Nofile).maximum;
    assert!(
        most.is_none_or(|most| most > 4_000),
        "the system lets a process open {most:?} files; this test needs 4,000"
    );
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
    let place = Workplace::configured("http://127.0.0.1:9").set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    let server = place.serve_by("ulimit -S -n 1024; exec \"$0\" \"$@\"", &["serve"]);
    let url = server.address().await;
    let address: SocketAddr = url.trim_start_matches("http://").parse().unwrap();
    let mut idle = Vec::new();
    for n in 0..2_000 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // Some say nothing, some not all, some have been answered and stay.
        let begun = ["", "GET /healthz HTTP/1.1\r\nhost:", "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"][n % 3];
        stream.write_all(begun.as_bytes()).await.unwrap();
        idle.push(stream);
    }
    let began = Instant::now();
    let person = Browser::at(&url);
    assert_eq!(person.sign_in("admin", PASSWORD).await.status, 200);
    assert_eq!(person.get("/p/docs/jobs").await.status, 200);
    assert!(began.elapsed() < Duration::from_secs(10), "it took {:?}", began.elapsed());
    assert!(!server.output().contains("could not be accepted"), "{}", server.output());
    assert_eq!(idle.len(), 2_000);
}

/// What is no id of ours, and would be another path, another header or another statement if it was put into one.
fn odd_ids() -> Vec<String> {
    let odd = [
        "../x",
        "..",
        "a/b",
        "a\\b",
        "%2e%2e",
        "a%2eb",
        "..%2fx",
        "a?b",
        "a#b",
        "a&b",
        "a\r\nb",
        "a\nb",
        "a\0b",
        "a b",
        "é",
        "' OR 1=1 --",
    ];
    odd.into_iter()
        .map(str::to_owned)
        .chain(["a".repeat(10_000), format!("docs/{}", "../".repeat(3_000))])
        .collect()
}

#[tokio::test]
async fn a_project_that_is_no_id_is_400_everywhere_and_nothing_is_forwarded() {
    let app = TestApp::start().await;
    let admin = app.sign_in("ada").await;
    let given = [
        ("prompt", "x"),
        ("intent", "x"),
        ("job", "x"),
        ("jobs", "x"),
        ("text", "x"),
        ("name", "x"),
        ("query", ""),
        ("view", "x"),
        ("batch", "x"),
        ("template", "x"),
        ("values", "x"),
        ("tag", "x"),
        ("remote_id", "x"),
        ("message", "0"),
        ("attempt", "1"),
        ("outcome", "not_started"),
        ("day", "2026-11-21"),
        ("id", "x"),
        ("from", "2026-11-01"),
        ("to", "2026-11-02"),
        ("path", "/x"),
        ("kind", "json"),
        ("address", "https://hooks.example/"),
        ("direction", "up"),
        ("webhook", "x"),
        ("delivery", "x"),
    ];
    let mut asked = 0;
    for path in endpoints().into_iter().filter(|path| !path.starts_with("/api/session/")) {
        let with = |project: &str| {
            let mut pairs = given.to_vec();
            pairs.push(("project", project));
            admin.call(path, &pairs)
        };
        // Those that know no project do not care.
        let unknown = admin.send(with("nowhere")).await;
        if unknown.status != 404 || !unknown.text.contains("project") {
            continue;
        }
        asked += 1;
        for odd in odd_ids() {
            admin.send(with(&odd)).await.refused(400, "bad_input");
        }
    }
    assert!(asked >= 35, "only {asked} endpoints were found to take a project");
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn any_other_id_that_is_none_is_400_and_nothing_is_forwarded() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    let admin = app.sign_in("ada").await;
    let job = admin.created("Fix typos").await;
    let job = job["id"].as_str().unwrap();
    app.upstream.reset().await;
    let mut taken = Vec::new();
    for (endpoint, field, others) in [
        ("/api/jobs/get", "job", vec![]),
        ("/api/jobs/check", "job", vec![]),
        ("/api/jobs/form", "job", vec![]),
        ("/api/jobs/similar", "job", vec![]),
        ("/api/jobs/draft", "job", vec![("text", "x")]),
        ("/api/jobs/message", "job", vec![("prompt", "x"), ("intent", "x")]),
        ("/api/jobs/message", "intent", vec![("prompt", "x"), ("job", job)]),
        ("/api/jobs/resolve", "job", vec![("message", "0"), ("attempt", "1"), ("outcome", "not_started")]),
        ("/api/jobs/create", "intent", vec![("prompt", "x")]),
        ("/api/jobs/create", "template_id", vec![("prompt", "x"), ("intent", "x1")]),
        ("/api/jobs/adopt", "remote_id", vec![]),
        ("/api/jobs/statuses", "jobs", vec![]),
        ("/api/jobs/archive", "jobs", vec![]),
        ("/api/jobs/unarchive", "jobs", vec![]),
        ("/api/jobs/tag", "jobs", vec![("tag", "x")]),
        ("/api/jobs/untag", "jobs", vec![("tag", "x")]),
        ("/api/jobs/list", "cursor", vec![]),
        ("/api/queue/cancel", "message", vec![]),
        ("/api/batches/get", "batch", vec![]),
        ("/api/batches/start", "batch", vec![]),
        ("/api/batches/cancel", "batch", vec![]),
        ("/api/batches/form", "from", vec![]),
        ("/api/batches/prepare", "intent", vec![("prompt", "x {{a}}"), ("values", "x")]),
        ("/api/templates/form", "template", vec![]),
        ("/api/templates/save", "template", vec![("name", "x"), ("text", "x")]),
        ("/api/templates/remove", "template", vec![]),
        ("/api/views/update", "view", vec![("name", "x")]),
        ("/api/views/remove", "view", vec![]),
        ("/api/annotations/save", "id", vec![("day", "2026-11-21"), ("text", "x")]),
        ("/api/annotations/remove", "id", vec![]),
        ("/api/users/renew", "user", vec![]),
        ("/api/users/withdraw", "user", vec![]),
        ("/api/users/change", "user", vec![("role", "viewer")]),
        ("/api/users/disable", "user", vec![]),
        ("/api/users/enable", "user", vec![]),
        ("/api/users/sign-out", "user", vec![]),
        ("/api/account/sign-out", "session", vec![]),
        ("/api/webhooks/enable", "webhook", vec![]),
        ("/api/webhooks/disable", "webhook", vec![]),
        ("/api/webhooks/remove", "webhook", vec![]),
        ("/api/webhooks/renew", "webhook", vec![]),
        ("/api/webhooks/test", "webhook", vec![]),
        ("/api/webhooks/deliveries", "webhook", vec![]),
        ("/api/webhooks/retry", "delivery", vec![]),
    ] {
        for odd in odd_ids() {
            // The upstream's own ids may be in any script.
            if field == "remote_id" && (odd == "é" || odd == "a&b") {
                continue;
            }
            let mut pairs = vec![("project", "docs"), (field, odd.as_str())];
            pairs.extend(others.iter().copied());
            let answer = admin.post(endpoint, &pairs).await;
            if answer.status != 400 {
                taken
                    .push(format!("{endpoint} with {field} = {odd:.20?}: {} {}", answer.status, answer.text));
            }
        }
    }
    assert!(taken.is_empty(), "{taken:#?}");
    assert_eq!(app.upstream.requests().await.len(), 0);
}

/// The same in addresses, as no browser would write them.
#[tokio::test]
async fn an_address_with_an_odd_id_shows_no_page_of_another_and_nothing_is_forwarded() {
    let app = TestApp::start().await;
    let cookie = app.operator().await.cookie().unwrap();
    let long = "a".repeat(10_000);
    let odd = [
        "..",
        "%2e%2e",
        "%2e%2e%2f",
        "..%2f..%2fx",
        "a%3fb",
        "a%23b",
        "a%0d%0ab",
        "a%00b",
        "%ff",
        "%",
        "a;b",
        "a\\b",
        &long,
    ];
    for id in odd {
        for path in [
            format!("/p/{id}"),
            format!("/p/{id}/jobs"),
            format!("/p/docs/jobs/{id}"),
            format!("/p/docs/batches/{id}"),
            format!("/p/{id}/analytics/export.csv?from=2026-11-01&to=2026-11-02"),
        ] {
            let request = format!(
                "GET {path} HTTP/1.1\r\nhost: x\r\naccept: text/html\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"
            );
            let answer = said(app.address(), request.as_bytes()).await;
            let line = answer.lines().next().unwrap_or_default();
            assert!(["400", "404"].contains(&status(&answer)), "{path}: {line}");
        }
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn a_request_that_smuggles_another_is_one_request_or_none() {
    let app = TestApp::start().await;
    for (head, why) in [
        (
            "GET /healthz HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n",
            "two lengths",
        ),
        (
            "GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n",
            "lengths that differ",
        ),
        ("GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: +5\r\n", "a length that is none"),
        ("GET /healthz HTTP/1.1\r\nhost: x\r\nx-a: b\0c\r\n", "a NUL in a header"),
        ("GET /heal thz HTTP/1.1\r\nhost: x\r\n", "a blank in the path"),
    ] {
        let request =
            format!("{head}connection: close\r\n\r\n0\r\n\r\nGET /login HTTP/1.1\r\nhost: x\r\n\r\n");
        let answer = said(app.address(), request.as_bytes()).await;
        assert!(answer.matches("HTTP/1.1 ").count() <= 1, "{why}: {answer}");
        assert!(!answer.contains("<html"), "{why}: {answer}");
    }
    // Server functions take what forms send, whichever way it is framed.
    let operator = app.operator().await;
    let request = operator.request(Method::POST, "/api/session/current").header(ACCEPT, "application/json");
    let request = request
        .header("sec-fetch-site", "same-origin")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    assert_eq!(operator.send(request.body("x=y")).await.status, 200);
}
