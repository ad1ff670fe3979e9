//! Health checks, and the pages during an outage.

use std::time::Duration;

use base::clock::Clock;
use base::config::AuditConfig;
use service::audit::AuditMaintenance;
use tokio_util::sync::CancellationToken;
use wiremock::ResponseTemplate;

use crate::helpers::work::work;
use crate::helpers::{Settings, TestApp, intent, json, until};

#[tokio::test]
async fn probes_need_no_session_and_reveal_nothing_else() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    for path in ["/healthz", "/readyz"] {
        let response = anonymous.get(path).await;
        assert_eq!(response.status, 200, "{path}");
        // For each background task a name and two words, and nothing about its data.
        assert!(response.text.lines().all(|line| line.len() < 90), "{path}: {}", response.text);
        assert!(response.text.lines().count() < 8, "{path}: {}", response.text);
        assert_eq!(response.header("set-cookie"), "", "{path}");
    }
}

#[tokio::test]
async fn process_without_a_database_is_alive_but_not_ready() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    app.state().store.close().await;
    assert_eq!(anonymous.get("/healthz").await.status, 200);
    assert_eq!(anonymous.get("/readyz").await.status, 503);
}

#[tokio::test]
async fn requests_without_a_database_get_503_and_a_message() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let (operator, anonymous) = (app.operator().await, app.anonymous());
    app.state().store.close().await;
    let mut messages = vec![
        anonymous.sign_in("olga", "whatever it is").await.refused(503, "database_unavailable"),
        operator.create("Fix typos", &intent()).await.refused(503, "database_unavailable"),
    ];
    for endpoint in ["/api/jobs/list", "/api/analytics/views", "/api/session/current", "/api/session/logout"]
    {
        messages
            .push(operator.post(endpoint, &[("project", "docs")]).await.refused(503, "database_unavailable"));
    }
    for message in messages {
        for inside in ["sql", "SQL", "pool", "docket.db"] {
            assert!(!message.contains(inside), "{message}");
        }
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
    let page = operator.get("/p/docs/jobs").await;
    assert_eq!(page.status, 503);
    assert!(!page.text.is_empty(), "an empty page");
}

/// All background tasks, each with a change that makes it panic.
const TASKS: [(&str, &str); 9] = [
    ("heartbeat", "Heartbeat"),
    ("delivery", "Sending prompts"),
    ("polling", "Checking jobs"),
    ("history", "Fetching page views"),
    ("webhooks", "Sending webhooks"),
    ("pull requests", "Checking pull requests"),
    ("audit", "Maintaining the audit log"),
    ("refusals", "Recording refused requests"),
    ("retention", "Removing old data"),
];

#[tokio::test]
async fn panicked_background_task_is_reported_and_restarted() {
    let app = TestApp::start().await;
    let (state, stop) = (app.state(), CancellationToken::new());
    let (history, until_then) = (state.history.clone(), stop.clone());
    let maintenance = AuditMaintenance::new(
        state.store.clone(),
        state.clock_check.clone(),
        state.tasks.clone(),
        AuditConfig { days: 0 },
        work(),
    );
    for (point, _) in TASKS {
        state.tasks.break_at(point);
    }
    let refusals = state.refusals.clone();
    let (retention, tasks) = (state.retention.clone(), state.tasks.clone());
    let others = tokio::spawn(async move {
        tokio::join!(
            history.run(until_then.clone()),
            maintenance.run(until_then.clone()),
            refusals.run(until_then.clone()),
            retention.run(&tasks, &until_then)
        );
    });
    let (admin, anonymous) = (app.sign_in("ada").await, app.anonymous());
    let failed = until("each has failed", async || {
        let status = admin.post_json("/api/upstream/status", &[]).await;
        let tasks = status["tasks"].as_array().unwrap().clone();
        (tasks.iter().filter(|task| task["failures"] == 1).count() == TASKS.len()).then_some(tasks)
    })
    .await;
    for ((_, name), task) in TASKS.iter().zip(&failed) {
        assert_eq!(task["name"], *name);
        assert!(task["last_failure_at"].is_string(), "{task}");
    }
    let ready = until("each runs again", async || {
        let response = anonymous.get("/readyz").await;
        let succeeded = response.text.matches("running, last success 2").count() == TASKS.len();
        (response.status == 200 && succeeded).then_some(response.text)
    })
    .await;
    assert!(ready.starts_with("ready\n"), "{ready}");
    let page = admin.get("/admin/upstream").await.text;
    for (_, name) in TASKS {
        assert!(page.contains(name) && ready.contains(name), "{name}");
    }
    // The tasks continue their work.
    app.upstream.accepts_jobs().await;
    assert_eq!(app.operator().await.created("Fix typos").await["state"], "active");
    stop.cancel();
    others.await.unwrap();
}

#[tokio::test]
async fn stopped_task_makes_the_process_unready() {
    let app = TestApp::start().await;
    app.state().tasks.break_at("polling");
    let response = until("it is not ready", async || {
        let response = app.anonymous().get("/readyz").await;
        (response.status == 503).then_some(response)
    })
    .await;
    assert!(response.text.contains("a background task failed\n"), "{}", response.text);
    assert!(response.text.contains("Checking jobs: failed"), "{}", response.text);
}

#[tokio::test]
async fn watchdog_is_fed_while_the_database_fails_and_readiness_ends() {
    let clock = Clock::frozen("2025-03-10T10:00:00Z".parse().unwrap());
    let app = TestApp::with(Settings { clock, ..Settings::default() }).await;
    app.state().store.close().await;
    app.clock().advance(Duration::from_secs(3_600));
    let tasks = &app.state().tasks;
    until("no task is blocked", async || tasks.blocked().is_none().then_some(())).await;
    assert!(tasks.all().iter().any(|task| !task.is_well));
    let anonymous = app.anonymous();
    assert_eq!((anonymous.get("/readyz").await.status, anonymous.get("/healthz").await.status), (503, 200));
}

#[tokio::test]
async fn slow_platform_does_not_make_the_process_unready() {
    let clock = Clock::frozen("2025-03-10T10:00:00Z".parse().unwrap());
    let timeout = Duration::from_secs(100);
    let settings = Settings { clock, timeout, poll_interval: Duration::from_secs(1), ..Settings::default() };
    let app = TestApp::with(settings).await;
    app.upstream.accepts_jobs().await;
    let slow = || ResponseTemplate::new(200).set_delay(timeout);
    app.upstream.on_read(slow()).await;
    app.upstream.on_views(slow()).await;
    app.operator().await.created("Fix typos").await;
    app.clock().advance(Duration::from_secs(3));
    let (history, stop) = (app.state().history.clone(), CancellationToken::new());
    let until_then = stop.clone();
    let history = tokio::spawn(async move { history.run(until_then).await });
    until("both are requested", async || {
        let requests = app.upstream.requests().await;
        let reads = requests.iter().filter(|request| request.method.as_str() == "GET").count();
        (reads == 2).then_some(())
    })
    .await;
    // Longer than a healthy task may be without a success.
    app.clock().advance(Duration::from_secs(301));
    let ready = app.anonymous().get("/readyz").await.text;
    for name in ["Checking jobs", "Fetching page views"] {
        assert!(ready.contains(&format!("{name}: running")), "{ready}");
    }
    stop.cancel();
    history.await.unwrap();
}

#[tokio::test]
async fn panicked_delivery_is_unknown_at_once() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.state().tasks.break_at("one delivery");
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    assert_eq!(job["state"], json!("unknown"));
    assert!(job["reason"].as_str().unwrap().contains("may or may not have accepted it"), "{job}");
    assert_eq!(app.upstream.posts().await.len(), 1);
    assert_eq!(operator.created("Another").await["state"], "active");
}
