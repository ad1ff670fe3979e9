//! Queued prompts of a user who may no longer start jobs are on hold until an administrator decides.

use std::time::Duration;

use axum::http::StatusCode;
use serde_json::Value;

use crate::helpers::{Browser, New, PausedUpstream, Settings, TestApp, json, until};
use crate::queue::per_hour;

/// Two prompts per hour, one every half hour: more are sent at once while more than half of the budget is free.
async fn app() -> TestApp {
    let app = TestApp::with(per_hour(2)).await;
    app.upstream.accepts_jobs().await;
    app
}

/// Queues three prompts as olga; the first one is sent.
async fn queue_three(app: &TestApp) {
    let olga = app.operator().await;
    New::batch("Fix {{a}}", "1\n2\n3").started(&olga).await;
    until("the first is sent", async || (app.upstream.posts().await.len() == 1).then_some(())).await;
}

async fn person(admin: &Browser, name: &str) -> Value {
    let people = admin.post_json("/api/users/list", &[]).await;
    people["people"].as_array().unwrap().iter().find(|person| person["name"] == name).unwrap().clone()
}

async fn waiting(admin: &Browser) -> Vec<Value> {
    let queue = admin.post_json("/api/queue/list", &[("project", "docs")]).await;
    queue["waiting"].as_array().unwrap().iter().map(|entry| entry["why"].clone()).collect()
}

/// Advances `app`'s clock and lets a prompt of otto's be sent, which shows that the queue moves.
async fn queue_moves(app: &TestApp, posts: usize) {
    let otto = app.sign_in("otto").await;
    app.clock().advance(Duration::from_secs(1_800));
    New::batch("By otto {{a}}", "x").started(&otto).await;
    until("otto's is sent", async || (app.upstream.posts().await.len() == posts).then_some(())).await;
}

#[tokio::test]
async fn prompts_of_a_disabled_user_wait_for_an_administrator() {
    let app = app().await;
    queue_three(&app).await;
    let admin = app.sign_in("ada").await;
    let olga = person(&admin, "olga").await;
    let of_olga = [("user", olga["id"].as_str().unwrap())];
    admin.post_json("/api/users/disable", &of_olga).await;
    assert_eq!(waiting(&admin).await, [json!("on_hold"), json!("on_hold")]);
    assert_eq!(person(&admin, "olga").await["prompts_on_hold"], 2);
    // The prompts behind them are sent.
    queue_moves(&app, 2).await;
    let last: Value = app.upstream.posts().await[1].body_json().unwrap();
    assert_eq!(last["prompt"], "By otto x");

    let page = admin.get("/admin/users").await.text;
    assert!(page.contains("2 queued prompts on hold") && page.contains("/api/users/release-prompts"));
    assert!(admin.get("/p/docs/queue").await.text.contains("On hold until an administrator releases it"));
    // Enabling the user does not release the prompts.
    admin.post_json("/api/users/enable", &of_olga).await;
    assert_eq!(waiting(&admin).await.len(), 2);
    admin.post_json("/api/users/release-prompts", &of_olga).await;
    app.clock().advance(Duration::from_secs(1_800));
    until("a released one is sent", async || (app.upstream.posts().await.len() == 3).then_some(())).await;
    assert_eq!(person(&admin, "olga").await["prompts_on_hold"], 0);
    let log = admin.get("/admin/audit?action=held_release").await.text;
    assert!(log.contains("Prompts on hold released") && log.contains("2 prompts"));
}

#[tokio::test]
async fn prompts_of_a_demoted_user_wait_for_an_administrator() {
    let app = app().await;
    queue_three(&app).await;
    let admin = app.sign_in("ada").await;
    let olga = person(&admin, "olga").await;
    let id = olga["id"].as_str().unwrap();
    // Still an operator, but only of another project.
    admin
        .post_json(
            "/api/users/change",
            &[("user", id), ("role", "operator"), ("access", "selected"), ("projects", "docs")],
        )
        .await;
    assert_eq!(person(&admin, "olga").await["prompts_on_hold"], 0);
    admin
        .post_json(
            "/api/users/change",
            &[("user", id), ("role", "operator"), ("access", "selected"), ("projects", "api")],
        )
        .await;
    assert_eq!(person(&admin, "olga").await["prompts_on_hold"], 2);
    admin.post_json("/api/users/release-prompts", &[("user", id)]).await;
    admin.post_json("/api/users/change", &[("user", id), ("role", "viewer"), ("access", "all")]).await;
    assert_eq!(person(&admin, "olga").await["prompts_on_hold"], 2);

    admin.post_json("/api/users/cancel-prompts", &[("user", id)]).await;
    assert!(waiting(&admin).await.is_empty());
    let jobs = admin.post_json("/api/jobs/list", &[("project", "docs")]).await;
    let cancelled = jobs["jobs"].as_array().unwrap().iter().filter(|job| job["state"] == "cancelled");
    assert_eq!(cancelled.count(), 2);
    assert!(admin.get("/admin/audit?action=held_cancel").await.text.contains("2 prompts"));
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn prompt_returned_to_the_queue_of_a_disabled_author_waits() {
    let upstream = PausedUpstream::start().await;
    upstream.pause();
    upstream.respond_with(Some(StatusCode::TOO_MANY_REQUESTS));
    let app = TestApp::with(Settings { upstream_url: Some(upstream.url()), ..per_hour(2) }).await;
    let (admin, olga) = (app.sign_in("ada").await, app.operator().await);
    New::batch("Fix {{a}}", "1\n2").started(&olga).await;
    let being_sent = "SELECT COUNT(*) FROM messages WHERE state = 'sending'";
    until("one is being sent", async || (app.ledger().count(being_sent).await == 1).then_some(())).await;
    let of_olga = [("user", person(&admin, "olga").await["id"].as_str().unwrap().to_owned())];
    let of_olga = of_olga.each_ref().map(|(name, value)| (*name, value.as_str()));
    admin.post_json("/api/users/disable", &of_olga).await;
    upstream.resume();
    until("it is queued again", async || (app.ledger().count(being_sent).await == 0).then_some(())).await;
    assert_eq!(waiting(&admin).await, [json!("on_hold"), json!("on_hold")]);
    admin.post_json("/api/users/enable", &of_olga).await;

    upstream.respond_with(None);
    app.clock().advance(Duration::from_secs(3_600));
    app.lift_pauses().await;
    let otto = app.sign_in("otto").await;
    app.clock().advance(Duration::from_secs(1_800));
    New::batch("By otto {{a}}", "x").started(&otto).await;
    until("otto's is sent", async || (upstream.prompts().len() == 2).then_some(())).await;
    assert_eq!(upstream.prompts()[1], "By otto x");
    let admin = app.sign_in("ada").await;
    admin.post_json("/api/users/release-prompts", &of_olga).await;
    app.clock().advance(Duration::from_secs(1_800));
    until("a released one is sent", async || (upstream.prompts().len() == 3).then_some(())).await;
}
