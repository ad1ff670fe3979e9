//! Deliveries with an unknown outcome: a person decides, and each decision counts once.

use std::time::Duration;

use axum::http::StatusCode;
use futures::future::join_all;
use model::time::Timestamp;
use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{
    Browser, PausedUpstream, Settings, TestApp, TestResponse, intent, json, picked, remote_job, until,
};

const GONE: &str = "01930000-0000-7000-8000-000000000000";

/// An app with a job that may have been accepted.
async fn unresolved() -> (TestApp, Browser, Value) {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    assert_eq!((&job["state"], &job["attempt"]), (&json!("unknown"), &json!(0)));
    app.upstream.reset().await;
    (app, operator, job)
}

async fn resolve(
    person: &Browser,
    job: &Value,
    message: u32,
    attempt: u32,
    outcome: &[(&str, &str)],
) -> TestResponse {
    let (message, attempt) = (message.to_string(), attempt.to_string());
    let mut pairs = vec![
        ("project", "docs"),
        ("job", job["id"].as_str().unwrap()),
        ("message", message.as_str()),
        ("attempt", attempt.as_str()),
    ];
    pairs.extend_from_slice(outcome);
    person.post("/api/jobs/resolve", &pairs).await
}

const NOT_STARTED: &[(&str, &str)] = &[("outcome", "not_started")];

#[tokio::test]
async fn unresolved_job_marked_not_started_is_sent_again() {
    let (app, operator, job) = unresolved().await;
    app.upstream.accepts_jobs().await;
    let colleague = app.sign_in("otto").await;
    let response = resolve(&colleague, &job, 0, 0, NOT_STARTED).await;
    assert_eq!(response.status, 200, "{}", response.text);
    let read = operator.job(&job).await;
    insta::assert_compact_json_snapshot!(picked(&read, ["state", "reason", "author"]), @r#"{"author": "olga", "reason": null, "state": "active"}"#);
    let posts = app.upstream.posts().await;
    assert_eq!(posts.len(), 1);
    assert_eq!(posts[0].body_json::<Value>().unwrap(), json!({"prompt": "Fix typos"}));
    let states: Vec<_> = read["history"].as_array().unwrap().iter().map(|entry| &entry["state"]).collect();
    assert_eq!(states, ["queued", "sending", "unknown", "queued", "sending", "accepted"]);
    assert!(
        read["history"][3]["detail"].as_str().unwrap().starts_with("otto marked it as not started"),
        "{read}"
    );
}

#[tokio::test]
async fn concurrent_decisions_send_once() {
    let (app, operator, job) = unresolved().await;
    app.upstream.accepts_jobs().await;
    let colleague = app.sign_in("otto").await;
    let clicks = [&operator, &operator, &colleague].map(|person| resolve(person, &job, 0, 0, NOT_STARTED));
    for response in join_all(clicks).await {
        assert_eq!(response.status, 200, "{}", response.text);
    }
    assert_eq!(resolve(&operator, &job, 0, 0, NOT_STARTED).await.json()["state"], "active");
    assert_eq!(app.upstream.posts().await.len(), 1);
    // Another decision about the same attempt is too late.
    let late = resolve(&colleague, &job, 0, 0, &[("outcome", "started"), ("remote_id", "job_9")]).await;
    late.refused(409, "conflict");
    assert_eq!(app.upstream.requests().await.len(), 1);
}

#[tokio::test]
async fn decision_applies_to_one_attempt() {
    let (app, operator, job) = unresolved().await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let again = resolve(&operator, &job, 0, 0, NOT_STARTED).await.json();
    assert_eq!((&again["state"], &again["attempt"]), (&json!("unknown"), &json!(1)));
    // The form of the previous attempt sends nothing.
    assert_eq!(resolve(&operator, &job, 0, 0, NOT_STARTED).await.json()["state"], "unknown");
    assert_eq!(app.upstream.posts().await.len(), 1);
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    assert_eq!(resolve(&operator, &job, 0, 1, NOT_STARTED).await.json()["state"], "active");
    resolve(&operator, &job, 0, 2, NOT_STARTED).await.refused(409, "conflict");
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn unresolved_job_is_tracked_after_its_id_is_entered() {
    let (app, operator, job) = unresolved().await;
    let started = |id: &'static str| [("outcome", "started"), ("remote_id", id)];
    app.upstream.on_read(ResponseTemplate::new(404).set_body_json(json!({"error": "no"}))).await;
    let message = resolve(&operator, &job, 0, 0, &started("job_9")).await.refused(404, "not_found");
    assert!(message.contains("job_9"), "{message}");
    assert_eq!(operator.job(&job).await, job, "nothing changed");

    app.upstream.reset().await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_9", "completed"))).await;
    let found = resolve(&operator, &job, 0, 0, &started(" job_9 ")).await;
    assert_eq!(found.status, 200, "{}", found.text);
    let found = found.json();
    assert_eq!((&found["state"], &found["remote"]["id"]), (&json!("completed"), &json!("job_9")));
    assert_eq!(found["reason"], json!(null));
    let states: Vec<_> = found["history"].as_array().unwrap().iter().map(|entry| &entry["state"]).collect();
    assert_eq!(states[states.len() - 2..], ["accepted", "completed"]);
    let requests = app.upstream.requests().await;
    assert_eq!((requests.len(), requests[0].url.path()), (1, "/v2/agent/docs/job/job_9"));
    resolve(&operator, &job, 0, 0, &started("job_9")).await.refused(409, "conflict");
    resolve(&operator, &job, 0, 0, NOT_STARTED).await.refused(409, "conflict");
    assert!(app.upstream.posts().await.is_empty());
}

#[tokio::test]
async fn invalid_id_for_an_unresolved_job_is_refused() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
    let operator = app.operator().await;
    let first = operator.created("Taken").await;
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let job = operator.created("Unknown outcome").await;
    app.upstream.reset().await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"))).await;
    let message = resolve(&operator, &job, 0, 0, &[("outcome", "started"), ("remote_id", "job_1")]).await;
    let message = message.refused(409, "conflict");
    assert!(message.contains(first["id"].as_str().unwrap()), "{message}");
    for hostile in ["", " ", "..", "a/b", "a%2fb", "a?b", "a#b", "a\\b", "a\r\nb", "a\0b", &"x".repeat(201)] {
        let outcome = [("outcome", "started"), ("remote_id", hostile)];
        resolve(&operator, &job, 0, 0, &outcome).await.refused(400, "bad_input");
    }
    resolve(&operator, &job, 0, 0, &[("outcome", "started")]).await.refused(400, "bad_input");
    resolve(&operator, &job, 0, 0, &[("outcome", "perhaps")]).await.refused(400, "bad_input");
    assert!(app.upstream.requests().await.is_empty(), "a request reached the upstream");
    // The upstream may know one job by two ids.
    let alias = resolve(&operator, &job, 0, 0, &[("outcome", "started"), ("remote_id", "JOB_1")]).await;
    alias.refused(409, "conflict");
    assert_eq!(operator.job(&job).await, job);
}

#[tokio::test]
async fn unresolved_follow_up_is_resent_or_marked_accepted() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "completed"))).await;
    app.upstream.on_follow_up(ResponseTemplate::new(502)).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    for text in ["first", "second"] {
        assert_eq!(operator.follow_up(&job, text, &intent()).await.status, 200);
    }
    app.upstream.reset().await;
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"))).await;
    let accepted = resolve(&operator, &job, 2, 0, &[("outcome", "started")]).await.json();
    let state = |number: usize| &accepted["follow_ups"][number]["state"];
    assert_eq!([state(0), state(1)], ["unknown", "accepted"]);
    assert!(app.upstream.requests().await.is_empty());
    let again = resolve(&operator, &job, 1, 0, NOT_STARTED).await.json();
    assert_eq!((&again["follow_ups"][0]["state"], &again["state"]), (&json!("accepted"), &json!("active")));
    let posts = app.upstream.posts().await;
    assert_eq!(posts.len(), 1);
    assert_eq!(posts[0].body_json::<Value>().unwrap(), json!({"prompt": "first"}));
}

#[tokio::test]
async fn job_with_an_unresolved_or_rejected_follow_up_needs_attention() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let needing = async || {
        operator.post_json("/api/jobs/list", &[("project", "docs"), ("needs", "attention")]).await["total"]
            .clone()
    };
    for status in [502, 400, 200] {
        app.upstream.reset().await;
        let response = ResponseTemplate::new(status).set_body_json(remote_job("job_1", "active"));
        app.upstream.on_follow_up(response).await;
        assert_eq!(operator.follow_up(&job, "And more", &intent()).await.status, 200);
        assert_eq!(needing().await, 1, "{status}");
    }
    resolve(&operator, &job, 1, 0, &[("outcome", "started")]).await;
    assert_eq!(needing().await, 0, "a later follow-up was accepted");
    app.upstream.reset().await;
    app.upstream.on_follow_up(ResponseTemplate::new(400)).await;
    assert_eq!(operator.follow_up(&job, "The last word", &intent()).await.status, 200);
    assert_eq!(needing().await, 1);
}

#[tokio::test]
async fn follow_ups_wait_while_their_job_is_unresolved() {
    let upstream = PausedUpstream::start().await;
    upstream.pause();
    upstream.respond_with(Some(StatusCode::INTERNAL_SERVER_ERROR));
    let app = TestApp::with(Settings { upstream_url: Some(upstream.url()), ..Settings::default() }).await;
    let operator = app.operator().await;
    let form = intent();
    let (started, job) = tokio::join!(operator.create("Fix typos", &form), async {
        let job = until("it is being sent", async || {
            let list = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
            (list["jobs"][0]["state"] == "sending").then(|| list["jobs"][0].clone())
        })
        .await;
        assert_eq!(operator.follow_up(&job, "and more", &intent()).await.status, 200);
        upstream.resume();
        job
    });
    assert_eq!(started.json()["state"], "unknown");
    assert_eq!(operator.job(&job).await["follow_ups"][0]["state"], "queued");
    upstream.respond_with(None);
    assert_eq!(resolve(&operator, &job, 0, 0, NOT_STARTED).await.status, 200);
    until("the follow-up is accepted", async || {
        (operator.job(&job).await["follow_ups"][0]["state"] == "accepted").then_some(())
    })
    .await;
    assert_eq!(upstream.prompts(), ["Fix typos", "Fix typos", "and more"]);
}

#[tokio::test]
async fn all_unknown_jobs_are_sent_again_by_one_decision() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let operator = app.operator().await;
    let archived = operator.created("archived").await;
    let id = archived["id"].as_str().unwrap();
    operator.post_json("/api/jobs/archive", &[("project", "docs"), ("jobs", id)]).await;
    let first = operator.created("one").await;
    let second = operator.created("two").await;
    let shown = first["changed_at"].as_str().unwrap().max(second["changed_at"].as_str().unwrap());
    let shown = shown.parse::<Timestamp>().unwrap();
    let page = operator.get("/p/docs/jobs?status=unknown").await.text;
    for words in ["Not started: send all again", "it does the work twice", "/api/jobs/send-all-again"] {
        assert!(page.contains(words), "{words} is not on the page");
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    let later = operator.created("three").await;
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    let as_of = shown.as_millis().to_string();
    let decide = async |person: &Browser, project: &str, as_of: &str| {
        person.post("/api/jobs/send-all-again", &[("project", project), ("as_of", as_of)]).await
    };
    let viewer = app.sign_in("vera").await;
    assert!(!viewer.page("/p/docs/jobs?status=unknown").await.contains("send all again"));
    decide(&viewer, "docs", &as_of).await.refused(403, "forbidden");
    decide(&operator, "gone", &as_of).await.refused(404, "not_found");
    assert_eq!(decide(&operator, "api", &as_of).await.json(), json!({"jobs": []}));
    assert!(app.upstream.posts().await.is_empty());

    let decided = decide(&operator, "docs", &as_of).await.json();
    assert_eq!(decided, json!({"jobs": [first["id"], second["id"]]}));
    assert_eq!(decide(&operator, "docs", &as_of).await.json(), json!({"jobs": []}), "it counts once");
    for job in [&first, &second] {
        let sent = until("it is sent", async || {
            Some(operator.job(job).await).filter(|job| job["state"] == "active")
        })
        .await;
        assert!(
            sent["history"]
                .to_string()
                .contains("olga marked this job, and all others with an unknown outcome"),
            "{sent}"
        );
    }
    assert_eq!(operator.job(&later).await["state"], "unknown", "nobody had seen it");
    assert_eq!(operator.job(&archived).await["state"], "unknown", "the page did not list it");
    assert_eq!(app.upstream.posts().await.len(), 2);
    assert_eq!(
        app.ledger().count("SELECT COUNT(*) FROM audit WHERE action = 'resend' AND actor = 'olga'").await,
        2
    );
}

#[tokio::test]
async fn only_operators_of_the_project_resolve_deliveries() {
    let (app, operator, job) = unresolved().await;
    let viewer = app.sign_in("vera").await;
    resolve(&viewer, &job, 0, 0, NOT_STARTED).await.refused(403, "forbidden");
    assert!(
        !viewer
            .get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap()))
            .await
            .text
            .contains("/api/jobs/resolve")
    );
    resolve(&operator, &json!({"id": GONE}), 0, 0, NOT_STARTED).await.refused(404, "not_found");
    resolve(&operator, &json!({"id": "x"}), 0, 0, NOT_STARTED).await.refused(400, "bad_input");
    resolve(&operator, &job, 1, 0, NOT_STARTED).await.refused(404, "not_found");
    let id = job["id"].as_str().unwrap();
    let pairs =
        [("project", "api"), ("job", id), ("message", "0"), ("attempt", "0"), ("outcome", "not_started")];
    operator.post("/api/jobs/resolve", &pairs).await.refused(404, "not_found");
    assert_eq!(operator.job(&job).await, job);
    assert!(app.upstream.requests().await.is_empty());
}

#[tokio::test]
async fn page_of_an_unresolved_job_has_both_decisions_as_forms() {
    let (app, operator, job) = unresolved().await;
    app.upstream.accepts_jobs().await;
    let path = format!("/p/docs/jobs/{}", job["id"].as_str().unwrap());
    let page = operator.get(&path).await.text;
    for words in ["It was not started: send again", "It was started: enter its id", "/api/jobs/resolve"] {
        assert!(page.contains(words), "{words} is not on the page");
    }
    let id = job["id"].as_str().unwrap();
    let pairs =
        [("project", "docs"), ("job", id), ("message", "0"), ("attempt", "0"), ("outcome", "not_started")];
    let from = format!("{}{path}", app.origin());
    let response = operator.submit("/api/jobs/resolve", &pairs, Some(&from)).await;
    assert!(response.location().ends_with(&path), "{}", response.location());
    assert_eq!(operator.job(&job).await["state"], "active");
}
