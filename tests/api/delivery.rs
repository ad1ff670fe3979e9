//! The outcome of a prompt that the upstream does not accept normally: *rejected* if it definitely was not accepted, *unknown*
//! if it may have been. In every case it is sent once, and its text is stored.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use futures::future::join_all;
use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{
    Act, Browser, New, PausedUpstream, RawUpstream, Settings, TestApp, intent, json, picked,
    refusing_address, remote_job, until,
};

/// Sets the body of a response.
type Body = Box<dyn Fn(ResponseTemplate) -> ResponseTemplate>;

/// Responses after which the prompt was definitely not accepted.
fn refusals() -> Vec<(String, ResponseTemplate)> {
    let bodies: [(&str, Body); 5] = [
        (
            "agent's error",
            Box::new(|response| response.set_body_json(json!({"error": "the upstream's words"}))),
        ),
        (
            "analytics' error",
            Box::new(|response| {
                response.set_body_json(
                    json!({"error": "the upstream's words", "details": [{"message": "prompt"}, null]}),
                )
            }),
        ),
        (
            "HTML",
            Box::new(|response| response.set_body_raw("<html><script>alert(1)</script></html>", "text/html")),
        ),
        ("nothing", Box::new(|response| response)),
        ("garbage", Box::new(|response| response.set_body_raw(vec![0xff, 0x00, b'{'], "application/json"))),
    ];
    let mut table = Vec::new();
    for status in [400, 401, 403, 404, 409, 422, 429] {
        for (name, body) in &bodies {
            table.push((format!("{status} with {name}"), body(ResponseTemplate::new(status))));
        }
    }
    table.push((
        "429 with Retry-After".to_owned(),
        ResponseTemplate::new(429).insert_header("retry-after", "1"),
    ));
    table
}

/// Responses after which the prompt may have been accepted.
fn broken_answers(upstream: &str) -> Vec<(String, ResponseTemplate)> {
    let job = remote_job("job_1", "active").to_string();
    let mut table = Vec::new();
    for status in [408, 500, 502, 503, 504] {
        table.push((
            format!("{status}"),
            ResponseTemplate::new(status).set_body_json(json!({"error": "sorry"})),
        ));
        let page = ResponseTemplate::new(status).insert_header("retry-after", "1");
        table.push((format!("{status} HTML"), page.set_body_raw("<html>Bad gateway</html>", "text/html")));
        table.push((format!("{status} empty"), ResponseTemplate::new(status)));
    }
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = format!("{upstream}/elsewhere");
        table.push((
            format!("{status}"),
            ResponseTemplate::new(status).insert_header("location", elsewhere.as_str()),
        ));
    }
    table.push(("204".to_owned(), ResponseTemplate::new(204)));
    for body in [
        "",
        "null",
        "[]",
        "{}",
        "\"job_1\"",
        "17",
        "<html>",
        "{\"id\":",
        "{\"id\":null}",
        "{\"id\":\"\"}",
        "{\"id\":{}}",
        "{\"id\":\"..\"}",
        "{\"id\":\"a\\tb\"}",
        "{\"id\":\".\\t.\"}",
        "{\"id\":\"a\\r\\nb\"}",
        &format!("{job}{job}"),
        &format!("\u{feff}{job}"),
        &"[".repeat(100_000),
        &format!("[{job}]"),
    ] {
        let name = body.chars().take(40).collect();
        table.push((name, ResponseTemplate::new(201).set_body_raw(body.to_owned(), "application/json")));
    }
    let huge = format!("{job}{}", " ".repeat(9 * 1024 * 1024));
    table.push((
        "9 MiB".to_owned(),
        ResponseTemplate::new(201).set_body_raw(huge.clone(), "application/json"),
    ));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(huge.as_bytes()).unwrap();
    let packed = ResponseTemplate::new(201).set_body_raw(packed.finish().unwrap(), "application/json");
    table.push(("9 MiB, packed".to_owned(), packed.insert_header("content-encoding", "gzip")));
    let not_gzip = ResponseTemplate::new(201)
        .set_body_raw(job, "application/json")
        .insert_header("content-encoding", "gzip");
    table.push(("not the gzip of its header".to_owned(), not_gzip));
    table
}

#[tokio::test]
async fn words_of_a_failing_platform_are_in_the_reason() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    for status in [500, 503] {
        let words = format!("no <disk>\nleft {}", "x".repeat(400)).replace("left", "\u{202e}le\u{200b}ft");
        app.upstream.reset().await;
        app.upstream.on_create(ResponseTemplate::new(status).set_body_json(json!({ "error": words }))).await;
        let job = olga.created(&format!("Fix {status}")).await;
        let reason = job["reason"].as_str().unwrap();
        assert!(reason.contains(&format!("(status {status}: “no <disk>left xxx")), "{reason}");
        assert!(
            reason.ends_with("It may or may not have started the work.") && reason.len() < 420,
            "{reason}"
        );
        let page = olga.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await.text;
        assert!(page.contains("no &lt;disk&gt;left"), "{page}");
    }
}

/// Starts a job, and checks that it ended in `state` after one request, with its text stored.
async fn a_create_ends(app: &TestApp, operator: &Browser, state: &str, name: &str) {
    let prompt = format!("Fix typos: {name}");
    let sent = intent();
    let response = operator.create(&prompt, &sent).await;
    assert_eq!(response.status, 200, "{name}: {}", response.text);
    let job = response.json();
    let expected = json!({"state": state, "prompt": prompt, "author": "olga"});
    assert_eq!(picked(&job, ["state", "prompt", "author"]), expected, "{name}");
    assert_eq!(job["remote"], json!(null), "{name}");
    explains(&job["reason"], state, name);
    assert_eq!(operator.job(&job).await, job, "{name}");
    assert_eq!(operator.create(&prompt, &sent).await.json(), job, "{name}");
    assert_eq!(operator.draft(None).await, "", "{name}");
    assert_eq!(app.upstream.requests().await.len(), 1, "{name}");
}

/// Sends a follow-up, and checks that it ended in `state` after one request, with the job unchanged.
async fn a_follow_up_ends(app: &TestApp, operator: &Browser, job: &Value, state: &str, name: &str) {
    let prompt = format!("And this: {name}");
    let sent = intent();
    let response = operator.follow_up(job, &prompt, &sent).await;
    assert_eq!(response.status, 200, "{name}: {}", response.text);
    let followed = response.json();
    let last = followed["follow_ups"].as_array().unwrap().last().unwrap();
    let expected = json!({"state": state, "prompt": prompt, "author": "olga"});
    assert_eq!(picked(last, ["state", "prompt", "author"]), expected, "{name}");
    explains(&last["reason"], state, name);
    assert_eq!((&followed["state"], &followed["remote"]), (&job["state"], &job["remote"]), "{name}");
    assert_eq!(operator.follow_up(job, &prompt, &sent).await.json(), followed, "{name}");
    assert_eq!(operator.draft(Some(job)).await, "", "{name}");
    assert_eq!(app.upstream.posts().await.len(), 1, "{name}");
}

/// Checks that a reason is a readable sentence, without markup or internal errors.
fn explains(reason: &Value, state: &str, name: &str) {
    let reason = reason.as_str().unwrap_or_else(|| panic!("{name}: no reason"));
    assert!(reason.len() > 20 && reason.starts_with("The platform"), "{name}: {reason}");
    let (certain, promise) = (state == "rejected", "nothing was started");
    assert_eq!(reason.contains(promise), certain, "{name}: {reason}");
    for inside in ["<", "reqwest", "hyper", "serde", "127.0.0.1", "http://", "panicked"] {
        assert!(!reason.contains(inside), "{name}: {reason}");
    }
}

#[tokio::test]
async fn refused_create_is_rejected_and_stored() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (name, response) in refusals() {
        app.upstream.reset().await;
        app.lift_pauses().await;
        app.upstream.on_create(response).await;
        a_create_ends(&app, &operator, "rejected", &name).await;
    }
}

#[tokio::test]
async fn create_with_an_invalid_response_is_unknown_and_stored() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (name, response) in broken_answers(&app.upstream.url()) {
        app.upstream.reset().await;
        app.lift_pauses().await;
        app.upstream.on_create(response).await;
        a_create_ends(&app, &operator, "unknown", &name).await;
    }
}

#[tokio::test]
async fn refused_follow_up_is_rejected_without_changing_the_job() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    for (name, response) in refusals() {
        app.upstream.reset().await;
        app.lift_pauses().await;
        app.upstream.on_follow_up(response).await;
        a_follow_up_ends(&app, &operator, &job, "rejected", &name).await;
    }
}

#[tokio::test]
async fn follow_up_with_an_invalid_response_is_unknown() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    for (name, response) in broken_answers(&app.upstream.url()) {
        app.upstream.reset().await;
        app.lift_pauses().await;
        app.upstream.on_follow_up(response).await;
        a_follow_up_ends(&app, &operator, &job, "unknown", &name).await;
    }
}

/// The status that refuses a key, and that of a limit, have advice of Docket's own: the words of the platform are beside it.
#[tokio::test]
async fn words_of_the_platform_are_beside_the_advice() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (status, advice) in [(401, "An administrator has to check it."), (429, "own limit is reached")] {
        app.upstream.reset().await;
        app.lift_pauses().await;
        let answer = |body: Value| ResponseTemplate::new(status).set_body_json(body);
        app.upstream.on_create(answer(json!({"error": "<ended> today"}))).await;
        app.upstream
            .on_views(answer(json!({"error": "bad", "details": [{"message": "wait\u{202e} a bit"}]})))
            .await;
        let job = operator.created("Fix typos").await;
        assert_eq!(job["state"], "rejected");
        let reason = job["reason"].as_str().unwrap();
        let words = format!("(status {status}: “<ended> today”)");
        assert!(reason.contains(&words) && reason.contains(advice), "{reason}");
        app.lift_pauses().await;
        let refused = operator.post("/api/analytics/views", &[("project", "docs")]).await;
        assert!(refused.text.contains(&format!("(status {status}: “bad; wait a bit”)")), "{}", refused.text);
    }
}

#[tokio::test]
async fn upstream_error_message_is_the_reason_of_a_rejection() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (body, words) in [
        (json!({"error": "the prompt names no page"}), "the prompt names no page"),
        (json!({"error": "invalid", "details": [{"message": "prompt is too vague"}]}), "prompt is too vague"),
    ] {
        app.upstream.reset().await;
        app.lift_pauses().await;
        app.upstream.on_create(ResponseTemplate::new(400).set_body_json(body)).await;
        let job = operator.created("Fix typos").await;
        assert!(job["reason"].as_str().unwrap().contains(words), "{job}");
    }
}

/// Failures below HTTP after which the prompt may have been accepted.
fn broken_conversations() -> Vec<(&'static str, Act)> {
    let head = "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\n";
    let text = |text: String| text.into_bytes();
    vec![
        ("hangs up without a word", Act::HangUp(Vec::new())),
        ("hangs up in the head", Act::HangUp(text("HTTP/1.1 201 Cre".to_owned()))),
        (
            "hangs up in the body",
            Act::HangUp(text(format!("{head}content-length: 200\r\n\r\n{{\"id\":\"job_1\","))),
        ),
        (
            "hangs up between chunks",
            Act::HangUp(text(format!("{head}transfer-encoding: chunked\r\n\r\n5\r\n{{\"id\"\r\n"))),
        ),
        ("speaks another protocol", Act::HangUp(text("SSH-2.0-OpenSSH_9.2\r\n".to_owned()))),
        ("no response", Act::Stall(Vec::new())),
        ("stalls in the head", Act::Stall(text(head.to_owned()))),
        (
            "stalls in the body",
            Act::Stall(text(format!("{head}content-length: 200\r\n\r\n{{\"id\":\"job_1\","))),
        ),
    ]
}

fn created_response(job: &Value) -> Act {
    let body = job.to_string();
    let head = "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\n";
    Act::Send(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

async fn app_on(upstream: &RawUpstream) -> TestApp {
    let timeout = Duration::from_secs(1);
    TestApp::with(Settings { timeout, upstream_url: Some(upstream.url()), ..Settings::default() }).await
}

#[tokio::test]
async fn create_with_a_truncated_response_is_unknown_and_sent_once() {
    let cases = broken_conversations().into_iter().map(|(name, act)| async move {
        let upstream = RawUpstream::start(move |_| act.clone());
        let app = app_on(&upstream).await;
        let operator = app.operator().await;
        let job = operator.created("Fix typos").await;
        assert_eq!((&job["state"], &job["prompt"]), (&json!("unknown"), &json!("Fix typos")), "{name}");
        explains(&job["reason"], "unknown", name);
        assert_eq!(upstream.requests(), 1, "{name}");
    });
    join_all(cases).await;
}

/// The follow-up reuses the connection of the create, where HTTP clients tend to retry.
#[tokio::test]
async fn truncated_follow_up_response_is_unknown_and_sent_once() {
    let cases = broken_conversations().into_iter().map(|(name, act)| async move {
        let upstream = RawUpstream::start(move |n| {
            if n == 0 { created_response(&remote_job("job_1", "active")) } else { act.clone() }
        });
        let app = app_on(&upstream).await;
        let operator = app.operator().await;
        let job = operator.created("Fix typos").await;
        assert_eq!(job["state"], "active", "{name}");
        let followed = operator.follow_up(&job, "And more", &intent()).await.json();
        assert_eq!(followed["follow_ups"][0]["state"], "unknown", "{name}");
        assert_eq!(followed["state"], "active", "{name}");
        assert_eq!(upstream.posts(), 2, "{name}");
    });
    join_all(cases).await;
}

#[tokio::test]
async fn failed_connection_rejects_the_prompt() {
    let mut app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let job = app.operator().await.created("Fix typos").await;
    let (_reserved, unreachable) = refusing_address();
    app.restart_with(|settings| settings.upstream_url = Some(unreachable)).await;
    let operator = app.operator().await;

    let refused = operator.created("Fix more typos").await;
    assert_eq!((&refused["state"], &refused["prompt"]), (&json!("rejected"), &json!("Fix more typos")));
    explains(&refused["reason"], "rejected", "a new job");
    let followed = operator.follow_up(&job, "And more", &intent()).await.json();
    assert_eq!(followed["follow_ups"][0]["state"], "rejected");
    explains(&followed["follow_ups"][0]["reason"], "rejected", "a follow-up");
}

#[tokio::test]
async fn disconnected_browser_does_not_stop_a_delivery() {
    let upstream = PausedUpstream::start().await;
    upstream.pause();
    let app = TestApp::with(Settings { upstream_url: Some(upstream.url()), ..Settings::default() }).await;
    let operator = app.operator().await;
    let sent = intent();
    let request = New::job("Fix typos").with("intent", &sent).request(&operator);
    tokio::select! {
        _ = operator.try_send(request) => panic!("the response came too early for this test"),
        () = until("the upstream has it", async || (upstream.posts_of("Fix typos") == 1).then_some(())) => {}
    }

    upstream.resume();
    let job = operator.create("Fix typos", &sent).await.json();
    assert_eq!(job["state"], "active");
    assert_eq!(upstream.posts_of("Fix typos"), 1);
}
