//! `DOCKET_AGENT_LIMIT`: whether job starts and follow-ups have one limit or two.

use std::time::Duration;

use model::budget::AgentLimit;
use model::time::Timestamp;
use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{Browser, New, Settings, TestApp, intent, json, remote_job, until};
use crate::queue::per_hour;

const HOUR: Duration = Duration::from_secs(3_600);

fn shared(agent_per_hour: u32) -> Settings {
    let mut settings = per_hour(agent_per_hour);
    settings.budget.agent_limit = AgentLimit::Shared;
    settings
}

/// An app whose platform accepts all prompts.
async fn accepting(settings: Settings) -> (TestApp, Browser) {
    let app = TestApp::with(settings).await;
    app.upstream.accepts_jobs().await;
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"))).await;
    let operator = app.operator().await;
    (app, operator)
}

async fn used(person: &Browser) -> [Value; 2] {
    let budgets = person.post_json("/api/upstream/budgets", &[("project", "docs")]).await;
    ["creates", "follow_ups"].map(|name| budgets[name]["used"].clone())
}

#[tokio::test]
async fn shared_limit_counts_job_starts_and_follow_ups_together() {
    let (app, operator) = accepting(shared(3)).await;
    let job = operator.created("one").await;
    operator.follow_up(&job, "and more", &intent()).await;
    until("both are counted", async || (used(&operator).await == [json!(2), json!(2)]).then_some(())).await;
    operator.created("two").await;
    operator.create("three", &intent()).await.refused(429, "budget_spent");
    operator.follow_up(&job, "too much", &intent()).await.refused(429, "budget_spent");
    assert_eq!(app.upstream.posts().await.len(), 3);
}

#[tokio::test]
async fn separate_limits_count_each_kind_alone() {
    let (_app, operator) = accepting(per_hour(2)).await;
    let job = operator.created("one").await;
    operator.created("two").await;
    operator.follow_up(&job, "and more", &intent()).await;
    until("both are counted", async || (used(&operator).await == [json!(2), json!(1)]).then_some(())).await;
    operator.create("three", &intent()).await.refused(429, "budget_spent");
    assert_eq!(operator.follow_up(&job, "again", &intent()).await.status, 200);
}

#[tokio::test]
async fn change_of_the_setting_keeps_the_calls_of_the_last_hour() {
    let (mut app, operator) = accepting(per_hour(2)).await;
    let job = operator.created("one").await;
    operator.follow_up(&job, "and more", &intent()).await;
    until("both are counted", async || (used(&operator).await == [json!(1), json!(1)]).then_some(())).await;
    app.restart_with(|settings| settings.budget.agent_limit = AgentLimit::Shared).await;
    let operator = app.operator().await;
    assert_eq!(used(&operator).await, [json!(2), json!(2)]);
    operator.create("two", &intent()).await.refused(429, "budget_spent");
    app.restart_with(|settings| settings.budget.agent_limit = AgentLimit::Separate).await;
    let operator = app.operator().await;
    assert_eq!(used(&operator).await, [json!(1), json!(1)]);
    assert_eq!(operator.create("two", &intent()).await.status, 200);
}

#[tokio::test]
async fn queues_of_a_shared_limit_send_no_more_than_it_allows() {
    let (app, operator) = accepting(shared(4)).await;
    let job = operator.created("one").await;
    for n in 0..3 {
        operator.created(&format!("start {n}")).await;
    }
    for n in 0..4 {
        New::job(&format!("queued {n}")).with("queue", "on").made(&operator).await;
        let fields =
            [("project", "docs"), ("job", job["id"].as_str().unwrap()), ("prompt", "more"), ("queue", "on")];
        let sent = intent();
        let with_intent: Vec<_> = fields.into_iter().chain([("intent", sent.as_str())]).collect();
        assert_eq!(operator.post("/api/jobs/message", &with_intent).await.status, 200, "{n}");
    }
    let queue = operator.post_json("/api/queue/list", &[("project", "docs")]).await;
    let waiting = queue["waiting"].as_array().unwrap();
    let expected: Vec<Timestamp> = waiting
        .iter()
        .filter_map(|entry| entry["expected_at"].as_str())
        .map(|at| at.parse().unwrap())
        .collect();
    assert_eq!(expected.len(), 5, "a follow-up waits for the one before it");
    for from in &expected {
        let after = |at: &&Timestamp| (0..3_600_000).contains(&(at.as_millis() - from.as_millis()));
        let within = expected.iter().filter(after).count();
        assert!(within <= 4, "{within} of one limit are expected within an hour: {expected:?}");
    }
    // In steps of five minutes, no hour has more than four calls.
    for _ in 0..36 {
        app.clock().advance(Duration::from_secs(300));
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    let calls: Vec<i64> = {
        let store = &app.state().store;
        let limit = store::platform::budget::ScopeLimit {
            other: "follow-ups:docs".to_owned(),
            ..store::platform::budget::ScopeLimit::of("creates:docs", 4)
        };
        store.call_times(&limit).await.unwrap()
    };
    let hour = i64::try_from(HOUR.as_millis()).unwrap();
    for from in &calls {
        let within = calls.iter().filter(|at| (*from..from + hour).contains(at)).count();
        assert!(within <= 4, "{within} calls within an hour");
    }
    assert!(app.upstream.posts().await.len() > 6, "the queues do not move");
}

#[tokio::test]
async fn pause_of_a_shared_limit_holds_back_both_kinds() {
    let (app, operator) = accepting(shared(100)).await;
    let job = operator.created("one").await;
    app.upstream.on_follow_up(ResponseTemplate::new(429).insert_header("retry-after", "600")).await;
    operator.follow_up(&job, "more", &intent()).await;
    until("it was sent", async || (app.upstream.posts().await.len() == 2).then_some(())).await;
    until("starts are paused", async || {
        (operator.create("two", &intent()).await.status == 429).then_some(())
    })
    .await;
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn limit_of_follow_ups_that_is_reached_early_proposes_a_shared_one() {
    let limit = || ResponseTemplate::new(429).insert_header("retry-after", "60");
    let told = "DOCKET_AGENT_LIMIT=shared";
    let (mut app, operator) = accepting(per_hour(2)).await;
    let admin = app.sign_in("ada").await;
    let job = operator.created("one").await;
    // At the limit, the windows may differ by seconds.
    operator.follow_up(&job, "the first", &intent()).await;
    until("it was sent", async || (app.upstream.posts().await.len() == 2).then_some(())).await;
    app.upstream.on_follow_up(limit()).await;
    operator.follow_up(&job, "the second", &intent()).await;
    until("it was refused", async || (app.upstream.posts().await.len() == 3).then_some(())).await;
    assert!(!admin.get("/admin/upstream").await.text.contains(told));
    app.clock().advance(HOUR + Duration::from_secs(1));
    // A job start that is refused says nothing about follow-ups.
    app.upstream.on_create(limit()).await;
    operator.created("two").await;
    assert!(!admin.get("/admin/upstream").await.text.contains(told));

    app.upstream.on_follow_up(limit()).await;
    operator.follow_up(&job, "more", &intent()).await;
    until("it is told", async || admin.get("/admin/upstream").await.text.contains(told).then_some(())).await;
    assert!(admin.get("/p/docs/notifications").await.text.contains(told));
    assert!(!operator.get("/p/docs/notifications").await.text.contains(told));
    app.restart_with(|settings| settings.budget.agent_limit = AgentLimit::Shared).await;
    let admin = app.sign_in("ada").await;
    assert!(!admin.get("/admin/upstream").await.text.contains(told), "the setting is changed already");
    let notices = app.ledger().count("SELECT COUNT(*) FROM platform_notices").await;
    assert_eq!(notices, 0, "the bell counts a notice that nobody sees");
}

#[tokio::test]
async fn meters_show_follow_ups_or_one_line_for_the_agent() {
    let lines = async |settings: Settings| {
        let (_app, operator) = accepting(settings).await;
        operator.created("one").await;
        let page = operator.get("/p/docs/jobs").await.text;
        let is_shown =
            |element: &&str| element.split_once('>').is_some_and(|(tag, _)| !tag.contains("hidden"));
        let shown: Vec<&str> = page.split("<div").filter(is_shown).collect();
        ["New jobs", "Follow-ups", "Agent"]
            .map(|name| shown.iter().any(|meter| meter.contains(&format!("<span>{name}<"))))
    };
    assert_eq!(lines(per_hour(2)).await, [true, true, false]);
    assert_eq!(lines(shared(2)).await, [false, false, true]);
}
