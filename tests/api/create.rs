//! Starting a job: the one request that the upstream receives, and the response.

use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{KEY, New, TestApp, intent, job_with, json, picked, remote_job, steady};

#[tokio::test]
async fn new_job_sends_one_exact_request() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let prompt = "Fix “typos” in /guides,\n\tand keep 日本語 \u{1F4DA} & <b>tags</b> \\ as they are ";
    app.operator().await.created(prompt).await;

    let requests = app.upstream.requests().await;
    assert_eq!(requests.len(), 1);
    let request = &requests[0];
    assert_eq!((request.method.as_str(), request.url.path()), ("POST", "/v2/agent/docs/job"));
    assert_eq!(request.url.query(), None);
    assert_eq!(request.body_json::<Value>().unwrap(), json!({"prompt": prompt}));
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}").as_str());
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(request.headers["accept"], "application/json");
    assert!(request.headers.get("cookie").is_none() && request.headers.get("referer").is_none());
}

#[tokio::test]
async fn response_has_every_documented_field() {
    let app = TestApp::start().await;
    let mut remote = remote_job("job_1", "completed");
    remote["prLink"] = json!("https://git.example/acme/docs/pull/7");
    remote["archivedAt"] = json!("2026-11-21T12:00:00+01:00");
    remote["news"] = json!({"of": ["another", "version"]});
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(&remote)).await;
    let job = app.operator().await.created("Fix typos").await;

    insta::assert_json_snapshot!(steady(&job));
    let instants = picked(&job["remote"], ["created_at", "archived_at"]);
    insta::assert_compact_json_snapshot!(instants, @r#"{"archived_at": "2026-11-21T11:00:00Z", "created_at": "2026-11-21T09:30:00Z"}"#);
}

#[tokio::test]
async fn every_2xx_status_is_accepted() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for status in [200, 201, 202] {
        app.upstream.reset().await;
        let remote = remote_job(&format!("job_{status}"), "active");
        app.upstream.on_create(ResponseTemplate::new(status).set_body_json(remote)).await;
        assert_eq!(operator.created("Fix typos").await["state"], "active", "{status}");
    }
}

#[tokio::test]
async fn job_ids_sort_by_time_and_differ_from_upstream_ids() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        let job = operator.created("Fix typos").await;
        assert_ne!(job["id"], job["remote"]["id"]);
        ids.push(job["id"].as_str().unwrap().to_owned());
    }
    assert!(ids.is_sorted() && ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
}

#[tokio::test]
async fn job_is_visible_only_in_its_project() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = New::job("Fix typos").with("project", "api").made(&operator).await;
    assert_eq!(job["project"], "api");
    assert_eq!(app.upstream.requests().await[0].url.path(), "/v2/agent/api/job");

    let id = job["id"].as_str().unwrap();
    let elsewhere = [("project", "docs"), ("job", id)];
    operator.post("/api/jobs/get", &elsewhere).await.refused(404, "not_found");
    let badges = operator.post_json("/api/jobs/statuses", &[("project", "docs"), ("jobs", id)]).await;
    assert_eq!(badges, json!([]));
    assert_eq!(operator.post_json("/api/jobs/list", &[("project", "docs")]).await["jobs"], json!([]));
}

#[tokio::test]
async fn pages_are_stored_and_not_sent_upstream() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let job = New::job("Fix typos").with("paths", "/guides/a, /b\r\n/b").made(&app.operator().await).await;
    assert_eq!(job["paths"], json!(["/b", "/guides/a"]));
    assert_eq!(
        app.upstream.requests().await[0].body_json::<Value>().unwrap(),
        json!({"prompt": "Fix typos"})
    );
}

#[tokio::test]
async fn longest_prompt_is_sent_unchanged_with_normalized_line_endings() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let longest = "é".repeat(32_768);
    operator.created(&longest).await;
    operator.created("one\r\ntwo\nthree").await;
    let bodies: Vec<Value> =
        app.upstream.posts().await.iter().map(|post| post.body_json().unwrap()).collect();
    assert_eq!(bodies, [json!({"prompt": longest}), json!({"prompt": "one\ntwo\nthree"})]);
}

#[tokio::test]
async fn invalid_prompt_is_refused_before_sending() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let too_long = "x".repeat(32_769);
    for prompt in ["", "   ", "\r\n\t\n", "a\0b", &too_long] {
        operator.create(prompt, &intent()).await.refused(400, "bad_input");
    }
    let message = operator.create(&too_long, &intent()).await.refused(400, "bad_input");
    assert!(message.contains("32769") && message.contains("32768"), "{message}");
    assert_eq!(app.upstream.requests().await.len(), 0);
    assert_eq!(operator.post_json("/api/jobs/list", &[("project", "docs")]).await["jobs"], json!([]));
}

#[tokio::test]
async fn missing_or_malformed_field_is_bad_input() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let (project, prompt, intent) = (("project", "docs"), ("prompt", "Fix typos"), ("intent", "abc"));
    let incomplete: [&[(&str, &str)]; 4] = [&[project, prompt], &[project, intent], &[prompt, intent], &[]];
    for pairs in incomplete {
        operator.post("/api/jobs/create", pairs).await.refused(400, "bad_input");
    }
    let long = "a".repeat(65);
    for bad in ["", "a b", "a/b", "é", "../..", &long] {
        operator
            .post("/api/jobs/create", &[project, prompt, ("intent", bad)])
            .await
            .refused(400, "bad_input");
    }
    for bad in ["", "a/b", "..", "a%2fb", "docs\r\n"] {
        operator
            .post("/api/jobs/create", &[("project", bad), prompt, intent])
            .await
            .refused(400, "bad_input");
    }
    operator
        .post("/api/jobs/create", &[("project", "other"), prompt, intent])
        .await
        .refused(404, "not_found");
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn oversized_body_is_refused() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.operator().await.create(&"x".repeat(600 * 1024), &intent()).await.refused(413, "bad_input");
    assert_eq!(app.upstream.requests().await.len(), 0);
}

/// Upstream ids may not be unique; a job must reach a final state anyway.
#[tokio::test]
async fn duplicate_upstream_ids_leave_no_job_in_flight() {
    let app = TestApp::start().await;
    let same = job_with("job_same", "active", "model", json!("m"));
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(same)).await;
    let operator = app.operator().await;
    let first = operator.created("Fix typos").await;
    let second = operator.created("Fix more typos").await;
    let reason = "The platform answered with a job that belongs to another prompt. It may or may not have started the work.";
    assert_eq!((&second["state"], &second["reason"]), (&json!("unknown"), &json!(reason)));
    assert_eq!(operator.job(&first).await["state"], "active");
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn unfilled_placeholders_need_confirmation_in_forms_only() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let id = intent();
    let pairs = [
        ("project", "docs"),
        ("prompt", "Translate into {{language}}"),
        ("intent", &id),
        ("unfilled", "ask"),
        ("anyway", "on"),
    ];
    let why = operator.post("/api/jobs/create", &pairs[..4]).await.refused(409, "unfilled_placeholder");
    assert!(why.contains("{{language}}"), "{why}");
    assert_eq!(app.upstream.posts().await.len(), 0);
    let form = operator.post_json("/api/jobs/form", &[("project", "docs")]).await;
    assert_eq!(form["draft"], "Translate into {{language}}", "the text is stored");
    let job = operator.post_json("/api/jobs/create", &pairs).await;
    assert_eq!(job["state"], "active", "the same intent, since nothing was committed");
    assert_eq!(
        operator.created("Translate into {{language}}").await["state"],
        "active",
        "a script needs no confirmation"
    );

    let job = job["id"].as_str().unwrap().to_owned();
    let id = intent();
    let pairs = [
        ("project", "docs"),
        ("job", &job),
        ("prompt", "And {{more}}"),
        ("intent", &id),
        ("unfilled", "ask"),
    ];
    operator.post("/api/jobs/message", &pairs).await.refused(409, "unfilled_placeholder");
    assert_eq!(
        operator.post_json("/api/jobs/message", &pairs[..4]).await["follow_ups"][0]["prompt"],
        "And {{more}}"
    );
}
