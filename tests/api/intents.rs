//! An intent is delivered once, however often its form is submitted, and no text is lost.

use std::time::Duration;

use futures::future::join_all;
use wiremock::ResponseTemplate;

use crate::helpers::{New, TestApp, intent, json, remote_job};

#[tokio::test]
async fn repeated_intent_returns_the_first_response() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let sent = intent();
    let first = operator.create("Fix typos", &sent).await.json();
    let second = operator.create("Fix typos", &sent).await;
    assert_eq!((second.status, second.json()), (200, first.clone()));

    let follow_up = intent();
    let response = ResponseTemplate::new(200)
        .set_body_json(remote_job(first["remote"]["id"].as_str().unwrap(), "active"));
    app.upstream.on_follow_up(response).await;
    let once = operator.follow_up(&first, "And more", &follow_up).await.json();
    let twice = operator.follow_up(&first, "And more", &follow_up).await;
    assert_eq!((twice.status, twice.json()), (200, once));
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn twenty_concurrent_submissions_start_one_job() {
    let app = TestApp::start().await;
    let slow = ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"));
    app.upstream.on_create(slow.set_delay(Duration::from_millis(300))).await;
    let operator = app.operator().await;
    let sent = intent();
    let responses = join_all((0..20).map(|_| operator.create("Fix typos", &sent))).await;
    let first = responses[0].json();
    assert_eq!(first["state"], "active");
    for response in &responses {
        assert_eq!((response.status, response.json()), (200, first.clone()));
    }
    assert_eq!(app.upstream.posts().await.len(), 1);
    let list = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    assert_eq!(list["jobs"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn concurrent_follow_ups_with_a_lost_response_send_one() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    app.upstream.on_follow_up(ResponseTemplate::new(502).set_delay(Duration::from_millis(300))).await;
    let sent = intent();
    let responses = join_all((0..20).map(|_| operator.follow_up(&job, "And more", &sent))).await;
    for response in &responses {
        let follow_ups = response.json()["follow_ups"].clone();
        assert_eq!((follow_ups.as_array().unwrap().len(), &follow_ups[0]["state"]), (1, &json!("unknown")));
    }
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn intent_with_another_text_or_target_is_refused() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let sent = intent();
    let job = operator.create("Fix typos", &sent).await.json();
    operator.create("Fix other typos", &sent).await.refused(422, "intent_reused");
    let elsewhere = New::job("Fix typos").with("project", "api").with("intent", &sent);
    elsewhere.post(&operator).await.refused(422, "intent_reused");
    operator.follow_up(&job, "Fix typos", &sent).await.refused(422, "intent_reused");
    assert_eq!(app.upstream.posts().await.len(), 1);
    assert_eq!(operator.draft(None).await, "Fix other typos");
    assert_eq!(operator.job(&job).await["prompt"], "Fix typos");
}

#[tokio::test]
async fn same_intent_of_two_users_is_separate() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let (olga, otto, sent) = (app.operator().await, app.sign_in("otto").await, intent());
    let hers = olga.create("Fix typos", &sent).await.json();
    let his = otto.create("Rewrite the guide", &sent).await.json();
    assert_ne!(hers["id"], his["id"]);
    assert_eq!((&his["author"], &his["prompt"]), (&json!("otto"), &json!("Rewrite the guide")));
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn intent_survives_a_restart() {
    let mut app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let sent = intent();
    let operator = app.operator().await;
    let job = operator.create("Fix typos", &sent).await.json();
    app.restart().await;
    let operator = app.operator().await;
    assert_eq!(operator.create("Fix typos", &sent).await.json(), job);
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn rendered_form_has_a_fresh_intent() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let first = operator.post_json("/api/jobs/form", &[("project", "docs")]).await;
    let second = operator.post_json("/api/jobs/form", &[("project", "docs")]).await;
    assert_ne!(first["intent"], second["intent"]);
    assert!(first["intent"].as_str().unwrap().len() >= 32);
    assert_eq!(first["draft"], "");
}

#[tokio::test]
async fn uncommitted_text_stays_as_a_draft_until_sent() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let too_long = "ü".repeat(32_769);
    operator.create(&too_long, &intent()).await.refused(400, "bad_input");
    assert_eq!(operator.draft(None).await, too_long);
    operator.create("Fix “typos”\n", "not an intent").await.refused(400, "bad_input");
    assert_eq!(operator.draft(None).await, "Fix “typos”\n");
    // An empty form does not delete the draft.
    operator.create("", &intent()).await.refused(400, "bad_input");
    assert_eq!(operator.draft(None).await, "Fix “typos”\n");
    operator.created("Fix typos").await;
    assert_eq!(operator.draft(None).await, "");
}

#[tokio::test]
async fn drafts_belong_to_a_user_project_and_job() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    operator.create("for a new job", "not an intent").await.refused(400, "bad_input");
    operator.follow_up(&job, "for this job", "not an intent").await.refused(400, "bad_input");
    assert_eq!(operator.draft(None).await, "for a new job");
    assert_eq!(operator.draft(Some(&job)).await, "for this job");
    assert_eq!(operator.post_json("/api/jobs/form", &[("project", "api")]).await["draft"], "");
    let colleague = app.sign_in("otto").await;
    assert_eq!(
        (colleague.draft(None).await, colleague.draft(Some(&job)).await),
        (String::new(), String::new())
    );
}
