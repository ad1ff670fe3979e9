//! The upstream's responses are untrusted data: whichever field is null, missing or of another type, a job is still a
//! job.

use std::time::Duration;

use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{Settings, TestApp, detached_job, job_with, json, remote_job, until};

/// Values that no field expects.
fn oddities() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!([]),
        json!(["x"]),
        json!({}),
        json!({"repository": {"ref": 1}}),
        json!(""),
    ]
}

/// A job with `path` (at most two fields deep) changed to `value`; with `None`, removed.
fn changed(path: &str, value: Option<&Value>) -> Value {
    let mut job = remote_job(&detached_job(), "active");
    let (parent, field) = match path.split_once('.') {
        Some((parent, field)) => (&mut job[parent], field),
        None => (&mut job, path),
    };
    match value {
        Some(value) => parent[field] = value.clone(),
        None => drop(parent.as_object_mut().unwrap().remove(field)),
    }
    job
}

#[tokio::test]
async fn job_survives_null_missing_or_mistyped_fields() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let whole = json!({
        "status": "active", "repository": "acme/docs", "ref": "main", "model": "claude-sonnet", "pr_link": null,
        "created_at": "2026-11-21T09:30:00Z", "archived_at": null,
    });
    // A field of the upstream, and its value on the page when it is missing.
    let table: [(&str, &[(&str, Value)]); 8] = [
        ("status", &[("status", json!("(no status)"))]),
        ("source", &[("repository", json!(null)), ("ref", json!(null))]),
        ("source.repository", &[("repository", json!(null))]),
        ("source.ref", &[("ref", json!(null))]),
        ("model", &[("model", json!(null))]),
        ("prLink", &[("pr_link", json!(null))]),
        ("createdAt", &[("created_at", json!(null))]),
        ("archivedAt", &[("archived_at", json!(null))]),
    ];
    for (path, without) in table {
        for value in std::iter::once(None).chain(oddities().iter().map(Some)) {
            let remote = changed(path, value);
            app.upstream.reset().await;
            app.upstream.on_create(ResponseTemplate::new(201).set_body_json(&remote)).await;
            let job = operator.created("Fix typos").await;
            let mut expected = whole.clone();
            expected["id"] = remote["id"].clone();
            for (field, value) in without {
                expected[*field] = value.clone();
            }
            assert_eq!(job["remote"], expected, "{path} = {value:?}");
            assert_eq!(job["state"], if path == "status" { "other" } else { "active" }, "{path} = {value:?}");
            assert_eq!(app.upstream.posts().await.len(), 1, "{path} = {value:?}");
        }
    }
}

#[tokio::test]
async fn numbers_in_text_fields_are_shown_as_digits() {
    let app = TestApp::start().await;
    let remote =
        json!({"id": 17, "status": 3, "source": {"repository": 1, "ref": 2.5}, "model": 4, "prLink": 5});
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote)).await;
    let job = app.operator().await.created("Fix typos").await;
    assert_eq!(job["state"], "other");
    insta::assert_json_snapshot!(job["remote"]);
}

#[tokio::test]
async fn documented_statuses_become_states_and_others_are_shown_raw() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (status, state) in [
        ("active", "active"),
        ("completed", "completed"),
        ("archived", "archived"),
        ("failed", "failed"),
        ("paused", "other"),
        ("ACTIVE", "other"),
        ("queued", "other"),
        ("unknown", "other"),
        (" completed", "other"),
        ("待機中 <b>", "other"),
    ] {
        app.upstream.reset().await;
        let remote = remote_job(&detached_job(), status);
        app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote)).await;
        let job = operator.created("Fix typos").await;
        assert_eq!((&job["state"], &job["remote"]["status"]), (&json!(state), &json!(status)));
        let badges = [("project", "docs"), ("jobs", job["id"].as_str().unwrap())];
        let badge = &operator.post_json("/api/jobs/statuses", &badges).await[0];
        assert_eq!((&badge["state"], &badge["status"]), (&json!(state), &json!(status)));
    }
}

#[tokio::test]
async fn only_iso_8601_texts_are_parsed_as_timestamps() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (written, shown) in [
        (json!("2026-11-21T09:30:00+05:30"), json!("2026-11-21T04:00:00Z")),
        (json!("2026-11-21T09:30:00.123456Z"), json!("2026-11-21T09:30:00.123Z")),
        (json!("20261121T093000Z"), json!("2026-11-21T09:30:00Z")),
        (json!("2026-W47-6T09:30:00Z"), json!("2026-11-21T09:30:00Z")),
        (json!("2026-11-21T09:30:00"), json!("2026-11-21T09:30:00Z")),
        (json!("2026-13-41T25:61:00Z"), json!(null)),
        (json!("-9999-01-01T00:00:00Z"), json!(null)),
        (json!("yesterday"), json!(null)),
        (json!(1_795_253_400), json!(null)),
    ] {
        app.upstream.reset().await;
        let remote = job_with(&detached_job(), "active", "createdAt", written.clone());
        app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote)).await;
        assert_eq!(operator.created("Fix typos").await["remote"]["created_at"], shown, "{written}");
    }
}

#[tokio::test]
async fn texts_with_odd_characters_or_length_are_accepted() {
    let app = TestApp::start().await;
    let mut remote = remote_job("job_1", "active");
    remote["model"] = json!("a\u{0}b\r\nc \u{202E}");
    remote["source"]["ref"] = json!("x".repeat(100_000));
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote)).await;
    let job = app.operator().await.created("Fix typos").await;
    assert_eq!(job["state"], "active");
    assert_eq!(job["remote"]["ref"].as_str().unwrap().len(), 2_000);
}

#[tokio::test]
async fn poll_with_invalid_fields_updates_only_valid_ones() {
    let settings = Settings { poll_interval: Duration::from_millis(1), ..Settings::default() };
    let app = TestApp::with(settings).await;
    let active = ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"));
    app.upstream.on_create(active).await;
    let odd = json!({"id": "job_1", "status": null, "source": "gone", "model": [], "prLink": 9});
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(odd)).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let read = until("the job was read", async || {
        let job = operator.job(&job).await;
        (job["state"] == "other").then_some(job)
    })
    .await;
    assert_eq!(read["remote"]["repository"], json!(null));
    assert_eq!(read["remote"]["pr_link"], "9");
}

#[tokio::test]
async fn follow_up_response_survives_invalid_fields() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let odd = json!({"id": job["remote"]["id"], "source": null, "prLink": {}, "createdAt": 1});
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(odd)).await;
    let response = operator.follow_up(&job, "And more", &crate::helpers::intent()).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.json()["state"], "other");
    assert_eq!(response.json()["follow_ups"][0]["state"], "accepted");
}

/// PostgreSQL refuses zero bytes: the app must refuse or replace them first.
#[tokio::test]
async fn zero_byte_in_any_field_causes_no_error() {
    const TEXT: &str = "a\0b";
    const NAMES: &str = "address author batch cause code credential cursor day days device email from groups id intent job jobs kind \
        label limit link list message name new next note of offset old password path paths person position pr project projects \
        prompt q query remote role secret selection session shared sort status subject tag tags template text to token user \
        username value values view who";
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let ada = app.sign_in("ada").await;
    let job = ada.created("Fix typos").await["id"].as_str().unwrap().to_owned();
    let mut failed = Vec::new();
    for path in crate::gate::endpoints() {
        for known in [&[][..], &["project"], &["project", "job", "intent"]] {
            let fields: Vec<(&str, &str)> = NAMES
                .split_whitespace()
                .map(|name| match name {
                    "project" if known.contains(&name) => (name, "docs"),
                    "job" if known.contains(&name) => (name, job.as_str()),
                    "intent" if known.contains(&name) => (name, "an-intent"),
                    _ => (name, TEXT),
                })
                .collect();
            if path != "/api/session/logout" {
                let response = ada.post(path, &fields).await;
                if [500, 503].contains(&response.status) {
                    failed.push(format!("{path}: {} {}", response.status, response.text));
                }
            }
        }
    }
    for page in crate::gate::pages() {
        let response =
            ada.get(&format!("{page}?q=a%00b&author=a%00b&tag=a%00b&from=%00&path=%2Fa%00b&page=%00")).await;
        if [500, 503].contains(&response.status) {
            failed.push(format!("{page}: {} {}", response.status, response.text));
        }
    }
    assert_eq!(failed, Vec::<String>::new());
    assert!(ada.is_signed_in().await);
}
