//! The platform has no AI credits: prompts wait, one is tried every hour or when a person asks for it, and none is rejected.

use std::time::Duration;

use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{Browser, New, TestApp, intent, json, refusing_address, remote_job, until};
use crate::queue::per_hour;

/// In notices.
const TOLD: &str = "has had no AI credits for";

const HOUR: Duration = Duration::from_secs(3_600);

/// Both answers that say that there are no credits.
fn answers() -> [ResponseTemplate; 4] {
    let error =
        |status: u16, text: &str| ResponseTemplate::new(status).set_body_json(json!({ "error": text }));
    [
        error(402, "AI credits are exhausted"),
        ResponseTemplate::new(402).set_body_string("<html>Payment required</html>"),
        error(503, "Credit check failed"),
        error(503, "CREDIT CHECK FAILED"),
    ]
}

async fn waiting(person: &Browser) -> Vec<Value> {
    let queue = person.post_json("/api/queue/list", &[("project", "docs")]).await;
    queue["waiting"].as_array().unwrap().clone()
}

/// Waits until `count` prompts were sent. Checks that several more ticks send no others.
async fn exactly(app: &TestApp, count: usize) {
    until(&format!("{count} are sent"), async || (app.upstream.posts().await.len() >= count).then_some(()))
        .await;
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(app.upstream.posts().await.len(), count);
}

async fn notice(person: &Browser) -> Value {
    let budgets = person.post_json("/api/upstream/budgets", &[("project", "docs")]).await;
    budgets["notice"].clone()
}

async fn try_now(person: &Browser) -> crate::helpers::TestResponse {
    person.post("/api/queue/try", &[("project", "docs")]).await
}

#[tokio::test]
async fn prompt_without_credits_waits_and_is_sent_after_an_hour() {
    for answer in answers() {
        let app = TestApp::with(per_hour(100)).await;
        app.upstream.on_create(answer).await;
        let operator = app.operator().await;
        let job = operator.created("Fix typos").await;
        assert_eq!(job["state"], "queued");
        exactly(&app, 1).await;
        let [entry] = &waiting(&operator).await[..] else { panic!("one prompt waits") };
        assert_eq!(
            (&entry["why"], &entry["expected_at"]),
            (&json!("no_credits"), &json!("2025-03-10T11:15:00Z"))
        );

        app.upstream.accepts_jobs().await;
        app.clock().advance(HOUR - Duration::from_secs(1));
        exactly(&app, 1).await;
        app.clock().advance(Duration::from_secs(2));
        exactly(&app, 2).await;
        until("it is active", async || (operator.job(&job).await["state"] == "active").then_some(())).await;
        assert_eq!(notice(&operator).await, json!(null));
    }
}

#[tokio::test]
async fn other_failure_with_status_503_leaves_the_outcome_unknown() {
    for text in ["Credit check failed again", "The service is overloaded"] {
        let app = TestApp::with(per_hour(100)).await;
        app.upstream.on_create(ResponseTemplate::new(503).set_body_json(json!({ "error": text }))).await;
        let operator = app.operator().await;
        assert_eq!(operator.created("Fix typos").await["state"], "unknown", "{text}");
    }
}

#[tokio::test]
async fn batch_without_credits_costs_one_call_an_hour_and_follows_when_there_are_some() {
    let app = TestApp::with(per_hour(1_000)).await;
    let [answer, ..] = answers();
    app.upstream.on_create(answer).await;
    let operator = app.operator().await;
    let values = (0..40).map(|n| format!("/page-{n}\n")).collect::<String>();
    New::batch("Improve {{page}}", &format!("page\n{values}")).started(&operator).await;
    for count in 1..=3 {
        exactly(&app, count).await;
        app.clock().advance(HOUR + Duration::from_secs(1));
    }
    exactly(&app, 4).await;
    let list = waiting(&operator).await;
    assert_eq!(list.len(), 40, "no prompt is rejected");
    assert!(list.iter().all(|entry| entry["why"] != "circuit_open"));

    app.upstream.accepts_jobs().await;
    app.clock().advance(HOUR + Duration::from_secs(1));
    until("others follow", async || (app.upstream.posts().await.len() >= 10).then_some(())).await;
}

#[tokio::test]
async fn follow_ups_wait_with_job_starts_and_other_projects_do_not() {
    let app = TestApp::with(per_hour(100)).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let [answer, ..] = answers();
    app.upstream.on_follow_up(answer).await;
    operator.follow_up(&job, "And more", &intent()).await;
    exactly(&app, 2).await;
    assert_eq!(operator.created("Another").await["state"], "queued");
    let whys: Vec<_> = waiting(&operator).await.iter().map(|entry| entry["why"].clone()).collect();
    assert_eq!(whys, ["no_credits", "no_credits"]);
    exactly(&app, 2).await;
    let of_api = New::job("In another project").with("project", "api").made(&operator).await;
    assert_eq!(of_api["state"], "active");
}

#[tokio::test]
async fn person_tries_the_queue_at_most_every_ten_seconds() {
    let app = TestApp::with(per_hour(100)).await;
    try_now(&app.operator().await).await.refused(409, "conflict");
    let [answer, ..] = answers();
    app.upstream.on_create(answer).await;
    let (operator, viewer) = (app.operator().await, app.sign_in("vera").await);
    operator.created("Fix typos").await;
    exactly(&app, 1).await;
    try_now(&viewer).await.refused(403, "forbidden");
    try_now(&operator).await.refused(409, "conflict");
    app.clock().advance(Duration::from_secs(11));
    assert_eq!(try_now(&operator).await.status, 200);
    exactly(&app, 2).await;
    let audit = app.ledger().count("SELECT COUNT(*) FROM audit WHERE action = 'queue_try'").await;
    assert_eq!(audit, 1);
    try_now(&operator).await.refused(409, "conflict");

    app.upstream.accepts_jobs().await;
    app.clock().advance(Duration::from_secs(11));
    assert_eq!(try_now(&operator).await.status, 200);
    exactly(&app, 3).await;
    until("none waits", async || waiting(&operator).await.is_empty().then_some(())).await;
}

#[tokio::test]
async fn simultaneous_prompts_after_the_pause_send_one_probe() {
    let app = TestApp::with(per_hour(100)).await;
    let [answer, ..] = answers();
    app.upstream.on_create(answer).await;
    let operator = app.operator().await;
    operator.created("The first").await;
    exactly(&app, 1).await;
    app.clock().advance(HOUR + Duration::from_secs(1));
    let prompts: Vec<_> = (0..10).map(|n| format!("Prompt {n}")).collect();
    let intents: Vec<_> = prompts.iter().map(|_| intent()).collect();
    let created = prompts.iter().zip(&intents).map(|(prompt, intent)| operator.create(prompt, intent));
    for response in futures::future::join_all(created).await {
        assert_eq!(response.json()["state"], "queued");
    }
    exactly(&app, 2).await;
}

#[tokio::test]
async fn administrators_are_told_once_and_everyone_sees_why_prompts_wait() {
    let app = TestApp::with(per_hour(100)).await;
    let [answer, ..] = answers();
    app.upstream.on_create(answer).await;
    let (operator, admin) = (app.operator().await, app.sign_in("ada").await);
    let unread = async |person: &Browser| {
        let budgets = person.post_json("/api/upstream/budgets", &[("project", "docs")]).await;
        budgets["unread"].as_u64().unwrap()
    };
    let before = unread(&admin).await;
    operator.created("Fix typos").await;
    operator.created("Fix more").await;
    exactly(&app, 1).await;
    assert_eq!([unread(&admin).await - before, unread(&operator).await], [1, 0]);
    assert_eq!([notice(&admin).await, notice(&operator).await], [json!("no_credits"), json!("no_credits")]);

    let told = TOLD;
    let page = admin.get("/p/docs/notifications").await.text;
    assert!(page.contains(told) && page.contains("<span class=\"faint\">New<"), "{page}");
    assert!(!operator.get("/p/docs/notifications").await.text.contains(told));
    app.clock().advance(HOUR + Duration::from_secs(1));
    exactly(&app, 2).await;
    assert_eq!(unread(&admin).await, before, "the same lack of credits is not told again");
    assert!(admin.get("/admin/upstream").await.text.contains(told));

    let page = operator.get("/p/docs/queue").await.text;
    assert!(page.contains("whether there are AI credits again") && page.contains("Try now"), "{page}");
    let page = app.sign_in("vera").await.get("/p/docs/queue").await.text;
    assert!(page.contains("whether there are AI credits again") && !page.contains("Try now"), "{page}");

    app.upstream.accepts_jobs().await;
    app.clock().advance(HOUR + Duration::from_secs(1));
    until("none waits", async || waiting(&operator).await.is_empty().then_some(())).await;
    assert!(!admin.get("/p/docs/notifications").await.text.contains(told));
    // Another lack is told again.
    app.upstream.on_create(answers()[0].clone()).await;
    app.clock().advance(Duration::from_secs(5));
    operator.created("Later").await;
    until("it is told", async || (unread(&admin).await == before + 1).then_some(())).await;
}

#[tokio::test]
async fn read_without_credits_pauses_no_prompt() {
    let app = TestApp::with(per_hour(100)).await;
    app.upstream.on_views(answers()[0].clone()).await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
    let operator = app.operator().await;
    let message = operator.post("/api/analytics/views", &[("project", "docs")]).await;
    assert!(message.refused(503, "no_credits").contains("AI credits are exhausted"));
    assert_eq!(operator.created("Fix typos").await["state"], "active");
}

#[tokio::test]
async fn cancelled_prompts_leave_no_pause_that_a_later_one_cannot_end() {
    let app = TestApp::with(per_hour(100)).await;
    let prompt = |request: &Request| -> Value { request.body_json().unwrap() };
    app.upstream
        .on_create(move |request: &Request| match prompt(request)["prompt"] == "The first" {
            true => answers()[0].clone(),
            false => ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active")),
        })
        .await;
    let operator = app.operator().await;
    operator.created("The first").await;
    exactly(&app, 1).await;
    let message = waiting(&operator).await[0]["message"].clone();
    operator.post("/api/queue/cancel", &[("project", "docs"), ("message", message.as_str().unwrap())]).await;
    assert_eq!(notice(&operator).await, json!("no_credits"), "the last try is recent");
    try_now(&operator).await.refused(409, "conflict");
    app.clock().advance(HOUR + Duration::from_secs(1));
    assert_eq!(notice(&operator).await, json!(null));
    let admin = app.sign_in("ada").await;
    assert!(!admin.get("/admin/upstream").await.text.contains(TOLD), "nothing waits any more");
    assert_eq!(operator.created("The second").await["state"], "active");
}

#[tokio::test]
async fn probe_that_is_not_sent_is_repeated_soon() {
    let mut app = TestApp::with(per_hour(100)).await;
    app.upstream.on_create(answers()[0].clone()).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    exactly(&app, 1).await;
    let (_socket, address) = refusing_address();
    app.restart_with(|settings| settings.upstream_url = Some(address)).await;
    app.clock().advance(HOUR + Duration::from_secs(1));
    let tries =
        "SELECT COUNT(*) FROM job_events WHERE state = 'queued' AND detail LIKE '%could not be reached%'";
    until("the probe was not sent", async || (app.ledger().count(tries).await > 0).then_some(())).await;
    app.restart_with(|settings| settings.upstream_url = None).await;
    app.upstream.accepts_jobs().await;
    app.clock().advance(Duration::from_secs(61));
    let operator = app.operator().await;
    until("it is sent", async || (operator.job(&job).await["state"] == "active").then_some(())).await;
}

#[tokio::test]
async fn hourly_tries_leave_one_entry_in_the_timeline() {
    let app = TestApp::with(per_hour(100)).await;
    app.upstream.on_create(answers()[0].clone()).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    for count in 1..=4 {
        exactly(&app, count).await;
        app.clock().advance(HOUR + Duration::from_secs(1));
    }
    exactly(&app, 5).await;
    let history = operator.job(&job).await["history"].clone();
    let states: Vec<_> =
        history.as_array().unwrap().iter().map(|entry| entry["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["queued", "sending", "queued"]);
    assert_eq!(history[2]["at"], "2025-03-10T14:15:04Z", "the last try");
}

#[tokio::test]
async fn another_key_is_tried_at_once() {
    let app = TestApp::with(per_hour(100)).await;
    app.upstream.on_create(answers()[0].clone()).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    exactly(&app, 1).await;
    app.upstream.accepts_jobs().await;
    app.state().governor.health().forget_refused_key().await.unwrap();
    until("it is sent", async || (operator.job(&job).await["state"] == "active").then_some(())).await;
}
