//! The wall clock jumps back or forward at any moment: nothing is sent twice, nothing waits forever, nobody is locked
//! out, and the displayed order stays correct.

use std::time::Duration;

use base::clock::Clock;
use base::config::Budget;
use model::budget::AgentLimit;
use model::time::Timestamp;
use store::jobs::intents::Scheduling;
use uuid::{NoContext, Uuid};
use wiremock::ResponseTemplate;

use crate::helpers::work::commit;
use crate::helpers::{Browser, PausedUpstream, Settings, TestApp, intent, json, remote_job, until};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;
const JUMPS: [i64; 4] = [-HOUR, -DAY, DAY, YEAR];

fn settings() -> Settings {
    let clock = Clock::frozen("2025-03-10T10:15:00Z".parse::<Timestamp>().unwrap());
    Settings { clock, ..Settings::default() }
}

fn two_per_hour() -> Settings {
    let budget = Budget {
        agent_per_hour: 2,
        agent_limit: AgentLimit::Separate,
        analytics_per_hour: 2,
        analytics_reserve: 0,
        history_days: 90,
        history_before: 0,
    };
    Settings { budget, ..settings() }
}

fn jump(app: &TestApp, seconds: i64) {
    app.clock().set(app.clock().now().plus_seconds(seconds));
}

/// Advances the clock by an hour in steps, until `probe` returns something; fails if it does not.
async fn within_an_hour<T>(app: &TestApp, what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let latest = app.clock().now().plus_seconds(HOUR);
    until(what, async || {
        let found = probe().await;
        if app.clock().now() < latest {
            app.clock().advance(Duration::from_secs(30));
        }
        found
    })
    .await
}

#[tokio::test]
async fn clock_jump_between_commit_and_start_sends_a_prompt_once() {
    for seconds in JUMPS {
        let mut app = TestApp::prepared(settings()).await;
        app.upstream.accepts_jobs().await;
        let store = app.open_store().await;
        let sent = intent();
        commit(&store, app.clock().now(), "Fix typos", &sent, Scheduling::Immediate).await;
        store.close().await;
        jump(&app, seconds);
        app.begin().await;
        let operator = app.operator().await;
        until("it is sent", async || (app.upstream.posts().await.len() == 1).then_some(())).await;
        let job = operator.create("Fix typos", &sent).await.json();
        assert_eq!(job["state"], "active", "{seconds}: {job}");
        jump(&app, -seconds);
        app.restart().await;
        let operator = app.operator().await;
        assert_eq!(operator.create("Fix typos", &sent).await.json()["id"], job["id"]);
        assert_eq!(app.upstream.posts().await.len(), 1, "{seconds}");
    }
}

#[tokio::test]
async fn clock_jump_during_a_delivery_does_not_change_its_outcome() {
    for seconds in JUMPS {
        let upstream = PausedUpstream::start().await;
        upstream.pause();
        let app = TestApp::with(Settings { upstream_url: Some(upstream.url()), ..settings() }).await;
        let operator = app.operator().await;
        let sent = intent();
        let (response, ()) = futures::join!(operator.create("Fix typos", &sent), async {
            until("it is upstream", async || (upstream.posts_of("Fix typos") == 1).then_some(())).await;
            jump(&app, seconds);
            upstream.resume();
        });
        assert_eq!(
            (response.status, &response.json()["state"]),
            (200, &json!("active")),
            "{}",
            response.text
        );
        jump(&app, -seconds);
        let again = operator.create("Fix typos", &sent).await;
        assert_eq!((again.status, &again.json()["id"]), (200, &response.json()["id"]), "{}", again.text);
        assert_eq!(upstream.posts_of("Fix typos"), 1, "{seconds}");
    }
}

#[tokio::test]
async fn calls_in_the_future_use_the_budget_for_one_hour() {
    for seconds in [-HOUR, -DAY, -YEAR] {
        let app = TestApp::with(two_per_hour()).await;
        app.upstream.accepts_jobs().await;
        let operator = app.operator().await;
        operator.created("one").await;
        operator.created("two").await;
        jump(&app, seconds);
        let next = until("the budget is updated", async || {
            let budgets = operator.post_json("/api/upstream/budgets", &[("project", "docs")]).await;
            let next: Timestamp = budgets["creates"]["next_fits_at"].as_str()?.parse().unwrap();
            (next <= app.clock().now().plus_seconds(HOUR)).then_some(next)
        })
        .await;
        // The two calls count despite the clock: a third one must wait.
        let sent = intent();
        operator.create("three", &sent).await;
        assert_eq!(app.upstream.posts().await.len(), 2, "{seconds}");
        app.clock().set(next);
        until("the third is sent", async || {
            let response = operator.create("three", &sent).await;
            (response.status == 200 && response.json()["state"] == "active").then_some(())
        })
        .await;
        assert_eq!(app.upstream.posts().await.len(), 3, "{seconds}");
    }
}

#[tokio::test]
async fn pause_that_ends_too_late_is_ignored() {
    let app = TestApp::with(settings()).await;
    let wait = ResponseTemplate::new(429).insert_header("retry-after", "3600");
    app.upstream.on_create(wait).await;
    let operator = app.operator().await;
    assert_eq!(operator.created("one").await["state"], "rejected");
    operator.create("two", &intent()).await;
    assert_eq!(app.upstream.posts().await.len(), 1, "the pause does not hold at all");
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    jump(&app, -DAY);
    until("a prompt is sent again", async || {
        operator.create("three", &intent()).await;
        (!app.upstream.posts().await.is_empty()).then_some(())
    })
    .await;
    // When the clock reaches that time again, the pause does not last longer than planned.
    until("the pause is removed", async || {
        let pause = app.state().store.paused_until("creates:docs", app.clock().now().plus_seconds(DAY)).await;
        pause.unwrap().is_none().then_some(())
    })
    .await;
}

#[tokio::test]
async fn queue_moves_within_minutes_of_a_clock_rollback() {
    // The key was refused, or the platform failed until the circuit breaker opened.
    for status in [401, 500] {
        for seconds in [-HOUR, -DAY, -YEAR] {
            let app = TestApp::with(Settings { breaks_after: 5, ..settings() }).await;
            app.upstream.on_create(ResponseTemplate::new(status)).await;
            let operator = app.operator().await;
            for n in 0..5 {
                operator.create(&format!("fails {n}"), &intent()).await;
            }
            let store = &app.state().store;
            commit(store, app.clock().now(), "waits", &intent(), Scheduling::Queued(None)).await;
            app.upstream.reset().await;
            app.upstream.accepts_jobs().await;
            jump(&app, seconds);
            let sent = "SELECT COUNT(*) FROM messages WHERE prompt = 'waits' AND state = 'accepted'";
            within_an_hour(&app, "it is sent", async || (app.ledger().count(sent).await == 1).then_some(()))
                .await;
        }
    }
}

#[tokio::test]
async fn job_is_polled_within_minutes_of_a_clock_rollback() {
    for seconds in [-HOUR, -DAY, -YEAR] {
        let app = TestApp::with(Settings { poll_interval: Duration::from_secs(3), ..settings() }).await;
        app.upstream.accepts_jobs().await;
        app.upstream.on_read(ResponseTemplate::new(404)).await;
        let operator = app.operator().await;
        let job = operator.created("Fix typos").await;
        app.upstream.reset().await;
        let done = remote_job(job["remote"]["id"].as_str().unwrap(), "completed");
        app.upstream.on_read(ResponseTemplate::new(200).set_body_json(done)).await;
        jump(&app, seconds);
        within_an_hour(&app, "it is read to its end", async || {
            (operator.job(&job).await["state"] == "completed").then_some(())
        })
        .await;
    }
}

async fn is_signed_in(browser: &Browser) -> bool {
    browser.post("/api/session/current", &[]).await.status == 200
}

#[tokio::test]
async fn clock_rollback_ends_no_session() {
    let app = TestApp::with(settings()).await;
    let operator = app.operator().await;
    for seconds in [-HOUR, -DAY, -YEAR] {
        jump(&app, seconds);
        assert!(is_signed_in(&operator).await, "{seconds}");
    }
}

#[tokio::test]
async fn session_created_in_the_future_lasts_no_longer() {
    let mut app = TestApp::with(settings()).await;
    let before = app.operator().await;
    jump(&app, YEAR);
    assert!(!is_signed_in(&before).await, "a year has passed");
    app.restart().await;
    let operator = app.operator().await;
    let ledger = app.ledger();
    let eternal =
        async || ledger.count("SELECT COUNT(*) FROM sessions WHERE expires_at > 1743000000000").await;
    assert_eq!(eternal().await, 1);
    jump(&app, -YEAR);
    until("no session lives for a year", async || (eternal().await == 0).then_some(())).await;
    assert!(is_signed_in(&operator).await, "the user would have to sign in again");
    jump(&app, 8 * DAY);
    assert!(!is_signed_in(&operator).await, "it outlives a week");
}

#[tokio::test]
async fn events_after_a_clock_rollback_sort_last() {
    let mut app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let accepted =
        ResponseTemplate::new(200).set_body_json(remote_job(job["remote"]["id"].as_str().unwrap(), "active"));
    app.upstream.on_follow_up(accepted).await;
    app.stop().await;
    // As if these events had happened while the clock was an hour ahead.
    let later = (app.clock().now().as_millis() / 1000 + HOUR) as u64;
    let id = Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, later, 0)).to_string();
    let ledger = app.ledger();
    ledger.rename_last_event(&id).await;
    app.begin().await;

    let operator = app.operator().await;
    let job = operator.follow_up(&job, "And more", &intent()).await.json();
    let states: Vec<_> = job["history"].as_array().unwrap().iter().map(|entry| &entry["state"]).collect();
    assert_eq!(states, ["queued", "sending", "accepted", "queued", "sending", "accepted"]);
    let next = operator.created("Fix other typos").await;
    assert!(next["id"].as_str().unwrap() > id.as_str(), "{next} sorts before {id}");
    let list = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    assert_eq!(list["jobs"][0]["id"], next["id"], "the newest job is not on top");
}
