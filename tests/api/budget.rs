//! The hourly budget of upstream calls: counted in the database, reported when it is used up, and never a reason to lose
//! text.

use std::time::Duration;

use base::clock::Clock;
use base::config::Budget;
use futures::future::join_all;
use model::budget::AgentLimit;
use model::time::Timestamp;
use wiremock::ResponseTemplate;

use crate::helpers::{New, Settings, TestApp, intent, json, remote_job, until, views_answer};

/// Two calls of each kind per hour, starting at 10:15.
fn two_per_hour() -> Settings {
    Settings {
        budget: Budget {
            agent_per_hour: 2,
            agent_limit: AgentLimit::Separate,
            analytics_per_hour: 2,
            analytics_reserve: 0,
            history_days: 90,
            history_before: 0,
        },
        clock: Clock::frozen("2025-03-10T10:15:00Z".parse::<Timestamp>().unwrap()),
        ..Settings::default()
    }
}

const HOUR: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn create_beyond_the_budget_keeps_the_text() {
    let mut app = TestApp::with(two_per_hour()).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    operator.created("one").await;
    app.clock().advance(Duration::from_secs(60));
    operator.created("two").await;
    let message = operator.create("three", &intent()).await.refused(429, "budget_spent");
    assert!(message.contains("11:15 UTC"), "{message}");
    assert_eq!(operator.draft(None).await, "three");
    let list = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    assert_eq!(list["jobs"].as_array().unwrap().len(), 2);

    app.restart().await;
    let operator = app.operator().await;
    operator.create("three", &intent()).await.refused(429, "budget_spent");
    assert_eq!(app.upstream.posts().await.len(), 2);

    app.clock().advance(HOUR - Duration::from_secs(60));
    operator.created("three").await;
    assert_eq!(operator.draft(None).await, "");
    let message = operator.create("four", &intent()).await.refused(429, "budget_spent");
    assert!(message.contains("11:16 UTC"), "{message}");
    assert_eq!(app.upstream.posts().await.len(), 3);
}

#[tokio::test]
async fn projects_and_follow_ups_have_separate_budgets() {
    let app = TestApp::with(two_per_hour()).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("one").await;
    operator.created("two").await;
    operator.create("three", &intent()).await.refused(429, "budget_spent");

    let elsewhere = New::job("one").with("project", "api");
    assert_eq!(elsewhere.made(&operator).await["state"], "active");
    let accepted =
        ResponseTemplate::new(200).set_body_json(remote_job(job["remote"]["id"].as_str().unwrap(), "active"));
    app.upstream.on_follow_up(accepted).await;
    for prompt in ["one", "two"] {
        assert_eq!(operator.follow_up(&job, prompt, &intent()).await.status, 200);
    }
    operator.follow_up(&job, "three", &intent()).await.refused(429, "budget_spent");
    assert_eq!(operator.draft(Some(&job)).await, "three");
    assert_eq!(app.upstream.posts().await.len(), 5);
}

#[tokio::test]
async fn delivered_intent_is_answered_without_using_the_budget() {
    let app = TestApp::with(two_per_hour()).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let sent = intent();
    let job = operator.create("one", &sent).await.json();
    operator.created("two").await;
    assert_eq!(operator.create("one", &sent).await.json(), job);
}

#[tokio::test]
async fn failed_call_uses_the_budget() {
    let app = TestApp::with(two_per_hour()).await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let operator = app.operator().await;
    operator.created("one").await;
    operator.created("two").await;
    operator.create("three", &intent()).await.refused(429, "budget_spent");
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn concurrent_creates_never_exceed_the_budget() {
    let app = TestApp::with(two_per_hour()).await;
    let slow = |_: &wiremock::Request| {
        let job = remote_job(&crate::helpers::detached_job(), "active");
        ResponseTemplate::new(201).set_body_json(job).set_delay(Duration::from_millis(100))
    };
    app.upstream.on_create(slow).await;
    let operator = app.operator().await;
    let intents: Vec<String> = (0..8).map(|_| intent()).collect();
    let responses = join_all(intents.iter().map(|sent| operator.create("Fix typos", sent))).await;
    assert_eq!(app.upstream.posts().await.len(), 2);
    let mut states = Vec::new();
    for response in &responses {
        match response.status {
            200 => states.push(response.json()["state"].as_str().unwrap().to_owned()),
            _ => drop(response.refused(429, "budget_spent")),
        }
    }
    // Others may have seen a free call that another one took, and are in the queue.
    let accepted = states.len();
    states.retain(|state| state != "queued");
    assert_eq!(states, ["active", "active"]);
    until("every accepted prompt is sent", async || {
        app.clock().advance(HOUR);
        (app.upstream.posts().await.len() == accepted).then_some(())
    })
    .await;
}

#[tokio::test]
async fn page_view_budget_survives_a_restart() {
    let mut app = TestApp::with(two_per_hour()).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let viewer = app.sign_in("vera").await;
    let query = async |viewer: &crate::helpers::Browser, project: &str, offset: &str| {
        viewer.post("/api/analytics/views", &[("project", project), ("offset", offset)]).await
    };
    assert_eq!(query(&viewer, "docs", "0").await.status, 200);
    assert_eq!(query(&viewer, "api", "0").await.status, 200);
    let message = query(&viewer, "docs", "50").await.refused(429, "budget_spent");
    assert!(message.contains("11:15 UTC"), "{message}");
    // Cached responses use no budget.
    assert_eq!(query(&viewer, "docs", "0").await.status, 200);

    app.restart().await;
    let viewer = app.sign_in("vera").await;
    query(&viewer, "docs", "50").await.refused(429, "budget_spent");
    assert_eq!(app.upstream.requests().await.len(), 2);
    app.clock().advance(HOUR);
    assert_eq!(query(&viewer, "docs", "50").await.status, 200);
}

#[tokio::test]
async fn budget_meters_show_the_used_calls() {
    let app = TestApp::with(two_per_hour()).await;
    app.upstream.accepts_jobs().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let operator = app.operator().await;
    operator.created("one").await;
    operator.created("two").await;
    operator.post_json("/api/analytics/views", &[("project", "docs")]).await;
    insta::assert_json_snapshot!(operator.post_json("/api/upstream/budgets", &[("project", "docs")]).await);
    app.clock().advance(HOUR);
    let later = operator.post_json("/api/upstream/budgets", &[("project", "docs")]).await;
    assert_eq!(later["creates"], json!({"used": 0, "limit": 2, "next_fits_at": null}));
}
