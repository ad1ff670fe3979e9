//! Tracking jobs that do not finish normally: lost jobs, endless jobs, clock jumps, and checking again.

use std::time::Duration;

use base::clock::Clock;
use model::time::Timestamp;
use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{Browser, Settings, TestApp, intent, json, picked, remote_job, until};

const MORNING: &str = "2025-03-10T10:00:00Z";

fn at(instant: &str) -> Clock {
    Clock::frozen(instant.parse::<Timestamp>().unwrap())
}

/// Polls every 3 seconds of a frozen clock.
pub(crate) fn frozen() -> Settings {
    Settings { clock: at(MORNING), poll_interval: Duration::from_secs(3), ..Settings::default() }
}

/// Longer than a pause of 3 seconds with its jitter.
pub(crate) const NEXT_READ: Duration = Duration::from_millis(3_601);

/// Longer than the longest pause with its jitter.
const SLOWEST_READ: Duration = Duration::from_secs(361);

fn status_response(status: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(remote_job("job_1", status))
}

fn unknown_job() -> ResponseTemplate {
    ResponseTemplate::new(404).set_body_json(json!({"error": "no such job"}))
}

async fn started(app: &TestApp, operator: &Browser) -> Value {
    app.upstream.on_create(status_response("active")).await;
    operator.created("Fix typos").await
}

async fn respond_with(app: &TestApp, response: ResponseTemplate) {
    app.upstream.reset().await;
    app.upstream.on_read(response).await;
}

#[tokio::test]
async fn words_of_docket_in_a_status_are_no_events_of_docket() {
    let words = [
        "queued",
        "sending",
        "accepted",
        "rejected",
        "cancelled",
        "unknown",
        "archived here",
        "brought back here",
        "dismissed",
        "dismissal undone",
        "pull_request.merged",
        "pull_request.closed",
        "pull_request.stale",
        "not found",
        "no end",
    ];
    for word in words {
        let app = TestApp::with(frozen()).await;
        let olga = app.operator().await;
        let job = started(&app, &olga).await;
        respond_with(&app, status_response(word)).await;
        poll_after(&app, NEXT_READ).await;
        let shown = format!("reported {word}");
        let read =
            until("the status", async || Some(olga.job(&job).await).filter(|job| job["state"] == "other"))
                .await;
        let status = if ["not found", "no end"].contains(&word) { &shown } else { word };
        assert_eq!(read["remote"]["status"], status, "{word}");
        let events: Vec<&str> = read["history"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["state"].as_str().unwrap())
            .collect();
        assert_eq!(events, ["queued", "sending", "accepted", &shown], "{word}");
        let page = olga.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await.text;
        assert!(page.contains(&shown) && !page.contains("Sent 2 times"), "{word}: {page}");
        assert_eq!(badge(&olga, &job).await["tracked"], true, "{word}");
    }
}

pub(crate) async fn badge(operator: &Browser, job: &Value) -> Value {
    let jobs = job["id"].as_str().unwrap();
    operator.post_json("/api/jobs/statuses", &[("project", "docs"), ("jobs", jobs)]).await[0].clone()
}

async fn check(person: &Browser, job: &Value) -> crate::helpers::TestResponse {
    person.post("/api/jobs/check", &[("project", "docs"), ("job", job["id"].as_str().unwrap())]).await
}

/// Advances the clock, and waits for the resulting poll.
pub(crate) async fn poll_after(app: &TestApp, pause: Duration) {
    let before = app.upstream.reads().await;
    app.clock().advance(pause);
    until("a read", async || {
        app.state().jobs.poll_due().await.unwrap();
        let came = app.upstream.reads().await > before;
        // The previous poll may have been handled only after the clock was advanced.
        app.clock().advance(Duration::from_millis(if came { 0 } else { 1_000 }));
        came.then_some(())
    })
    .await;
}

/// Waits until a 404 is recorded that may mean that the job is lost.
async fn missing(app: &TestApp) {
    until("the 404 is noted", async || {
        let (store, now) = (&app.state().store, app.clock().now().plus_seconds(90));
        let planned = store.due_polls(&app.state().settings.current().projects, now, now).await.unwrap();
        planned.first().and_then(|read| read.missing_since)
    })
    .await;
}

/// A job that the upstream no longer has.
async fn lost(app: &TestApp, operator: &Browser) -> Value {
    let job = started(app, operator).await;
    lose(app, operator, &job).await;
    job
}

/// The upstream loses the only job.
pub(crate) async fn lose(app: &TestApp, operator: &Browser, job: &Value) {
    respond_with(app, unknown_job()).await;
    poll_after(app, NEXT_READ).await;
    missing(app).await;
    app.clock().advance(Duration::from_secs(73));
    until("the job is lost", async || {
        app.state().jobs.poll_due().await.unwrap();
        (badge(operator, job).await["status"] == "not found").then_some(())
    })
    .await;
}

/// Polls the only job, which does not end, until Docket stops tracking it. Sessions expire meanwhile.
pub(crate) async fn never_end(app: &TestApp, job: &Value) {
    respond_with(app, status_response("active")).await;
    for _ in 0..=3 * 24 * 3_600 / SLOWEST_READ.as_secs() {
        app.clock().advance(SLOWEST_READ);
        app.state().jobs.poll_due().await.unwrap();
    }
    let operator = app.operator().await;
    until("tracking ends", async || {
        app.clock().advance(SLOWEST_READ);
        app.state().jobs.poll_due().await.unwrap();
        (badge(&operator, job).await["status"] == "no end").then_some(())
    })
    .await;
}

#[tokio::test]
async fn job_is_lost_after_two_404_a_minute_apart() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = started(&app, &operator).await;
    respond_with(&app, unknown_job()).await;
    poll_after(&app, NEXT_READ).await;
    missing(&app).await;
    app.clock().advance(Duration::from_secs(59));
    assert_eq!(app.state().jobs.poll_due().await.unwrap(), 0);
    let still = badge(&operator, &job).await;
    assert_eq!((&still["state"], &still["tracked"]), (&json!("active"), &json!(true)));

    app.clock().advance(Duration::from_secs(14));
    let gone = until("the job is lost", async || {
        Some(badge(&operator, &job).await).filter(|badge| badge["state"] == "other")
    })
    .await;
    assert_eq!((&gone["status"], &gone["tracked"]), (&json!("not found"), &json!(false)));
    let read = operator.job(&job).await;
    assert!(read["reason"].as_str().unwrap().contains("does not know this job"), "{}", read["reason"]);
    let last = read["history"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["state"], &last["detail"]), (&json!("not found"), &read["reason"]));
    for _ in 0..10 {
        app.clock().advance(Duration::from_secs(3_600));
        assert_eq!(app.state().jobs.poll_due().await.unwrap(), 0);
    }
    assert_eq!(app.upstream.reads().await, 2);

    let path = format!("/p/docs/jobs/{}", job["id"].as_str().unwrap());
    let page = app.operator().await.get(&path).await.text;
    assert!(page.contains(">Not found<") && page.contains("Check again"), "{page}");
    assert!(!app.sign_in("vera").await.get(&path).await.text.contains("Check again"));
}

#[tokio::test]
async fn successful_poll_resets_a_single_404() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = started(&app, &operator).await;
    for _ in 0..3 {
        respond_with(&app, unknown_job()).await;
        poll_after(&app, SLOWEST_READ).await;
        respond_with(&app, status_response("active")).await;
        poll_after(&app, SLOWEST_READ).await;
    }
    let read = operator.job(&job).await;
    assert_eq!((&read["state"], &read["reason"]), (&json!("active"), &json!(null)));
    assert!(!read["history"].to_string().contains("not found"));
}

#[tokio::test]
async fn three_days_of_failed_polls_end_tracking() {
    let app = TestApp::with(frozen()).await;
    let job = started(&app, &app.operator().await).await;
    respond_with(&app, ResponseTemplate::new(410)).await;
    for _ in 0..=3 * 24 * 3_600 / SLOWEST_READ.as_secs() {
        app.clock().advance(SLOWEST_READ);
        app.state().jobs.poll_due().await.unwrap();
    }
    let operator = app.operator().await;
    let over = until("tracking ends", async || {
        // The process polls in the background, too, so the last poll may have been earlier.
        app.clock().advance(SLOWEST_READ);
        app.state().jobs.poll_due().await.unwrap();
        Some(badge(&operator, &job).await).filter(|badge| badge["state"] == "other")
    })
    .await;
    assert_eq!((&over["status"], &over["tracked"]), (&json!("no end"), &json!(false)));
    let reads = app.upstream.reads().await;
    app.clock().advance(Duration::from_secs(24 * 3_600));
    assert_eq!((app.state().jobs.poll_due().await.unwrap(), app.upstream.reads().await), (0, reads));
}

#[tokio::test]
async fn three_days_without_an_end_stop_tracking() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = started(&app, &operator).await;
    respond_with(&app, status_response("active")).await;
    let days = |days: u64| days * 24 * 3_600 / SLOWEST_READ.as_secs();
    for _ in 0..days(3) - 1 {
        app.clock().advance(SLOWEST_READ);
        app.state().jobs.poll_due().await.unwrap();
    }
    // Meanwhile the session has expired.
    let operator = app.operator().await;
    assert_eq!(badge(&operator, &job).await["state"], "active");
    let over = until("tracking ends", async || {
        app.clock().advance(SLOWEST_READ);
        app.state().jobs.poll_due().await.unwrap();
        Some(badge(&operator, &job).await).filter(|badge| badge["state"] == "other")
    })
    .await;
    assert_eq!((&over["status"], &over["tracked"]), (&json!("no end"), &json!(false)));
    let read = operator.job(&job).await;
    assert!(read["reason"].as_str().unwrap().contains("“active”"), "{}", read["reason"]);
    assert_eq!(read["history"].as_array().unwrap().last().unwrap()["state"], "no end");
    let reads = app.upstream.reads().await;
    app.clock().advance(Duration::from_secs(24 * 3_600));
    assert_eq!((app.state().jobs.poll_due().await.unwrap(), app.upstream.reads().await), (0, reads));
    let operator = app.operator().await;
    let page = operator.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await.text;
    assert!(page.contains(">No end after 3 days<") && page.contains("Check again"), "{page}");

    // Another three days, if a user checks and it is still active.
    assert_eq!(check(&operator, &job).await.json()["state"], "active");
    poll_after(&app, NEXT_READ).await;
    assert_eq!(badge(&operator, &job).await["state"], "active");
}

#[tokio::test]
async fn lost_job_is_polled_on_request_once_per_interval() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = lost(&app, &operator).await;
    let history = operator.job(&job).await["history"].clone();
    // The upstream was polled just now.
    respond_with(&app, unknown_job()).await;
    assert_eq!(check(&operator, &job).await.json()["state"], "other");
    assert_eq!(app.upstream.reads().await, 0);
    app.clock().advance(NEXT_READ);
    for _ in 0..5 {
        let response = check(&operator, &job).await.json();
        assert_eq!(
            (&response["remote"]["status"], &response["tracked"]),
            (&json!("not found"), &json!(false))
        );
    }
    assert_eq!(app.upstream.reads().await, 1);
    assert_eq!(operator.job(&job).await["history"], history, "the same response is no news");

    app.clock().advance(NEXT_READ);
    respond_with(&app, ResponseTemplate::new(500)).await;
    check(&operator, &job).await.refused(502, "upstream_failed");
    assert_eq!(badge(&operator, &job).await["tracked"], false);

    app.clock().advance(NEXT_READ);
    respond_with(&app, status_response("active")).await;
    let found = check(&operator, &job).await.json();
    insta::assert_compact_json_snapshot!(picked(&found, ["state", "tracked", "reason"]), @r#"{"reason": null, "state": "active", "tracked": true}"#);
    respond_with(&app, status_response("completed")).await;
    poll_after(&app, NEXT_READ).await;
    until("the job is completed", async || {
        (badge(&operator, &job).await["state"] == "completed").then_some(())
    })
    .await;
}

/// A pause that the platform requests is no failure of it.
#[tokio::test]
async fn check_and_import_name_the_limit_of_the_platform() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = lost(&app, &operator).await;
    let import = [("project", "docs"), ("remote_id", "job_9")];
    app.clock().advance(NEXT_READ);
    respond_with(&app, ResponseTemplate::new(429).insert_header("retry-after", "600")).await;
    check(&operator, &job).await.refused(429, "budget_spent");
    let reads = app.upstream.reads().await;
    for _ in 0..2 {
        app.clock().advance(NEXT_READ);
        for response in [check(&operator, &job).await, operator.post("/api/jobs/import", &import).await] {
            let message = response.refused(429, "budget_spent");
            assert!(message.contains("own limit") && !message.contains("failing"), "{message}");
        }
    }
    assert_eq!(app.upstream.reads().await, reads, "nothing is sent during the pause");
}

/// What is refused anyway must not be the one call that tries whether the platform works again.
#[tokio::test]
async fn refused_lookup_and_repeated_check_take_no_probe() {
    let app = TestApp::with(Settings { breaks_after: 5, ..frozen() }).await;
    let operator = app.operator().await;
    let job = lost(&app, &operator).await;
    for n in 0..60 {
        let import = [("project", "docs"), ("remote_id", &*format!("other_{n}"))];
        operator.post("/api/jobs/import", &import).await;
    }
    respond_with(&app, ResponseTemplate::new(500)).await;
    for _ in 0..5 {
        app.clock().advance(NEXT_READ);
        check(&operator, &job).await.refused(502, "upstream_failed");
    }
    let message = check(&operator, &job).await.refused(502, "upstream_failed");
    assert!(message.contains("The platform is failing"), "{message}");
    app.clock().advance(SLOWEST_READ);
    let import = [("project", "docs"), ("remote_id", "job_99")];
    let message = operator.post("/api/jobs/import", &import).await.refused(429, "budget_spent");
    assert!(message.contains("60 ids"), "{message}");
    respond_with(&app, status_response("completed")).await;
    assert_eq!(check(&operator, &job).await.json()["state"], "completed", "the probe is left");
}

#[tokio::test]
async fn manual_check_requires_an_operator_and_an_accepted_job() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = lost(&app, &operator).await;
    check(&app.sign_in("vera").await, &job).await.refused(403, "forbidden");
    let elsewhere = [("project", "api"), ("job", job["id"].as_str().unwrap())];
    operator.post("/api/jobs/check", &elsewhere).await.refused(404, "not_found");
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    let rejected = operator.created("Fix more").await;
    check(&operator, &rejected).await.refused(409, "conflict");
    assert_eq!(app.upstream.reads().await, 0);
}

#[tokio::test]
async fn manual_check_form_returns_to_the_job_without_javascript() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = lost(&app, &operator).await;
    app.clock().advance(NEXT_READ);
    respond_with(&app, status_response("completed")).await;
    let path = format!("/p/docs/jobs/{}", job["id"].as_str().unwrap());
    let fields = [("project", "docs"), ("job", job["id"].as_str().unwrap())];
    let page = format!("{}{path}", app.origin());
    let response = operator.submit("/api/jobs/check", &fields, Some(&page)).await;
    assert_eq!((response.status, response.location()), (302, path.as_str()));
    assert!(operator.get(&path).await.text.contains("data-status=\"completed\""));
}

#[tokio::test]
async fn clock_jump_of_days_does_not_end_tracking() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = started(&app, &operator).await;
    respond_with(&app, status_response("active")).await;
    poll_after(&app, Duration::from_secs(10 * 24 * 3_600)).await;
    // Its age has not changed.
    for _ in 0..10 {
        poll_after(&app, NEXT_READ).await;
    }
    // Meanwhile the session has expired.
    let operator = app.operator().await;
    assert_eq!(badge(&operator, &job).await["state"], "active");

    // A jump does not confirm that a job is lost.
    respond_with(&app, unknown_job()).await;
    poll_after(&app, NEXT_READ).await;
    poll_after(&app, Duration::from_secs(24 * 3_600)).await;
    assert_eq!(badge(&app.operator().await, &job).await["state"], "active");
}

#[tokio::test]
async fn clock_rollback_of_days_keeps_the_poll_rate() {
    let mut app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = started(&app, &operator).await;
    respond_with(&app, status_response("active")).await;
    app.restart_with(|settings| settings.clock = at("2025-03-01T10:00:00Z")).await;
    until("a read", async || (app.upstream.reads().await == 1).then_some(())).await;
    for _ in 0..20 {
        assert_eq!(app.state().jobs.poll_due().await.unwrap(), 0);
    }
    assert_eq!(app.upstream.reads().await, 1, "one read for the jump");
    // It ages from then on, and is polled less and less often.
    for _ in 0..200 {
        app.clock().advance(NEXT_READ);
        app.state().jobs.poll_due().await.unwrap();
    }
    let reads = app.upstream.reads().await;
    assert!((20..=110).contains(&reads), "{reads} reads in twelve minutes");
    respond_with(&app, status_response("completed")).await;
    let operator = app.operator().await;
    until("the job is completed", async || {
        app.clock().advance(SLOWEST_READ);
        (badge(&operator, &job).await["state"] == "completed").then_some(())
    })
    .await;
}

#[tokio::test]
async fn poll_interval_grows_with_age_within_its_limits() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    started(&app, &operator).await;
    respond_with(&app, status_response("active")).await;
    for (seconds, pause, step) in [(120, 3, 1), (480, 10, 1), (3_000, 60, 6), (7_200, 300, 30)] {
        let before = app.upstream.reads().await;
        for _ in 0..seconds / step {
            app.clock().advance(Duration::from_secs(step as u64));
            app.state().jobs.poll_due().await.unwrap();
        }
        let reads = app.upstream.reads().await - before;
        let (least, most) = (seconds * 5 / (pause * 6 + step * 5), seconds / pause + 1);
        assert!((least - 2..=most).contains(&reads), "{reads} reads in {seconds} s, every {pause} s");
    }
}

#[tokio::test]
async fn follow_up_finished_between_two_polls_is_in_the_timeline() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = started(&app, &operator).await;
    app.upstream.on_read(status_response("completed")).await;
    poll_after(&app, NEXT_READ).await;
    app.upstream.on_follow_up(status_response("completed")).await;
    operator.follow_up(&job, "And more", &intent()).await;
    let entries = async || {
        let history = operator.job(&job).await["history"].clone();
        history.as_array().unwrap().iter().filter(|line| line["state"] == "completed").count()
    };
    until("the job is finished", async || {
        app.clock().advance(Duration::from_secs(30));
        app.state().jobs.poll_due().await.unwrap();
        (badge(&operator, &job).await["tracked"] == false).then_some(())
    })
    .await;
    assert_eq!(entries().await, 2);
}
