//! Tracking jobs: they finish without a user's action, and the upstream gets no more polls than allowed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use base::clock::Clock;
use futures::future::join_all;
use model::time::Timestamp;
use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{
    Act, Browser, DEADLINE, KEY, RawUpstream, Settings, TestApp, intent, job_with, json, remote_job, until,
};

/// Polls every 3 seconds of a frozen clock.
fn frozen() -> Settings {
    let clock = Clock::frozen("2025-03-10T10:00:00Z".parse::<Timestamp>().unwrap());
    Settings { clock, poll_interval: Duration::from_secs(3), ..Settings::default() }
}

/// Longer than a pause of 3 seconds with its jitter.
const NEXT_READ: Duration = Duration::from_millis(3_601);

async fn started_job(app: &TestApp, operator: &Browser) -> Value {
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
    operator.created("Fix typos").await
}

async fn badge(operator: &Browser, job: &Value) -> Value {
    let jobs = job["id"].as_str().unwrap();
    operator.post_json("/api/jobs/statuses", &[("project", "docs"), ("jobs", jobs)]).await[0].clone()
}

#[tokio::test]
async fn active_job_gets_its_pull_request_by_polling() {
    let app =
        TestApp::with(Settings { poll_interval: Duration::from_millis(1), ..Settings::default() }).await;
    let operator = app.operator().await;
    let active = ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"));
    app.upstream.on_read(active).await;
    let job = started_job(&app, &operator).await;
    until("it was polled", async || (app.upstream.reads().await > 1).then_some(())).await;
    assert_eq!(badge(&operator, &job).await["state"], "active");
    let done = job_with("job_1", "completed", "prLink", json!("https://git.example/acme/docs/pull/7"));
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(done)).await;
    let done = until("the job is completed", async || {
        let badge = badge(&operator, &job).await;
        (badge["state"] == "completed").then_some(badge)
    })
    .await;
    assert_eq!(done["pr_link"], "https://git.example/acme/docs/pull/7");
    let read = operator.job(&job).await;
    assert_eq!((&read["state"], &read["changed_at"]), (&json!("completed"), &done["changed_at"]));
    assert!(read["changed_at"].as_str() > job["changed_at"].as_str());
    assert_eq!(read["history"].as_array().unwrap().last().unwrap()["state"], "completed");

    let requests = app.upstream.requests().await;
    let get = requests.iter().find(|request| request.method.as_str() == "GET").unwrap();
    assert_eq!((get.url.path(), get.url.query()), ("/v2/agent/docs/job/job_1", None));
    assert_eq!(get.headers["authorization"], format!("Bearer {KEY}").as_str());
    assert!(get.body.is_empty());
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn many_readers_cause_one_poll_per_interval() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = started_job(&app, &operator).await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"))).await;
    for expected in 0..4 {
        until("a read", async || (app.upstream.reads().await == expected).then_some(())).await;
        let looks = join_all((0..25).map(|_| badge(&operator, &job))).await;
        assert!(looks.iter().all(|badge| badge["state"] == "active"));
        operator.job(&job).await;
        operator.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await;
        assert_eq!(app.state().jobs.poll_due().await.unwrap(), 0);
        assert_eq!(app.upstream.reads().await, expected);
        app.clock().advance(NEXT_READ);
    }
}

#[tokio::test]
async fn concurrent_readers_share_one_poll() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    started_job(&app, &operator).await;
    let slow = ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"));
    app.upstream.on_read(slow.set_delay(Duration::from_millis(100))).await;
    app.clock().advance(NEXT_READ);
    join_all((0..8).map(|_| app.state().jobs.poll_due())).await;
    assert_eq!(app.upstream.reads().await, 1);
}

#[tokio::test]
async fn job_removed_upstream_is_marked_and_no_longer_polled() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = started_job(&app, &operator).await;
    app.upstream.on_read(ResponseTemplate::new(404).set_body_json(json!({"error": "no such job"}))).await;
    app.clock().advance(NEXT_READ);
    until("the first 404 is noted", async || {
        let (store, now) = (&app.state().store, app.clock().now().plus_seconds(90));
        let planned = store.due_polls(&app.state().settings.current().projects, now, now).await.unwrap();
        planned.first().and_then(|read| read.missing_since)
    })
    .await;
    app.clock().advance(Duration::from_secs(80));
    let gone = until("the job is gone", async || {
        let badge = badge(&operator, &job).await;
        (badge["state"] == "other").then_some(badge)
    })
    .await;
    assert_eq!(gone["status"], "not found");
    for _ in 0..10 {
        app.clock().advance(Duration::from_secs(3_600));
        assert_eq!(app.state().jobs.poll_due().await.unwrap(), 0);
    }
    assert_eq!(app.upstream.reads().await, 2);
    assert_eq!(app.operator().await.job(&job).await["prompt"], "Fix typos");
}

#[tokio::test]
async fn failed_poll_changes_nothing_until_the_next_one() {
    let app = TestApp::with(Settings { timeout: Duration::from_millis(300), ..frozen() }).await;
    let operator = app.operator().await;
    let job = started_job(&app, &operator).await;
    let before = operator.job(&job).await;
    let done = ResponseTemplate::new(200).set_body_json(remote_job("job_1", "completed"));
    let failures = [
        ResponseTemplate::new(500),
        ResponseTemplate::new(429).insert_header("retry-after", "3600"),
        ResponseTemplate::new(401).set_body_json(json!({"error": "expired"})),
        ResponseTemplate::new(200).set_body_string("<html>"),
        ResponseTemplate::new(200).set_body_json(json!({"status": "completed"})),
        ResponseTemplate::new(302).insert_header("location", "/elsewhere"),
        done.clone().set_delay(Duration::from_secs(5)),
    ];
    for failure in failures {
        app.upstream.reset().await;
        app.upstream.on_read(failure).await;
        app.lift_pauses().await;
        app.clock().advance(NEXT_READ);
        until("a read", async || (app.upstream.reads().await == 1).then_some(())).await;
        assert_eq!(operator.job(&job).await, before);
    }
    app.upstream.reset().await;
    app.upstream.on_read(done).await;
    until("the job is completed", async || {
        app.clock().advance(NEXT_READ);
        (operator.job(&job).await["state"] == "completed").then_some(())
    })
    .await;
}

#[tokio::test]
async fn polling_stops_for_finished_jobs_until_a_follow_up() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let job = started_job(&app, &operator).await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "completed"))).await;
    let rest = async || {
        until("reading ends", async || {
            app.clock().advance(Duration::from_secs(300));
            let before = app.upstream.reads().await;
            app.state().jobs.poll_due().await.unwrap();
            (app.upstream.reads().await == before).then_some(())
        })
        .await;
        app.clock().advance(Duration::from_secs(30 * 24 * 3_600));
        assert_eq!(app.state().jobs.poll_due().await.unwrap(), 0);
        app.upstream.reads().await
    };
    let reads = rest().await;
    assert!((1..10).contains(&reads), "{reads}");
    let operator = app.operator().await;
    assert_eq!(operator.job(&job).await["state"], "completed");

    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"))).await;
    assert_eq!(operator.follow_up(&job, "And more", &intent()).await.json()["state"], "active");
    rest().await;
    assert!(app.upstream.reads().await > reads);
    assert_eq!(app.operator().await.job(&job).await["state"], "completed");
}

/// A poll that started before a follow-up returns the state before it.
#[tokio::test]
async fn late_poll_does_not_overwrite_a_follow_up() {
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let responds = |status: &str| {
        let body = remote_job("job_1", status).to_string();
        Act::Send(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes())
    };
    let upstream = RawUpstream::start(move |n| {
        if n == 1 {
            released.lock().unwrap().recv_timeout(DEADLINE).unwrap();
            return responds("completed");
        }
        responds("active")
    });
    let app = TestApp::with(Settings { upstream_url: Some(upstream.url()), ..frozen() }).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    app.clock().advance(NEXT_READ);
    until("the read is under way", async || (upstream.requests() == 2).then_some(())).await;
    assert_eq!(operator.follow_up(&job, "And more", &intent()).await.json()["state"], "active");
    release.send(()).unwrap();
    // Polls are sequential: the next poll comes after the delayed one was handled.
    app.clock().advance(NEXT_READ);
    until("the next read", async || (upstream.requests() == 4).then_some(())).await;
    let read = operator.job(&job).await;
    assert_eq!(read["state"], "active");
    assert!(!read["history"].to_string().contains("completed"), "{}", read["history"]);
}

/// Two polls overlap: the one that started first gets its response last.
#[tokio::test]
async fn late_poll_does_not_reopen_a_completed_job() {
    let app = TestApp::with(frozen()).await;
    let operator = app.operator().await;
    let reads = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let [of_first, of_second] = reads.clone();
    let reads_of_second = of_second.clone();
    app.upstream
        .on_read(move |request: &Request| {
            let answer = |id, status| ResponseTemplate::new(200).set_body_json(remote_job(id, status));
            if request.url.path().ends_with("/job_2") {
                of_second.fetch_add(1, Ordering::SeqCst);
                return answer("job_2", "active");
            }
            match of_first.fetch_add(1, Ordering::SeqCst) {
                0 => answer("job_1", "active").set_delay(Duration::from_secs(1)),
                _ => answer("job_1", "completed"),
            }
        })
        .await;
    let job = started_job(&app, &operator).await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_2", "active"))).await;
    operator.created("Fix links").await;
    let reads = async |which: usize, count| {
        until("a read", async || (reads[which].load(Ordering::SeqCst) >= count).then_some(())).await;
    };
    app.clock().advance(NEXT_READ);
    reads(0, 1).await;
    reads(1, 1).await;
    app.clock().advance(NEXT_READ);
    app.state().jobs.poll_due().await.unwrap();
    let completed = operator.job(&job).await;
    assert_eq!((&completed["state"], reads(0, 2).await), (&json!("completed"), ()));
    // The background task polls again only when the delayed poll was handled.
    let before = reads_of_second.load(Ordering::SeqCst);
    app.clock().advance(NEXT_READ);
    reads(1, before + 1).await;
    assert_eq!(operator.job(&job).await, completed);
    assert_eq!(badge(&operator, &job).await["tracked"], false);
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn statuses_endpoint_skips_unknown_ids() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let first = operator.created("one").await;
    let second = operator.created("two").await;
    let text = |job: &Value| job["id"].as_str().unwrap().to_owned();
    let ids = format!("{}, {},01930000-0000-7000-8000-000000000000,", text(&first), text(&second));
    let badges = operator.post_json("/api/jobs/statuses", &[("project", "docs"), ("jobs", &ids)]).await;
    let badges = badges.as_array().unwrap();
    assert_eq!(badges.len(), 2);
    for job in [&first, &second] {
        let badge = badges.iter().find(|badge| badge["id"] == job["id"]).unwrap();
        assert_eq!(
            *badge,
            json!({"id": job["id"], "state": "active", "status": "active", "pr_link": null, "pr_state": null, "changed_at": job["changed_at"], "tracked": true})
        );
    }
    let none = operator.post_json("/api/jobs/statuses", &[("project", "docs"), ("jobs", "")]).await;
    assert_eq!(none, json!([]));
    let too_many = vec![text(&first); 201].join(",");
    for bad in ["not-an-id", too_many.as_str()] {
        operator
            .post("/api/jobs/statuses", &[("project", "docs"), ("jobs", bad)])
            .await
            .refused(400, "bad_input");
    }
}

#[tokio::test]
async fn open_page_detects_changes_in_its_project() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let revision = async |seen: &str| {
        let fields = [("project", "docs"), ("seen", seen)];
        let response = operator.send(operator.call("/api/jobs/statuses", &fields)).await;
        assert_eq!((response.status, response.text.as_str()), (200, "[]"));
        response.header("docket-revision").parse::<i64>().unwrap()
    };
    assert_eq!(revision("0").await, 0);
    let job = operator.created("one").await;
    let created = revision("0").await;
    assert!(created > 0);
    assert_eq!(revision("0").await, created, "nothing changed");
    let list = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    assert_eq!(list["revision"], created, "what the list was rendered from");
    let overview = operator.post_json("/api/jobs/overview", &[("project", "docs")]).await;
    assert_eq!(overview["revision"], created);

    let id = job["id"].as_str().unwrap();
    let mut seen = created;
    for (endpoint, more) in
        [("tag", ("tag", "sdk")), ("untag", ("tag", "sdk")), ("archive", ("", "")), ("unarchive", ("", ""))]
    {
        let fields = [("project", "docs"), ("jobs", id), more];
        operator.post_json(&format!("/api/jobs/{endpoint}"), &fields).await;
        let now = revision("0").await;
        assert!(now > seen, "{endpoint}");
        seen = now;
    }
    let fields = [("project", "docs"), ("job", id), ("prompt", "more"), ("intent", &intent())];
    operator.post_json("/api/jobs/message", &fields).await;
    assert!(revision("0").await > seen, "a follow-up");

    let unasked = operator.send(operator.call("/api/jobs/statuses", &[("project", "docs")])).await;
    assert_eq!(unasked.header("docket-revision"), "");
}
