//! `retry_of`: a job that runs another one again.

use serde_json::Value;
use wiremock::ResponseTemplate;

use super::Script;
use super::jobs::{JOBS, path_of, started};
use crate::api_tokens::problem;
use crate::helpers::{TestApp, job_with, json, remote_job};

/// A platform whose next job has this status, and a pull request if there is a link.
async fn next_job(app: &TestApp, id: &str, status: &str, link: Option<&str>) {
    app.upstream.reset().await;
    let job = match link {
        Some(link) => job_with(id, status, "prLink", json!(link)),
        None => remote_job(id, status),
    };
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(job)).await;
}

fn retry(job: &Value) -> Value {
    json!({"prompt": "Fix typos", "retry_of": job["id"]})
}

#[tokio::test]
async fn retry_with_a_pull_request_resolves_its_job() {
    let app = TestApp::start().await;
    let (script, olga) = (Script::of(&app).await, app.operator().await);
    next_job(&app, "job_1", "failed", None).await;
    let failed = started(&script, "one", json!({"prompt": "Fix typos"})).await;
    assert_eq!((&failed["state"], &failed["retry_of"]), (&json!("failed"), &Value::Null));
    assert_eq!(olga.job(&failed).await["needs_attention"], true);
    next_job(&app, "job_2", "completed", Some("https://git.example/acme/docs/pull/8")).await;
    let good = started(&script, "two", retry(&failed)).await;
    assert_eq!(good["retry_of"], failed["id"]);
    assert_eq!(script.got(&path_of(&good)).await["retry_of"], failed["id"]);
    let resolved = olga.job(&failed).await;
    assert_eq!((&resolved["resolved_by"], &resolved["needs_attention"]), (&good["id"], &Value::Null));
    let again = script.post(JOBS, "two", &retry(&failed)).await;
    assert_eq!((again.status, again.header("idempotent-replayed")), (201, "true"));
    assert_eq!(again.json()["id"], good["id"]);
    // The same as the form of the page does, and as a tool.
    next_job(&app, "job_3", "active", None).await;
    let call = json!({"project": "docs", "prompt": "Fix typos", "retry_of": failed["id"], "idempotency_key": "three"});
    let called = script.call("start_job", call).await["structuredContent"].take();
    assert_eq!(called["retry_of"], failed["id"], "{called}");
    let retries = &olga.job(&failed).await["retries"];
    assert_eq!((&retries[0]["status"]["id"], &retries[1]["status"]["id"]), (&called["id"], &good["id"]));
}

/// For each state: whether a job in it is run again.
#[tokio::test]
async fn only_a_job_that_ended_without_a_pull_request_is_run_again() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    let link = Some("https://git.example/acme/docs/pull/8");
    for (number, (status, link, is_retryable)) in [
        ("failed", None, true),
        ("completed", None, true),
        ("completed", link, false),
        ("active", None, false),
        ("archived", None, false),
        ("paused", None, false),
    ]
    .into_iter()
    .enumerate()
    {
        next_job(&app, &format!("job_{number}"), status, link).await;
        let first = started(&script, &format!("first-{number}"), json!({"prompt": "Fix typos"})).await;
        next_job(&app, &format!("retry_{number}"), "active", None).await;
        let second = script.post(JOBS, &format!("second-{number}"), &retry(&first)).await;
        match is_retryable {
            true => assert_eq!((second.status, &second.json()["retry_of"]), (201, &first["id"]), "{status}"),
            false => {
                let message = problem(&second, 409, "conflict");
                assert!(message.contains("has not ended, or has a pull request"), "{status}: {message}");
                assert!(app.upstream.posts().await.is_empty());
            }
        }
    }
}

#[tokio::test]
async fn rejected_and_cancelled_jobs_are_run_again_but_no_others_job() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    let script = Script::of(&app).await;
    let rejected = script.post(JOBS, "one", &json!({"prompt": "Fix typos"})).await.json();
    assert_eq!(rejected["state"], "rejected");
    app.upstream.reset().await;
    for (id, status, code) in [
        ("01930000-0000-7000-8000-000000000000", 404, "not_found"),
        ("x", 400, "bad_input"),
        ("", 400, "bad_input"),
    ] {
        let refused = script.post(JOBS, "two", &json!({"prompt": "Fix typos", "retry_of": id})).await;
        problem(&refused, status, code);
        if status == 400 {
            assert_eq!(refused.json()["errors"][0]["field"], "retry_of", "{}", refused.text);
        }
    }
    // A job of another project is missing.
    problem(&script.post("/projects/api/jobs", "two", &retry(&rejected)).await, 404, "not_found");
    assert!(app.upstream.posts().await.is_empty());
    app.upstream.accepts_jobs().await;
    let again = started(&script, "two", retry(&rejected)).await;
    assert_eq!((&again["state"], &again["retry_of"]), (&json!("active"), &rejected["id"]));
}
