//! What Docket sends to the platform on each call, below whatever path the base URL has, and the codings of answers that it reads.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::helpers::{KEY, Settings, TestApp, http_client, intent, json, remote_job, until, views_answer};

/// The calls that the platform accepted.
type Accepted = Arc<Mutex<Vec<String>>>;

/// A platform below `prefix` with answers in this coding. It refuses a call that lacks something.
async fn platform(prefix: &'static str, coding: &'static str) -> (MockServer, Accepted) {
    let (server, accepted) = (MockServer::start().await, Accepted::default());
    let calls = accepted.clone();
    let respond = move |request: &Request| match answer(request, prefix) {
        Err(status) => ResponseTemplate::new(status),
        Ok((call, status, body)) => {
            calls.lock().unwrap().push(call.to_owned());
            encoded(ResponseTemplate::new(status), &body, coding)
        }
    };
    Mock::given(any()).respond_with(respond).mount(&server).await;
    (server, accepted)
}

fn answer(request: &Request, prefix: &str) -> Result<(&'static str, u16, Value), u16> {
    let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
    if header("authorization") != Some(&format!("Bearer {KEY}")) {
        return Err(401);
    }
    let is_post = request.method.as_str() == "POST";
    if is_post && header("content-type") != Some("application/json") {
        return Err(415);
    }
    let path = request.url.path().strip_prefix(prefix).ok_or(404_u16)?;
    match (is_post, path) {
        (true, "/v2/agent/docs/job") => Ok(("create", 201, remote_job("job_1", "active"))),
        (true, "/v2/agent/docs/job/job_1/message") => Ok(("follow-up", 200, remote_job("job_1", "active"))),
        (false, "/v2/agent/docs/job/job_1") => Ok(("get", 200, remote_job("job_1", "completed"))),
        (false, "/v1/analytics/docs/views") => Ok(("views", 200, views_answer())),
        _ => Err(404),
    }
}

fn encoded(response: ResponseTemplate, body: &Value, coding: &str) -> ResponseTemplate {
    let body = body.to_string().into_bytes();
    let (name, body) = match coding {
        "gzip" => ("gzip", gzip(&body)),
        "br" => ("br", brotli(&body)),
        _ => return response.set_body_raw(body, "application/json"),
    };
    response.set_body_raw(body, "application/json").insert_header("content-encoding", name)
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// A brotli stream (RFC 7932) of one stored block.
fn brotli(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() - 1).unwrap();
    assert!(length < 1 << 16, "a block has at most 64 KiB");
    // A window of 16 bits, not the last block, its length in four nibbles, stored.
    let header = length << 4 | 1 << 20;
    [&header.to_le_bytes()[..3], body, &[0b11]].concat()
}

#[tokio::test]
async fn every_call_is_complete_and_every_coding_is_read() {
    for (base, prefix, coding) in [
        ("", "", "identity"),
        ("/", "", "gzip"),
        ("/gateway/v9", "/gateway/v9", "gzip"),
        ("/a%20b/%C3%A9/", "/a%20b/%C3%A9", "br"),
    ] {
        let (server, accepted) = platform(prefix, coding).await;
        let settings = Settings {
            upstream_url: Some(format!("{}{base}", server.uri())),
            poll_interval: Duration::from_millis(1),
            ..Settings::default()
        };
        let app = TestApp::with(settings).await;
        let operator = app.operator().await;
        let job = operator.created("Fix typos").await;
        assert_eq!(job["remote"]["id"], "job_1", "{base} {coding}: {job}");
        let followed = operator.follow_up(&job, "And links", &intent()).await;
        assert_eq!(followed.json()["state"], "active", "{base} {coding}");
        let fields = [("project", "docs"), ("from", "2025-02-01"), ("to", "2025-02-28")];
        let views = operator.post("/api/analytics/views", &fields).await.json();
        assert_eq!(views["totals"], json!({"human": 30, "ai": 12, "total": 42}), "{base} {coding}: {views}");
        let called = |call: &str| accepted.lock().unwrap().iter().any(|accepted| accepted == call);
        until("the job is polled", async || called("get").then_some(())).await;
        assert!(["create", "follow-up", "views"].into_iter().all(called), "{base} {coding}");
        for request in server.received_requests().await.unwrap() {
            assert!(answer(&request, prefix).is_ok(), "{base}: {} {:?}", request.url, request.headers);
            let accepted = request.headers["accept-encoding"].to_str().unwrap();
            assert!(accepted.contains("gzip") && accepted.contains("br"), "{accepted}");
            assert_eq!(request.headers["accept"], "application/json");
        }
    }
}

#[tokio::test]
async fn scripted_upstream_refuses_an_incomplete_call() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let call = || {
        let url = format!("{}/v2/agent/docs/job", app.upstream.url());
        http_client().build().unwrap().post(url).body(r#"{"prompt":"x"}"#)
    };
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status().as_u16();
    assert_eq!(status(call().header("content-type", "application/json")).await, 401);
    assert_eq!(status(call().bearer_auth("")).await, 401);
    assert_eq!(status(call().bearer_auth(KEY)).await, 415);
    assert_eq!(status(call().bearer_auth(KEY).header("content-type", "application/json")).await, 201);
}
