//! The admin key reaches only the upstream: no page, response, log or row. Every test checks its responses and the log
//! for it; in these tests the upstream repeats it on purpose.

use reqwest::Method;
use secrecy::SecretString;
use serde_json::Value;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::helpers::{
    Installation, KEY, METRICS_TOKEN, PASSWORD, Settings, TestApp, fields, intent, json, leaks, logged,
    remote_job, secrets_in,
};
use crate::traces::Collector;

#[test]
fn leak_detection_finds_every_encoding_of_a_secret() {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use data_encoding::HEXLOWER;
    let hex = HEXLOWER.encode(KEY.as_bytes());
    for text in [
        format!("a {KEY} b"),
        format!("{:?}", format!("Bearer {KEY}")),
        json!({"key": KEY}).to_string(),
        STANDARD.encode(format!("user:{KEY}")),
        STANDARD.encode(format!("Bearer {KEY} and more")),
        STANDARD.encode(KEY),
        URL_SAFE.encode(format!("xy{KEY}z")),
        hex.clone(),
        hex.to_uppercase(),
        url::form_urlencoded::byte_serialize(KEY.as_bytes()).collect(),
        PASSWORD.to_owned(),
    ] {
        assert!(!secrets_in(&text).is_empty(), "{text}");
    }
    assert!(secrets_in("mint_ and nothing of the rest").is_empty());
}

/// An upstream that repeats the request's key in its responses.
fn echoing(
    status: u16,
    body: impl Fn(&str) -> Value + Send + Sync + 'static,
) -> impl Fn(&Request) -> ResponseTemplate {
    move |request: &Request| {
        let authorization = request.headers["authorization"].to_str().unwrap();
        let response = ResponseTemplate::new(status).set_body_json(body(authorization));
        response.insert_header("x-echo", authorization)
    }
}

/// Checks that no row of the database and no log line contains it.
async fn assert_no_secret(app: &TestApp, step: &str) {
    let stored = app.database_dump().await;
    assert_eq!(secrets_in(&stored), Vec::<&str>::new(), "in the database after {step}");
    assert_eq!(leaks(), Vec::<String>::new(), "in the log after {step}");
}

#[tokio::test]
async fn upstream_error_containing_the_key_is_masked() {
    let metrics_token = Some(SecretString::from(METRICS_TOKEN));
    let app = TestApp::with(Settings { metrics_token, ..Settings::default() }).await;
    let operator = app.operator().await;
    for status in [400, 401, 403, 404, 422, 429, 500] {
        app.upstream.reset().await;
        app.lift_pauses().await;
        // Also with a character between its letters that is not shown.
        let agent =
            |key: &str| json!({"error": format!("not allowed: {key} {}\u{200b}{}", &key[..4], &key[4..])});
        let analytics = |key: &str| json!({"error": "bad", "details": [{"message": format!("{key}!")}]});
        app.upstream.on_create(echoing(status, agent)).await;
        app.upstream.on_views(echoing(status, analytics)).await;
        let job = operator.created("Fix typos").await;
        operator.page(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await;
        operator.post("/api/analytics/views", &[("project", "docs")]).await;
        operator.get("/p/docs/analytics").await;
        let metrics = operator.request(Method::GET, "/metrics").bearer_auth(METRICS_TOKEN);
        let metrics = operator.send(metrics).await;
        assert_eq!((metrics.status, secrets_in(&metrics.text)), (200, Vec::new()));
        assert_no_secret(&app, &format!("a {status}")).await;
    }
}

#[tokio::test]
async fn upstream_success_containing_the_key_is_masked() {
    for field in ["id", "status", "model", "prLink", "repository", "ref", "createdAt"] {
        let app = TestApp::start().await;
        let operator = app.operator().await;
        let response = move |key: &str| {
            let mut job = remote_job("job_1", "active");
            let installation =
                if ["repository", "ref"].contains(&field) { &mut job["source"] } else { &mut job };
            installation[field] = json!(format!("https://x:{key}@git.example/"));
            job
        };
        app.upstream.on_create(echoing(201, response)).await;
        app.upstream.on_read(echoing(200, response)).await;
        let job = operator.created("Fix typos").await;
        operator.page(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await;
        assert_no_secret(&app, field).await;
    }
}

/// A changed id would be that of no job or of another one, and a changed status another state.
#[tokio::test]
async fn id_and_status_are_never_masked() {
    let begin = &KEY[..12];
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let id = format!("job_{begin}");
    let remote = json!({"id": id, "status": begin, "model": begin});
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(&remote)).await;
    let job = operator.created("Fix typos").await;
    assert_eq!(job["remote"]["id"], id);
    assert_eq!(job["remote"]["status"], begin);
    assert_eq!(job["remote"]["model"], "•••", "the begin of a key at the end of another text");
}

#[tokio::test]
async fn job_whose_id_or_status_has_the_key_is_refused() {
    for field in ["id", "status"] {
        let app = TestApp::start().await;
        let operator = app.operator().await;
        let response = move |key: &str| {
            let mut job = remote_job("job_1", "active");
            job[field] = json!(format!("x{key}"));
            job
        };
        app.upstream.on_create(echoing(201, response)).await;
        let job = operator.created("Fix typos").await;
        assert_eq!((&job["state"], &job["remote"]), (&json!("unknown"), &Value::Null), "{field}");
        assert_no_secret(&app, field).await;
    }
}

#[tokio::test]
async fn path_containing_the_key_is_masked() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let response = |key: &str| {
        let rows = json!([{"path": format!("/{key}"), "human": 1, "ai": 1, "total": 2}]);
        json!({"totals": {"human": 1, "ai": 1, "total": 2}, "views": rows, "hasMore": false})
    };
    app.upstream.on_views(echoing(200, response)).await;
    assert_eq!(operator.post("/api/analytics/views", &[("project", "docs")]).await.status, 200);
    operator.get("/p/docs/analytics").await;
    assert_no_secret(&app, "views").await;
}

#[tokio::test]
async fn typical_work_leaves_no_secret_in_log_or_database() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    app.upstream.accepts_jobs().await;
    let job = operator.created("Fix typos").await;
    operator.follow_up(&job, "And more", &intent()).await;
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(503)).await;
    operator.created("Fix more typos").await;
    operator.create("", &intent()).await.refused(400, "bad_input");
    operator.submit("/api/session/login", &[("username", "olga"), ("password", "wrong")], None).await;
    app.anonymous().sign_in("olga", PASSWORD).await;
    for path in ["/", "/p/docs", "/p/docs/jobs", "/p/docs/jobs/new", "/p/docs/analytics", "/nowhere"] {
        operator.get(path).await;
    }
    operator.send(operator.request(Method::GET, "/p/docs").header("authorization", "Bearer x")).await;
    operator.post("/api/session/logout", &[]).await;
    assert_no_secret(&app, "a day").await;
    // The leak detection would have found it: it checks the finest log level of client and server.
    for target in ["TRACE hyper", "DEBUG reqwest", "docket::"] {
        assert!(!logged(target).is_empty(), "nothing of {target} is captured");
    }
}

#[tokio::test]
async fn trace_of_a_response_containing_the_key_is_masked() {
    let (platform, collector) = (MockServer::start().await, Collector::start().await);
    let agent = |key: &str| json!({"error": format!("not allowed: {key}")});
    Mock::given(method("POST")).respond_with(echoing(400, agent)).mount(&platform).await;
    Mock::given(method("GET")).respond_with(echoing(500, agent)).mount(&platform).await;
    let installation = Installation::with_administrator(&platform.uri())
        .set("DOCKET_TRACE_UPSTREAM", "true")
        .set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.uri());
    let server = installation.serve(&["serve"]);
    let browser = server.signed_in().await;
    browser.created("Fix typos").await;
    browser.post("/api/analytics/views", &[("project", "docs")]).await;
    browser.get("/p/docs/jobs").await;
    // The response may contain the query.
    let query = fields(&[("next", PASSWORD), ("q", KEY)]);
    let login = reqwest::get(format!("{}/login?{query}", server.address().await)).await.unwrap();
    assert_eq!(login.status(), 200);
    browser.send(browser.request(Method::GET, "/p/docs").bearer_auth(METRICS_TOKEN)).await;
    server.signal("TERM");
    assert!(server.ended().await.success());
    let spans = collector.spans().await;
    for name in ["platform create", "platform views", "GET /p/{project}/jobs", "GET /login"] {
        assert!(spans.iter().any(|span| span.name == name), "no {name} in {spans:#?}");
    }
    for body in collector.bodies().await {
        assert_eq!(secrets_in(&String::from_utf8_lossy(&body)), Vec::<&str>::new());
    }
}
