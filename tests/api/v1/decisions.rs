//! Decisions about prompts whose outcome is unknown, with the scope for them. Each is about one attempt, and counts once.

use futures::future::join_all;
use model::audit::Outcome;
use serde_json::Value;
use wiremock::ResponseTemplate;

use super::Script;
use super::jobs::{JOBS, path_of, started};
use crate::api_tokens::{audited, problem};
use crate::helpers::{TestApp, TestResponse, json, remote_job};
use crate::queue::per_hour;

const GONE: &str = "01930000-0000-7000-8000-000000000000";

fn not_started(attempt: u32) -> Value {
    json!({"outcome": "not_started", "attempt": attempt})
}

fn started_as(platform_id: &str) -> Value {
    json!({"outcome": "started", "attempt": 0, "platform_id": platform_id})
}

async fn decide(script: &Script, job: &Value, decision: &Value) -> TestResponse {
    script.post(&format!("{}/resolve", path_of(job)), "unused", decision).await
}

/// An app with a job that may have been accepted.
async fn unresolved() -> (TestApp, Script, Value) {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let script = Script::of(&app).await;
    let job = script.post(JOBS, "one", &json!({"prompt": "Fix typos"})).await.json();
    assert_eq!((&job["state"], &job["attempt"]), (&json!("unknown"), &json!(0)));
    app.upstream.reset().await;
    (app, script, job)
}

/// A job with two follow-ups whose outcome is unknown.
async fn unresolved_follow_ups() -> (TestApp, Script, Value) {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.upstream.on_follow_up(ResponseTemplate::new(502)).await;
    let script = Script::of(&app).await;
    let job = started(&script, "one", json!({"prompt": "Fix typos"})).await;
    for prompt in ["first", "second"] {
        let messages = format!("{}/messages", path_of(&job));
        let sent = script.post(&messages, prompt, &json!({"prompt": prompt})).await.json();
        assert_eq!(sent["follow_up_state"], "unknown", "{sent}");
    }
    app.upstream.reset().await;
    let job = script.got(&path_of(&job)).await;
    (app, script, job)
}

#[tokio::test]
async fn concurrent_decisions_send_the_prompt_once() {
    let (app, script, job) = unresolved().await;
    app.upstream.accepts_jobs().await;
    let decision = not_started(0);
    for response in join_all((0..4).map(|_| decide(&script, &job, &decision))).await {
        assert_eq!(response.status, 200, "{}", response.text);
    }
    let again = decide(&script, &job, &decision).await.json();
    assert_eq!((&again["state"], &again["attempt"]), (&json!("active"), &json!(1)));
    assert_eq!(app.upstream.posts().await.len(), 1);
    problem(&decide(&script, &job, &started_as("job_9")).await, 409, "conflict");
    problem(&decide(&script, &job, &not_started(1)).await, 409, "conflict");
    assert_eq!((app.upstream.requests().await.len(), script.got(&path_of(&job)).await), (1, again));
    let records = audited(&app, "resend", Outcome::Done).await;
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(records[0].1, job["id"].as_str().unwrap());
}

#[tokio::test]
async fn decision_is_about_no_later_attempt() {
    let (app, script, job) = unresolved().await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let again = decide(&script, &job, &not_started(0)).await.json();
    assert_eq!(
        (&again["state"], &again["attempt"], &again["ended"]),
        (&json!("unknown"), &json!(1), &json!(true))
    );
    assert_eq!(decide(&script, &job, &not_started(0)).await.json()["attempt"], 1);
    assert_eq!(app.upstream.posts().await.len(), 1);
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    assert_eq!(decide(&script, &job, &not_started(1)).await.json()["state"], "active");
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn started_job_is_tracked_by_the_id_of_the_platform() {
    let (app, script, job) = unresolved().await;
    app.upstream.on_read(ResponseTemplate::new(404).set_body_json(json!({"error": "no"}))).await;
    problem(&decide(&script, &job, &started_as("job_9")).await, 404, "not_found");
    assert_eq!(script.got(&path_of(&job)).await, job, "nothing changed");
    app.upstream.reset().await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_9", "completed"))).await;
    let found = decide(&script, &job, &started_as(" job_9 ")).await.json();
    assert_eq!((&found["state"], &found["platform_id"]), (&json!("completed"), &json!("job_9")));
    problem(&decide(&script, &job, &started_as("job_9")).await, 409, "conflict");
    assert!(app.upstream.posts().await.is_empty());
    assert_eq!(audited(&app, "resolve", Outcome::Done).await.len(), 1);
}

#[tokio::test]
async fn decision_about_a_follow_up_names_it() {
    let (app, script, job) = unresolved_follow_ups().await;
    app.upstream.accepts_follow_ups().await;
    let id = |number: usize| job["follow_ups"][number]["id"].as_str().unwrap().to_owned();
    assert_eq!(job["follow_ups"][1]["attempt"], 0);
    let of = |outcome: &str, id: &str| json!({"outcome": outcome, "attempt": 0, "follow_up_id": id});
    let deciding = Script::with(&app, &[("scopes", "jobs:resolve")]).await;
    let accepted = decide(&deciding, &job, &of("started", &id(1))).await.json();
    let expected = json!({
        "id": job["id"], "state": "active", "ended": false, "reason_code": null,
        "follow_up_id": id(1), "follow_up_state": "accepted", "follow_up_reason_code": null,
    });
    assert_eq!(accepted, expected);
    assert!(app.upstream.posts().await.is_empty());
    let sent = decide(&script, &job, &of("not_started", &id(0))).await.json();
    assert_eq!((&sent["follow_up_id"], &sent["follow_up_state"]), (&json!(id(0)), &json!("accepted")));
    assert_eq!(sent["follow_ups"][0]["attempt"], 1);
    let posts = app.upstream.posts().await;
    assert_eq!(posts.len(), 1);
    assert_eq!(posts[0].body_json::<Value>().unwrap(), json!({"prompt": "first"}));
    // The first prompt is accepted, and this one is of another job.
    problem(&decide(&script, &job, &started_as("job_1")).await, 409, "conflict");
    let other = started(&script, "two", json!({"prompt": "Fix links"})).await;
    problem(&decide(&script, &other, &of("not_started", &id(0))).await, 404, "not_found");
    problem(&decide(&script, &job, &of("not_started", GONE)).await, 404, "not_found");
}

/// In each other state of the first prompt, nothing is decided, and nothing is sent.
#[tokio::test]
async fn prompt_with_a_known_outcome_is_not_decided_about() {
    let app = TestApp::with(per_hour(2)).await;
    let script = Script::of(&app).await;
    let mut jobs = Vec::new();
    for (key, answer, state) in
        [("a", 201, "active"), ("r", 400, "rejected"), ("q", 201, "queued"), ("c", 201, "queued")]
    {
        app.upstream.reset().await;
        let body = remote_job("job_1", "active");
        app.upstream.on_create(ResponseTemplate::new(answer).set_body_json(body)).await;
        let body = json!({"prompt": format!("Do {key}"), "queue": true});
        let job = script.post(JOBS, key, &body).await.json();
        assert_eq!(job["state"], state, "{job}");
        jobs.push(job);
    }
    jobs[3] = script.act(&format!("{}/cancel", path_of(&jobs[3]))).await.json();
    app.upstream.reset().await;
    for job in &jobs {
        for decision in [not_started(0), started_as("job_7"), not_started(1)] {
            problem(&decide(&script, job, &decision).await, 409, "conflict");
        }
        assert_eq!(script.got(&path_of(job)).await["state"], job["state"]);
    }
    assert!(app.upstream.requests().await.is_empty());
}

#[tokio::test]
async fn decision_needs_its_scope_and_an_operator() {
    let (app, _, job) = unresolved().await;
    app.upstream.accepts_jobs().await;
    let others = Script::with(&app, &[("scopes", "jobs:read,jobs:write,analytics:read")]).await;
    problem(&decide(&others, &job, &not_started(0)).await, 403, "insufficient_scope");
    problem(&decide(&others, &job, &json!({})).await, 403, "insufficient_scope");
    let elsewhere =
        Script::with(&app, &[("scopes", "jobs:resolve"), ("access", "selected"), ("projects", "api")]).await;
    problem(&decide(&elsewhere, &job, &not_started(0)).await, 404, "not_found");
    let path = path_of(&job).replace("/docs/", "/api/");
    let moved = elsewhere.post(&format!("{path}/resolve"), "unused", &not_started(0)).await;
    problem(&moved, 404, "not_found");
    let olga = Script::with(&app, &[("scopes", "jobs:resolve")]).await;
    app.ledger().run("UPDATE users SET role = 'viewer' WHERE name = 'olga'").await;
    let refused = decide(&olga, &job, &not_started(0)).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert!(app.upstream.posts().await.is_empty());
    app.ledger().run("UPDATE users SET role = 'operator' WHERE name = 'olga'").await;
    let short = decide(&olga, &job, &not_started(0)).await.json();
    let expected = json!({"id": job["id"], "state": "active", "ended": false, "reason_code": null});
    assert_eq!(short, expected, "without texts");
}

#[tokio::test]
async fn wrong_decision_names_its_field() {
    let (app, script, job) = unresolved().await;
    let other = Script::with(&app, &[("scopes", "jobs:resolve")]).await;
    for (number, (decision, field)) in [
        (json!({"attempt": 0}), "outcome"),
        (json!({"outcome": "not_started"}), "attempt"),
        (json!({"outcome": "maybe", "attempt": 0}), "outcome"),
        (json!({"outcome": "not_started", "attempt": -1}), "attempt"),
        (json!({"outcome": "not_started", "attempt": 4_294_967_296_u64}), "attempt"),
        (json!({"outcome": "not_started", "attempt": 0, "platform_id": "job_1"}), "platform_id"),
        (json!({"outcome": "started", "attempt": 0}), "platform_id"),
        (json!({"outcome": "started", "attempt": 0, "platform_id": ""}), "platform_id"),
        (json!({"outcome": "started", "attempt": 0, "platform_id": "a/b"}), "platform_id"),
        (
            json!({"outcome": "started", "attempt": 0, "platform_id": "job_1", "follow_up_id": GONE}),
            "platform_id",
        ),
        (json!({"outcome": "started", "attempt": 0, "follow_up_id": "x"}), "follow_up_id"),
        (json!({"outcome": "not_started", "attempt": 0, "message": 1}), "message"),
    ]
    .into_iter()
    .enumerate()
    {
        let script = if number % 2 == 0 { &script } else { &other };
        let refused = decide(script, &job, &decision).await;
        problem(&refused, 400, "bad_input");
        assert_eq!(refused.json()["errors"][0]["field"], field, "{decision}: {}", refused.text);
    }
    assert!(app.upstream.requests().await.is_empty());
}
