//! Queued prompts are sent in order, evenly spaced, one at a time, and across restarts. Users change the order and cancel them.

use std::time::Duration;

use base::clock::Clock;
use base::config::Budget;
use model::budget::AgentLimit;
use model::time::Timestamp;
use serde_json::Value;
use store::platform::budget::ScopeLimit;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{
    Browser, New, Settings, TestApp, TestResponse, intent, json, picked, refusing_address, remote_job, until,
    views_answer,
};

const HOUR: Duration = Duration::from_secs(3_600);

/// A budget of `agent_per_hour` prompts of each kind, starting at 10:15.
pub(crate) fn per_hour(agent_per_hour: u32) -> Settings {
    Settings {
        budget: Budget {
            agent_per_hour,
            agent_limit: AgentLimit::Separate,
            analytics_per_hour: 100,
            analytics_reserve: 0,
            history_days: 90,
            history_before: 0,
        },
        clock: Clock::frozen("2025-03-10T10:15:00Z".parse::<Timestamp>().unwrap()),
        ..Settings::default()
    }
}

/// An app whose budget of two is used up.
async fn spent() -> (TestApp, Browser) {
    spent_by(2).await
}

/// An app whose budget is used up by this many prompts. With ten of them, the queue may send five at once an hour later.
async fn spent_by(prompts: u32) -> (TestApp, Browser) {
    let app = TestApp::with(per_hour(prompts)).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    for prompt in ["one", "two"].into_iter().chain(std::iter::repeat("more")).take(prompts as usize) {
        operator.created(prompt).await;
    }
    (app, operator)
}

async fn create(person: &Browser, prompt: &str, sent: &str) -> TestResponse {
    New::job(prompt).with("queue", "on").with("intent", sent).post(person).await
}

/// Queues a new job, and returns it.
async fn queued(person: &Browser, prompt: &str) -> Value {
    let job = New::job(prompt).with("queue", "on").made(person).await;
    assert_eq!(job["state"], "queued", "{prompt}");
    job
}

async fn waiting(person: &Browser) -> Vec<Value> {
    let queue = person.post_json("/api/queue/list", &[("project", "docs")]).await;
    queue["waiting"].as_array().unwrap().clone()
}

async fn order(person: &Browser) -> Vec<String> {
    waiting(person).await.iter().map(|entry| entry["prompt"].as_str().unwrap().to_owned()).collect()
}

async fn moved(person: &Browser, message: &Value, to: &str) -> TestResponse {
    let pairs = [("project", "docs"), ("message", message.as_str().unwrap()), ("to", to)];
    person.post("/api/queue/move", &pairs).await
}

async fn cancelled(person: &Browser, message: &Value) -> TestResponse {
    person.post("/api/queue/cancel", &[("project", "docs"), ("message", message.as_str().unwrap())]).await
}

/// The prompts that were sent, in order.
async fn sent(app: &TestApp) -> Vec<String> {
    let posts = app.upstream.posts().await;
    let text = |body: Value| body["prompt"].as_str().unwrap().to_owned();
    posts.iter().map(|post| text(post.body_json().unwrap())).collect()
}

/// Waits until `count` prompts were sent. Checks that several more ticks send no others.
async fn exactly(app: &TestApp, count: usize) {
    until(&format!("{count} are sent"), async || (sent(app).await.len() >= count).then_some(())).await;
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(sent(app).await.len(), count, "{:?}", sent(app).await);
}

#[tokio::test]
async fn prompt_beyond_the_budget_is_queued_only_if_allowed() {
    let (app, operator) = spent().await;
    let form = intent();
    operator.create("three", &form).await.refused(429, "budget_spent");
    assert_eq!(operator.draft(None).await, "three");
    let response = create(&operator, "three", &form).await;
    assert_eq!(
        (response.status, &response.json()["state"]),
        (200, &json!("queued")),
        "a refused intent was never used"
    );
    assert_eq!(operator.draft(None).await, "");
    assert_eq!(create(&operator, "three", &form).await.json()["id"], response.json()["id"]);
    create(&operator, "other", &form).await.refused(422, "intent_reused");

    let list = waiting(&operator).await;
    assert_eq!(list.len(), 1);
    assert_eq!(list[0]["job"], response.json()["id"]);
    insta::assert_compact_json_snapshot!(picked(&list[0], ["prompt", "author", "why", "position", "expected_at"]), @r#"{"author": "olga", "expected_at": "2025-03-10T11:15:00Z", "position": 0, "prompt": "three", "why": "budget"}"#);
    assert_eq!(sent(&app).await, ["one", "two"]);
}

#[tokio::test]
async fn prompt_within_the_budget_is_sent_at_once() {
    let app = TestApp::with(per_hour(2)).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    assert_eq!(create(&operator, "one", &intent()).await.json()["state"], "active");
    assert_eq!(waiting(&operator).await.len(), 0);
}

#[tokio::test]
async fn queue_is_sent_in_order_and_evenly_across_restarts() {
    let (mut app, operator) = spent().await;
    for prompt in ["three", "four", "five"] {
        queued(&operator, prompt).await;
    }
    assert_eq!(order(&operator).await, ["three", "four", "five"]);
    let expected: Vec<_> =
        waiting(&operator).await.iter().map(|entry| entry["expected_at"].clone()).collect();
    assert_eq!(expected, ["2025-03-10T11:15:00Z", "2025-03-10T11:45:00Z", "2025-03-10T12:15:00Z"]);

    app.restart().await;
    exactly(&app, 2).await;
    app.clock().advance(HOUR);
    exactly(&app, 3).await;
    app.restart().await;
    app.clock().advance(Duration::from_secs(1_799));
    exactly(&app, 3).await;
    let operator = app.operator().await;
    assert_eq!(waiting(&operator).await[0]["why"], "earlier_prompts");
    app.clock().advance(Duration::from_secs(1));
    exactly(&app, 4).await;
    app.clock().advance(HOUR);
    exactly(&app, 5).await;
    assert_eq!(sent(&app).await, ["one", "two", "three", "four", "five"]);
    assert_eq!(waiting(&app.operator().await).await.len(), 0);
}

#[tokio::test]
async fn two_servers_on_one_database_send_each_queued_prompt_once() {
    let (app, operator) = spent().await;
    for n in 0..4 {
        queued(&operator, &format!("queued {n}")).await;
    }
    let second = app.idle_state(app.clock().clone(), Duration::from_secs(3)).await;
    let stop = tokio_util::sync::CancellationToken::new();
    let running = tokio::spawn({
        let (jobs, stop) = (second.jobs.clone(), stop.clone());
        async move { jobs.run(stop).await }
    });
    for count in 3..=6 {
        app.clock().advance(HOUR);
        exactly(&app, count).await;
    }
    stop.cancel();
    running.await.unwrap();
    let mut texts = sent(&app).await;
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 6);
}

#[tokio::test]
async fn clock_rollback_does_not_stop_the_queue() {
    let app = TestApp::with(per_hour(2)).await;
    app.upstream.accepts_jobs().await;
    let limited = ScopeLimit::of("creates:docs", 2);
    // As before the clock was set back by a day: the last of ten prompts had just left, half an hour apart.
    let far = app.clock().now().plus_seconds(86_400);
    let ends_at = far.plus_seconds(10 * 1_800).as_millis();
    app.ledger()
        .execute(format!("INSERT INTO queue_pauses (scope, ends_at) VALUES ('{}', {ends_at})", limited.scope))
        .await;
    let store = app.open_store().await;
    let paused_until = store.queue_paused_until(&limited, far).await.unwrap();
    assert_eq!(paused_until, Some(far.plus_seconds(1_800)));
    let operator = app.operator().await;
    operator.created("one").await;
    operator.created("two").await;
    queued(&operator, "three").await;
    app.clock().advance(HOUR);
    exactly(&app, 3).await;
    let paused_until = store.queue_paused_until(&limited, app.clock().now()).await.unwrap();
    assert_eq!(paused_until, Some(app.clock().now().plus_seconds(1_800)));
    let before = app.clock().now().plus_seconds(-86_400);
    assert_eq!(store.queue_paused_until(&limited, before).await.unwrap(), None);
    store.close().await;
}

#[tokio::test]
async fn queued_prompts_can_be_reordered() {
    let (app, operator) = spent().await;
    for prompt in ["a", "b", "c"] {
        queued(&operator, prompt).await;
    }
    let message = async |prompt: &str| {
        let list = waiting(&operator).await;
        list.iter().find(|entry| entry["prompt"] == prompt).unwrap()["message"].clone()
    };
    let colleague = app.sign_in("otto").await;
    for (prompt, to, then) in [
        ("c", "up", ["a", "c", "b"]),
        ("a", "down", ["c", "a", "b"]),
        ("b", "first", ["b", "c", "a"]),
        ("b", "up", ["b", "c", "a"]),
        ("a", "down", ["b", "c", "a"]),
    ] {
        let response = moved(&colleague, &message(prompt).await, to).await;
        assert_eq!(response.status, 200, "{}", response.text);
        let listed = response.json();
        let listed: Vec<_> =
            listed["waiting"].as_array().unwrap().iter().map(|entry| &entry["prompt"]).collect();
        assert_eq!(listed, then, "{prompt} {to}");
        assert_eq!(order(&operator).await, then);
    }
    moved(&operator, &message("a").await, "last").await.refused(400, "bad_input");
    moved(&operator, &json!("x"), "up").await.refused(400, "bad_input");
    app.clock().advance(HOUR);
    exactly(&app, 3).await;
    assert_eq!(sent(&app).await.last().unwrap(), "b");
}

#[tokio::test]
async fn cancelled_prompt_has_its_user_and_is_never_sent() {
    let (app, operator) = spent().await;
    let job = queued(&operator, "three").await;
    let message = waiting(&operator).await[0]["message"].clone();
    let colleague = app.sign_in("otto").await;
    let response = cancelled(&colleague, &message).await;
    assert_eq!((response.status, response.json()), (200, json!({"waiting": []})));
    let job = operator.job(&job).await;
    insta::assert_compact_json_snapshot!(picked(&job, ["state", "reason", "prompt"]), @r#"{"prompt": "three", "reason": "Cancelled by otto before it was sent.", "state": "cancelled"}"#);
    let again = cancelled(&operator, &message).await.refused(409, "conflict");
    assert!(again.contains("cancelled"), "{again}");
    moved(&operator, &message, "up").await.refused(409, "conflict");
    app.clock().advance(HOUR);
    exactly(&app, 2).await;
    assert!(operator.get("/p/docs/queue").await.text.contains("The queue is empty"));
}

#[tokio::test]
async fn sent_prompt_cannot_be_moved_or_cancelled() {
    let (app, operator) = spent().await;
    queued(&operator, "three").await;
    let message = waiting(&operator).await[0]["message"].clone();
    app.clock().advance(HOUR);
    exactly(&app, 3).await;
    cancelled(&operator, &message).await.refused(409, "conflict");
    moved(&operator, &message, "first").await.refused(409, "conflict");
}

#[tokio::test]
async fn rate_limited_prompt_returns_to_the_queue() {
    let (app, operator) = spent().await;
    let job = queued(&operator, "three").await;
    queued(&operator, "four").await;
    app.upstream.reset().await;
    let wait = ResponseTemplate::new(429).insert_header("retry-after", "3600");
    app.upstream.on_create(wait).await;
    app.clock().advance(HOUR);
    exactly(&app, 1).await;
    let shown = operator.job(&job).await;
    let reason = shown["reason"].as_str().unwrap();
    assert!(shown["state"] == "queued" && reason.contains("It was put back in the queue."), "{shown}");
    assert_eq!(order(&operator).await, ["three", "four"]);
    app.clock().advance(HOUR - Duration::from_secs(60));
    exactly(&app, 1).await;

    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    app.clock().advance(Duration::from_secs(60));
    exactly(&app, 1).await;
    assert_eq!(sent(&app).await, ["three"]);
    let job = until("it is accepted", async || {
        let job = operator.job(&job).await;
        (job["state"] == "active").then_some(job)
    })
    .await;
    assert_eq!(job["reason"], json!(null));
    let states: Vec<_> = job["history"].as_array().unwrap().iter().map(|entry| &entry["state"]).collect();
    assert_eq!(states, ["queued", "sending", "queued", "sending", "accepted"]);
}

#[tokio::test]
async fn queue_waits_while_the_key_is_refused() {
    let (app, operator) = spent_by(10).await;
    let first = queued(&operator, "three").await;
    queued(&operator, "four").await;
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(401).set_body_json(json!({"error": "expired"}))).await;
    app.clock().advance(HOUR);
    exactly(&app, 1).await;
    let shown = operator.job(&first).await;
    let reason = shown["reason"].as_str().unwrap();
    assert!(shown["state"] == "queued" && reason.contains("did not accept Docket's key"), "{shown}");
    let next = waiting(&operator).await[0].clone();
    assert_eq!(
        (&next["why"], &next["expected_at"]),
        (&json!("circuit_open"), &json!("2025-03-10T11:20:00Z")),
        "only the pause holds it back"
    );
    app.clock().advance(Duration::from_secs(299));
    exactly(&app, 1).await;
    assert_eq!(order(&operator).await, ["three", "four"]);

    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    app.clock().advance(Duration::from_secs(1));
    exactly(&app, 2).await;
    assert_eq!(sent(&app).await, ["three", "four"]);
}

/// The upstream refuses these prompts with status 403, and accepts others.
async fn refuses(app: &TestApp, refused: &'static [&'static str]) {
    app.upstream.reset().await;
    app.upstream
        .on_create(|request: &Request| {
            let body: Value = request.body_json().unwrap();
            let prompt = body["prompt"].as_str().unwrap();
            match refused.contains(&prompt) {
                true => ResponseTemplate::new(403).set_body_json(json!({"error": "blocked by a rule"})),
                false => {
                    ResponseTemplate::new(201).set_body_json(remote_job(&format!("job_{prompt}"), "active"))
                }
            }
        })
        .await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
}

async fn notice(operator: &Browser, project: &str) -> Value {
    operator.post_json("/api/upstream/budgets", &[("project", project)]).await["notice"].clone()
}

/// A rule of a firewall refuses the first prompt of the queue, and no other.
#[tokio::test]
async fn prompt_refused_twice_is_rejected_and_others_do_not_wait_for_it() {
    let (app, operator) = spent().await;
    let first = queued(&operator, "three").await;
    for prompt in ["four", "five"] {
        queued(&operator, prompt).await;
    }
    refuses(&app, &["three"]).await;
    app.clock().advance(HOUR);
    exactly(&app, 1).await;
    let shown = operator.job(&first).await;
    let reason = shown["reason"].as_str().unwrap();
    assert!(shown["state"] == "queued" && reason.contains("blocked by a rule"), "{shown}");
    assert_eq!(order(&operator).await, ["four", "five", "three"]);
    for count in [2, 3, 4] {
        assert_eq!(notice(&operator, "docs").await, json!(null), "nothing is paused");
        app.clock().advance(HOUR);
        exactly(&app, count).await;
    }
    assert_eq!(sent(&app).await, ["three", "four", "five", "three"]);
    let shown = operator.job(&first).await;
    let reason = shown["reason"].as_str().unwrap();
    assert!(shown["state"] == "rejected" && reason.contains("blocked by a rule"), "{shown}");

    assert_eq!(notice(&operator, "docs").await, json!(null), "the second refusal was of the same prompt");
    app.clock().advance(HOUR);
    assert_eq!(operator.create("six", &intent()).await.json()["state"], "active");
}

#[tokio::test]
async fn prompt_alone_in_the_queue_is_sent_twice_and_pauses_nothing() {
    let (app, operator) = spent_by(10).await;
    let job = queued(&operator, "three").await;
    refuses(&app, &["three"]).await;
    app.clock().advance(HOUR);
    exactly(&app, 1).await;
    app.clock().advance(Duration::from_secs(299));
    exactly(&app, 1).await;
    app.clock().advance(Duration::from_secs(1));
    exactly(&app, 2).await;
    until("the rejection", async || (operator.job(&job).await["state"] == "rejected").then_some(())).await;
    assert_eq!(notice(&operator, "docs").await, json!(null), "both refusals are of one prompt");
}

#[tokio::test]
async fn two_refused_prompts_pause_their_operation_until_it_succeeds() {
    let (app, operator) = spent_by(10).await;
    let mut jobs = Vec::new();
    for prompt in ["three", "four", "five"] {
        jobs.push(queued(&operator, prompt).await);
    }
    refuses(&app, &["three", "four"]).await;
    assert_eq!(notice(&operator, "docs").await, json!(null));
    app.clock().advance(HOUR);
    exactly(&app, 2).await;
    assert_eq!(sent(&app).await, ["three", "four"], "the first refusal pauses nothing");
    // Only this operation of this project is paused, and another one that succeeds does not end it.
    operator.post_json("/api/analytics/views", &[("project", "docs")]).await;
    let notices = [notice(&operator, "docs").await, notice(&operator, "api").await];
    assert_eq!(notices, [json!("operation_refused"), json!(null)]);
    assert_eq!(waiting(&operator).await[0]["why"], "circuit_open");
    let page = app.sign_in("ada").await.get("/admin/upstream").await.text;
    assert!(page.contains("refuses these operations") && !page.contains("refused Docket’s key"), "{page}");
    assert!(page.contains("Paused, next try"), "{page}");

    refuses(&app, &[]).await;
    app.clock().advance(Duration::from_secs(299));
    exactly(&app, 0).await;
    app.clock().advance(Duration::from_secs(1));
    exactly(&app, 3).await;
    assert_eq!(sent(&app).await, ["five", "three", "four"]);
    for job in &jobs {
        assert_eq!(operator.job(job).await["state"], "active");
    }
    assert_eq!(notice(&operator, "docs").await, json!(null));
}

#[tokio::test]
async fn prompts_of_a_removed_project_wait_until_it_returns() {
    let mut app = TestApp::with(Settings { poll_interval: Duration::from_secs(3), ..per_hour(2) }).await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"))).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let of_api = async |prompt: &str| {
        let job = New::job(prompt).with("project", "api").with("queue", "on").made(&operator).await;
        job["state"].clone()
    };
    assert_eq!(
        [of_api("one").await, of_api("two").await, of_api("three").await],
        ["active", "active", "queued"]
    );
    app.restart_with(|settings| settings.projects = "docs=Docs".to_owned()).await;
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    app.clock().advance(HOUR);
    let operator = app.operator().await;
    assert_eq!(create(&operator, "of docs", &intent()).await.json()["state"], "active");
    exactly(&app, 1).await;
    assert_eq!(app.upstream.reads().await, 0, "a job of a removed project is polled");
    // A prompt that another process would send at once is not claimed either.
    app.ledger().run("UPDATE messages SET in_queue = 0, due_at = 0 WHERE state = 'queued'").await;
    exactly(&app, 1).await;
    app.ledger().run("UPDATE messages SET in_queue = 1 WHERE state = 'queued'").await;

    app.restart_with(|settings| settings.projects = "docs=Docs,api=API reference".to_owned()).await;
    app.clock().advance(HOUR);
    until("it is sent", async || sent(&app).await.contains(&"three".to_owned()).then_some(())).await;
    until("its jobs are polled", async || (app.upstream.reads().await > 0).then_some(())).await;
}

#[tokio::test]
async fn queue_resumes_after_an_upstream_outage() {
    let (mut app, operator) = spent().await;
    let job = queued(&operator, "three").await;
    let (_reserved, unreachable) = refusing_address();
    app.restart_with(|settings| settings.upstream_url = Some(unreachable)).await;
    app.clock().advance(HOUR);
    let operator = app.operator().await;
    let shown = until("it was tried", async || {
        Some(operator.job(&job).await).filter(|job| job["reason"].is_string())
    })
    .await;
    assert_eq!(shown["state"], "queued", "{shown}");
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    app.restart_with(|settings| settings.upstream_url = None).await;
    app.clock().advance(HOUR);
    exactly(&app, 1).await;
    assert_eq!(sent(&app).await, ["three"]);
}

#[tokio::test]
async fn slow_polls_do_not_delay_prompts() {
    let (app, operator) = spent().await;
    for text in ["three", "four"] {
        queued(&operator, text).await;
    }
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    let slow = ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"));
    app.upstream.on_read(slow.set_delay(Duration::from_secs(60))).await;
    app.clock().advance(2 * HOUR);
    until("a read is under way", async || (app.upstream.reads().await > 0).then_some(())).await;
    // The other one is due some time after the first.
    exactly(&app, 1).await;
    app.clock().advance(HOUR);
    exactly(&app, 2).await;
    assert_eq!(sent(&app).await, ["three", "four"]);
}

#[tokio::test]
async fn cancelled_prompt_needs_no_attention() {
    let (_app, operator) = spent().await;
    queued(&operator, "three").await;
    let message = waiting(&operator).await[0]["message"].clone();
    assert_eq!(cancelled(&operator, &message).await.status, 200);
    let listed = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    assert_eq!((&listed["counts"]["cancelled"], &listed["attention"]), (&json!(1), &json!(0)));
}

#[tokio::test]
async fn rate_limited_follow_up_is_sent_later() {
    let (app, operator) = spent().await;
    let job = operator.post_json("/api/jobs/list", &[("project", "docs")]).await["jobs"][0].clone();
    let remote = remote_job(job["remote"]["id"].as_str().unwrap(), "active");
    let takes = ResponseTemplate::new(200).set_body_json(remote);
    app.upstream.on_follow_up(takes.clone()).await;
    for text in ["first", "second"] {
        assert_eq!(operator.follow_up(&job, text, &intent()).await.status, 200);
    }
    let (id, sent) = (job["id"].as_str().unwrap(), intent());
    let pairs = [("project", "docs"), ("job", id), ("prompt", "third"), ("intent", &sent), ("queue", "on")];
    let waits = operator.post("/api/jobs/message", &pairs).await.json();
    assert_eq!(waits["follow_ups"][2]["state"], "queued", "{waits}");
    app.upstream.reset().await;
    app.upstream.on_follow_up(ResponseTemplate::new(429).insert_header("retry-after", "1")).await;
    app.clock().advance(HOUR);
    exactly(&app, 1).await;
    let shown = &operator.job(&job).await["follow_ups"][2];
    assert!(
        shown["state"] == "queued" && shown["reason"].as_str().unwrap().contains("back in the queue"),
        "{shown}"
    );
    app.upstream.reset().await;
    app.upstream.on_follow_up(takes).await;
    app.clock().advance(HOUR);
    exactly(&app, 1).await;
    until("it is accepted", async || {
        let third = &operator.job(&job).await["follow_ups"][2];
        (third["state"] == "accepted" && third["reason"] == json!(null)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn only_operators_of_the_project_change_its_queue() {
    let (app, operator) = spent().await;
    let job = queued(&operator, "three").await;
    let message = waiting(&operator).await[0]["message"].clone();
    let viewer = app.sign_in("vera").await;
    assert_eq!(order(&viewer).await, ["three"]);
    cancelled(&viewer, &message).await.refused(403, "forbidden");
    moved(&viewer, &message, "up").await.refused(403, "forbidden");
    let text = message.as_str().unwrap();
    for (project, code) in [("api", "not_found"), ("nowhere", "not_found")] {
        let pairs = [("project", project), ("message", text), ("to", "up")];
        operator.post("/api/queue/move", &pairs).await.refused(404, code);
        operator.post("/api/queue/cancel", &pairs[..2]).await.refused(404, code);
    }
    let none = json!("01930000-0000-7000-8000-000000000000");
    cancelled(&operator, &none).await.refused(404, "not_found");
    moved(&operator, &none, "up").await.refused(404, "not_found");
    assert_eq!(operator.post_json("/api/queue/list", &[("project", "api")]).await, json!({"waiting": []}));
    app.anonymous().post("/api/queue/list", &[("project", "docs")]).await.refused(401, "unauthenticated");
    assert_eq!(operator.job(&job).await["state"], "queued");
    // Users who may not change the queue see no controls.
    let page = viewer.get("/p/docs/queue").await.text;
    assert!(page.contains("three") && !page.contains("/api/queue/"), "{page}");
}

#[tokio::test]
async fn follow_up_is_sent_after_the_prompt_before_it() {
    let (app, operator) = spent().await;
    let job = queued(&operator, "three").await;
    let remote = remote_job("job_three", "active");
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(remote)).await;
    let response = operator.follow_up(&job, "and more", &intent()).await;
    assert_eq!(response.json()["follow_ups"][0]["state"], "queued", "{}", response.text);
    let list = waiting(&operator).await;
    assert_eq!((&list[1]["prompt"], &list[1]["why"]), (&json!("and more"), &json!("job_before")));
    moved(&operator, &list[1]["message"], "first").await.refused(409, "conflict");
    exactly(&app, 2).await;
    app.clock().advance(HOUR);
    exactly(&app, 4).await;
    assert_eq!(sent(&app).await, ["one", "two", "three", "and more"]);
    until("it is accepted", async || {
        (operator.job(&job).await["follow_ups"][0]["state"] == "accepted").then_some(())
    })
    .await;
}

#[tokio::test]
async fn queued_follow_up_of_a_rejected_job_is_rejected() {
    let (app, operator) = spent().await;
    let refused = queued(&operator, "three").await;
    let cancelled_one = queued(&operator, "four").await;
    for job in [&refused, &cancelled_one] {
        assert_eq!(operator.follow_up(job, "and more", &intent()).await.status, 200);
    }
    let message = waiting(&operator).await[1]["message"].clone();
    assert_eq!(cancelled(&operator, &message).await.status, 200);
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    app.clock().advance(HOUR);
    exactly(&app, 1).await;
    for (job, state) in [(&refused, "rejected"), (&cancelled_one, "cancelled")] {
        let job = operator.job(job).await;
        let follow_up = &job["follow_ups"][0];
        assert_eq!((&job["state"], &follow_up["state"]), (&json!(state), &json!("rejected")));
        assert!(follow_up["reason"].as_str().unwrap().contains("was not started"), "{follow_up}");
    }
    assert_eq!(waiting(&operator).await.len(), 0);
    operator.follow_up(&refused, "again", &intent()).await.refused(409, "conflict");
}

#[tokio::test]
async fn queue_works_without_javascript() {
    let (app, operator) = spent().await;
    let form = format!("{}/p/docs/jobs/new", app.origin());
    let refused = New::job("three").submit(&operator, &form).await;
    let page = operator.get(refused.location().trim_start_matches(&app.origin())).await.text;
    assert!(
        page.contains("Add to queue") && page.contains("name=\"queue\""),
        "the refused form offers no queue"
    );
    assert!(page.contains("three"));
    let job = queued(&operator, "three").await;
    let list = operator.get("/p/docs/jobs").await.text;
    assert!(
        list.contains("href=\"/p/docs/queue\"") && list.contains("1 prompt queued"),
        "no way to the queue"
    );
    let own = operator.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await.text;
    assert!(own.contains("href=\"/p/docs/queue\""), "no way from the job to the queue");

    let message = waiting(&operator).await[0]["message"].as_str().unwrap().to_owned();
    let page = operator.get("/p/docs/queue").await.text;
    assert!(page.contains("three") && page.contains("/api/queue/move"));
    assert!(!page.contains("/api/queue/cancel"), "cancelling is confirmed first");
    let page = operator.get(&format!("/p/docs/queue?cancel={message}")).await.text;
    assert!(page.contains("/api/queue/cancel"), "no confirmation");
    let from = format!("{}/p/docs/queue?cancel={message}", app.origin());
    let pairs = [("project", "docs"), ("message", message.as_str())];
    let response = operator.submit("/api/queue/cancel", &pairs, Some(&from)).await;
    assert!(response.location().ends_with("/p/docs/queue"), "{}", response.location());
    assert_eq!(operator.job(&job).await["state"], "cancelled");
}

#[tokio::test]
async fn queue_sends_a_burst_then_evenly_below_half_the_budget() {
    let app = TestApp::with(per_hour(40)).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let values: String = (0..25).map(|n| format!("/page-{n}\n")).collect();
    let batch = New::batch("Check {{page}}", &values).made(&operator).await;
    // Ten at once, the others 90 s apart.
    assert_eq!(batch["expected_end"], "2025-03-10T10:37:30Z");
    let start = [("project", "docs"), ("batch", batch["id"].as_str().unwrap())];
    operator.post_json("/api/batches/start", &start).await;
    exactly(&app, 10).await;
    for sent in 11..=13 {
        app.clock().advance(Duration::from_secs(89));
        exactly(&app, sent - 1).await;
        app.clock().advance(Duration::from_secs(1));
        exactly(&app, sent).await;
    }
}
