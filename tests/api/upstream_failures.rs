//! The upstream under failures: requested pauses, retries, circuit breakers, and stale responses during an outage.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::clock::Clock;
use clients::upstream::governor::PollPermit;
use futures::future::join_all;
use model::time::Timestamp;
use serde_json::Value;
use store::platform::budget::ScopeLimit;
use wiremock::{Request, Respond, ResponseTemplate};

use crate::helpers::{
    Browser, EmulatedUpstream, New, Settings, TestApp, intent, json, refusing_address, remote_job, until,
    views_answer,
};

fn frozen() -> Settings {
    let clock = Clock::frozen("2025-03-10T10:15:00Z".parse::<Timestamp>().unwrap());
    Settings { clock, ..Settings::default() }
}

/// As in production: the circuit breaker opens after five failures in a row.
fn with_breakers() -> Settings {
    Settings { breaks_after: 5, ..frozen() }
}

fn good_views() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(views_answer())
}

/// Responses from a list; the last one repeats.
struct InTurn {
    responses: Vec<ResponseTemplate>,
    next: AtomicUsize,
}

impl Respond for InTurn {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        let next = self.next.fetch_add(1, Ordering::SeqCst);
        self.responses[next.min(self.responses.len() - 1)].clone()
    }
}

fn in_turn(responses: impl IntoIterator<Item = ResponseTemplate>) -> InTurn {
    InTurn { responses: responses.into_iter().collect(), next: AtomicUsize::new(0) }
}

async fn views(person: &Browser, offset: &str) -> crate::helpers::TestResponse {
    person.post("/api/analytics/views", &[("project", "docs"), ("offset", offset)]).await
}

async fn budgets(person: &Browser) -> Value {
    person.post_json("/api/upstream/budgets", &[("project", "docs")]).await
}

#[tokio::test]
async fn response_429_pauses_its_scope_across_a_restart() {
    let mut app = TestApp::with(frozen()).await;
    let limit = ResponseTemplate::new(429).insert_header("retry-after", "600");
    app.upstream.on_create(limit).await;
    app.upstream.on_views(good_views()).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    assert_eq!(job["state"], "rejected");
    let message = operator.create("Fix more", &intent()).await.refused(429, "budget_spent");
    assert!(message.contains("nothing was sent") && message.contains("10:25 UTC"), "{message}");
    assert_eq!(budgets(&operator).await["creates"]["next_fits_at"], "2025-03-10T10:25:00Z");
    // The other scopes are not paused.
    assert_eq!(views(&operator, "0").await.status, 200);

    app.restart().await;
    let operator = app.operator().await;
    operator.create("Fix more", &intent()).await.refused(429, "budget_spent");
    assert_eq!(app.upstream.posts().await.len(), 1);
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    app.clock().advance(Duration::from_secs(601));
    assert_eq!(operator.created("Fix more").await["state"], "active");
}

#[tokio::test]
async fn polls_slow_down_after_the_first_429() {
    let app = TestApp::with(Settings { poll_interval: Duration::from_secs(3), ..frozen() }).await;
    let operator = app.operator().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
    app.upstream.on_read(ResponseTemplate::new(429).insert_header("retry-after", "120")).await;
    let job = operator.created("Fix typos").await;
    app.clock().advance(Duration::from_secs(4));
    let docs = "docs".parse().unwrap();
    until("the pause", async || {
        let permit = app.state().governor.acquire_poll(&docs).await.unwrap();
        matches!(permit, PollPermit::Paused(_)).then_some(())
    })
    .await;
    for _ in 0..10 {
        app.clock().advance(Duration::from_secs(10));
        assert_eq!(app.state().jobs.poll_due().await.unwrap(), 0);
    }
    assert_eq!(app.upstream.reads().await, 1);
    app.clock().advance(Duration::from_secs(30));
    until("another read", async || (app.upstream.reads().await > 1).then_some(())).await;
    assert_eq!(operator.job(&job).await["state"], "active");
}

#[tokio::test]
async fn temporary_failures_are_retried_and_each_attempt_is_counted() {
    for status in [502, 503, 504] {
        let app = TestApp::with(frozen()).await;
        let bad = ResponseTemplate::new(status);
        app.upstream.on_views(in_turn([bad.clone(), bad, good_views()])).await;
        let operator = app.operator().await;
        assert_eq!(views(&operator, "0").await.status, 200, "{status}");
        assert_eq!(app.upstream.requests().await.len(), 3, "{status}");
        assert_eq!(budgets(&operator).await["analytics"]["used"], 3, "{status}");
    }
    let app = TestApp::with(frozen()).await;
    app.upstream.on_views(in_turn([ResponseTemplate::new(500), good_views()])).await;
    let operator = app.operator().await;
    views(&operator, "0").await.refused(502, "upstream_failed");
    assert_eq!(app.upstream.requests().await.len(), 1);
}

#[tokio::test]
async fn short_pause_is_awaited_within_the_deadline() {
    let app = TestApp::start().await;
    let wait = ResponseTemplate::new(429).insert_header("retry-after", "1");
    app.upstream.on_views(in_turn([wait, good_views()])).await;
    let operator = app.operator().await;
    assert_eq!(views(&operator, "0").await.status, 200);
    assert_eq!(app.upstream.requests().await.len(), 2);
}

#[tokio::test]
async fn retries_do_not_exceed_the_budget() {
    let mut settings = frozen();
    settings.budget.analytics_per_hour = 2;
    let app = TestApp::with(settings).await;
    app.upstream.on_views(ResponseTemplate::new(503)).await;
    views(&app.operator().await, "0").await.refused(502, "upstream_failed");
    assert_eq!(app.upstream.requests().await.len(), 2);
}

#[tokio::test]
async fn repeated_failures_open_the_circuit_breaker_and_pages_still_work() {
    let app = TestApp::with(with_breakers()).await;
    app.upstream.on_views(ResponseTemplate::new(500)).await;
    let operator = app.operator().await;
    for offset in 0..5 {
        views(&operator, &offset.to_string()).await.refused(502, "upstream_failed");
    }
    let calls = app.upstream.requests().await.len();
    for offset in 5..50 {
        let message = views(&operator, &offset.to_string()).await.refused(502, "upstream_failed");
        assert!(message.contains("nothing was sent") && message.contains("10:15:12 UTC"), "{message}");
    }
    assert_eq!(app.upstream.requests().await.len(), calls, "nothing is sent while the circuit is open");
    assert_eq!(budgets(&operator).await["notice"], "failing");
    assert_eq!(budgets(&operator).await["analytics"]["used"], 5, "and nothing is counted");
    let page = operator.get("/p/docs/jobs").await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("The platform is failing"), "the page does not show it");

    app.upstream.reset().await;
    app.upstream.on_views(good_views()).await;
    app.clock().advance(Duration::from_secs(12));
    assert_eq!(views(&operator, "50").await.status, 200, "a probe closes it");
    assert_eq!(views(&operator, "51").await.status, 200);
    assert_eq!(budgets(&operator).await["notice"], json!(null));
}

#[tokio::test]
async fn prompt_waits_for_an_open_circuit_breaker() {
    let app = TestApp::with(with_breakers()).await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let operator = app.operator().await;
    for n in 0..5 {
        assert_eq!(operator.created(&format!("Try {n}")).await["state"], "unknown");
    }
    let waiting = operator.created("Fix typos").await;
    assert_eq!(waiting["state"], "queued");
    assert_eq!(budgets(&operator).await["waiting"], 1);
    assert!(operator.get("/p/docs").await.text.contains("1 prompt queued"));
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    let sent = until("it is sent", async || {
        app.clock().advance(Duration::from_secs(12));
        let job = operator.job(&waiting).await;
        (job["state"] == "active").then_some(job)
    })
    .await;
    assert_eq!(sent["prompt"], "Fix typos");
    assert_eq!(app.upstream.posts().await.len(), 1);
}

/// An outage of hours must not turn the queue into unknown outcomes.
#[tokio::test]
async fn prompts_are_probed_after_a_read_with_growing_pauses() {
    let app = TestApp::with(with_breakers()).await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    app.upstream.on_views(ResponseTemplate::new(500)).await;
    let operator = app.operator().await;
    for n in 0..5 {
        assert_eq!(operator.created(&format!("Try {n}")).await["state"], "unknown");
    }
    for n in 0..3 {
        assert_eq!(operator.created(&format!("Wait {n}")).await["state"], "queued");
    }
    let reads = async || app.upstream.requests().await.len() - app.upstream.posts().await.len();
    let ticks = || tokio::time::sleep(Duration::from_millis(2_500));
    // Nothing is sent while reads fail, and the pauses between reads grow: 12 s, 24 s, 48 s, up to 15 minutes.
    for (seconds, expected) in [(12, 1), (23, 1), (1, 2), (47, 2), (1, 3)] {
        app.clock().advance(Duration::from_secs(seconds));
        if reads().await < expected {
            until("a read", async || (reads().await == expected).then_some(())).await;
        } else {
            ticks().await;
        }
        assert_eq!(reads().await, expected, "after {seconds} s");
    }
    assert_eq!(app.upstream.posts().await.len(), 5);
    // After a successful read, one prompt is a probe.
    app.upstream.on_views(good_views()).await;
    app.clock().advance(Duration::from_secs(900));
    until("a probe", async || (app.upstream.posts().await.len() == 6).then_some(())).await;
    app.clock().advance(Duration::from_secs(60));
    ticks().await;
    assert_eq!(app.upstream.posts().await.len(), 6);
    app.upstream.accepts_jobs().await;
    app.clock().advance(Duration::from_secs(900));
    until("the rest is sent", async || (app.upstream.posts().await.len() == 8).then_some(())).await;
    let list = operator.post_json("/api/jobs/list", &[("project", "docs"), ("status", "unknown")]).await;
    assert_eq!(list["total"], 6);
}

#[tokio::test]
async fn failing_project_holds_back_no_prompt_of_another() {
    let app = TestApp::with(with_breakers()).await;
    app.upstream
        .on_create(|request: &Request| match request.url.path().contains("/docs/") {
            true => ResponseTemplate::new(500),
            false => ResponseTemplate::new(202).set_body_json(remote_job("r-1", "active")),
        })
        .await;
    let operator = app.operator().await;
    let create = async |project: &str, prompt: String| {
        New::job(&prompt).with("project", project).made(&operator).await["state"].clone()
    };
    for n in 0..5 {
        assert_eq!(create("docs", format!("Try {n}")).await, "unknown");
    }
    assert_eq!(create("docs", "Wait".to_owned()).await, "queued");
    assert_eq!(create("api", "Fix typos".to_owned()).await, "active");
    let notice = async |project: &str| {
        operator.post_json("/api/upstream/budgets", &[("project", project)]).await["notice"].clone()
    };
    assert_eq!((notice("docs").await, notice("api").await), (json!("failing"), json!(null)));
}

#[tokio::test]
async fn unsent_prompt_is_retried_and_then_rejected() {
    let (_reserved, unreachable) = refusing_address();
    let app = TestApp::with(Settings { upstream_url: Some(unreachable), ..Settings::default() }).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    assert_eq!(job["state"], "rejected");
    assert!(job["reason"].as_str().unwrap().contains("nothing was started"), "{job}");
    // A call that never left is not counted.
    assert_eq!(budgets(&operator).await["creates"]["used"], 0);
    views(&operator, "0").await.refused(502, "upstream_failed");
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM upstream_calls").await, 0);
}

#[tokio::test]
async fn stale_responses_are_served_with_their_age_during_an_outage() {
    let app = TestApp::with(frozen()).await;
    app.upstream.on_views(good_views()).await;
    let operator = app.operator().await;
    let fresh = views(&operator, "0").await.json();
    assert_eq!(fresh["stale"], false);
    app.upstream.reset().await;
    app.upstream.on_views(ResponseTemplate::new(500)).await;
    let refresh = [("project", "docs"), ("offset", "0"), ("refresh", "true")];
    let old = operator.post_json("/api/analytics/views", &refresh).await;
    assert_eq!((&old["stale"], &old["fetched_at"]), (&json!(true), &fresh["fetched_at"]));
    assert_eq!(old["views"], fresh["views"]);
    // It failed a moment ago: everyone else gets the old response at once, and nothing is sent.
    let calls = app.upstream.requests().await.len();
    for _ in 0..10 {
        assert_eq!(views(&operator, "0").await.json()["stale"], true);
    }
    assert_eq!(app.upstream.requests().await.len(), calls);
    let page = operator.get("/p/docs/analytics").await;
    assert!(page.text.contains("Showing cached data"), "the page does not show it");
}

#[tokio::test]
async fn refresh_makes_one_upstream_call() {
    let app = TestApp::with(frozen()).await;
    app.upstream.on_views(good_views()).await;
    let operator = app.operator().await;
    views(&operator, "0").await;
    views(&operator, "0").await;
    assert_eq!(app.upstream.requests().await.len(), 1);
    let refresh = [("project", "docs"), ("offset", "0"), ("refresh", "true")];
    assert_eq!(operator.post_json("/api/analytics/views", &refresh).await["stale"], false);
    assert_eq!(app.upstream.requests().await.len(), 2);
    // Without JavaScript it is a form on the page.
    let referer = format!("{}/p/docs/analytics", app.origin());
    let response = operator.submit("/api/analytics/views", &refresh, Some(&referer)).await;
    assert_eq!((response.status, response.location().trim_end_matches('?')), (302, referer.as_str()));
}

#[tokio::test]
async fn five_hundred_concurrent_identical_queries_make_one_call() {
    let app = TestApp::with(frozen()).await;
    app.upstream.on_views(good_views().set_delay(Duration::from_millis(500))).await;
    let operator = Arc::new(app.operator().await);
    let requests = (0..500).map(|_| {
        let operator = operator.clone();
        async move { views(&operator, "0").await.status }
    });
    assert!(join_all(requests).await.into_iter().all(|status| status == 200));
    assert_eq!(app.upstream.requests().await.len(), 1);
}

#[tokio::test]
async fn thousand_hourly_queries_stay_within_the_budget_across_a_restart() {
    let mut settings = frozen();
    settings.budget.analytics_per_hour = 100;
    let mut app = TestApp::with(settings).await;
    app.upstream.on_views(good_views()).await;
    let mut operator = app.operator().await;
    let mut loaded = 0;
    for query in 0..1_000_u32 {
        if query == 500 {
            app.restart().await;
            operator = app.operator().await;
        }
        // An hour and a half passes during the thousand requests.
        app.clock().advance(Duration::from_millis(5_400));
        let response = views(&operator, &query.to_string()).await;
        match response.status {
            200 => loaded += 1,
            _ => drop(response.refused(429, "budget_spent")),
        }
    }
    let calls = app.state().store.call_times(&ScopeLimit::of("analytics", 100)).await.unwrap();
    let hour = 3_600_000;
    let most = calls.iter().map(|from| calls.iter().filter(|at| (*from..from + hour).contains(at)).count());
    assert_eq!(most.max(), Some(100));
    assert_eq!((app.upstream.requests().await.len(), loaded), (calls.len(), calls.len()));
}

#[tokio::test]
async fn background_work_does_not_use_the_reserve() {
    use clients::upstream::governor::Scope;
    let mut settings = frozen();
    (settings.budget.analytics_per_hour, settings.budget.analytics_reserve) = (10, 4);
    let app = TestApp::with(settings).await;
    let governor = &app.state().governor;
    for _ in 0..6 {
        assert!(governor.acquire_in_background(&Scope::Analytics).await.is_ok());
    }
    assert!(governor.acquire_in_background(&Scope::Analytics).await.is_err());
    for _ in 0..4 {
        assert!(governor.acquire(&Scope::Analytics).await.is_ok());
    }
    assert!(governor.acquire(&Scope::Analytics).await.is_err());
}

#[tokio::test]
async fn refused_key_is_shown_to_administrators_until_accepted() {
    let app = TestApp::with(frozen()).await;
    app.upstream.on_views(ResponseTemplate::new(401).set_body_json(json!({"error": "expired"}))).await;
    let (operator, admin) = (app.operator().await, app.sign_in("ada").await);
    views(&operator, "0").await.refused(502, "upstream_failed");
    assert_eq!(budgets(&admin).await["notice"], "key_refused");
    assert_eq!(budgets(&operator).await["notice"], "failing");
    assert!(admin.get("/p/docs/jobs").await.text.contains("refuses Docket’s key"));
    assert!(admin.get("/admin/upstream").await.text.contains("refused Docket’s key"));
    app.upstream.reset().await;
    app.upstream.on_views(good_views()).await;
    views(&operator, "1").await;
    assert_eq!(budgets(&admin).await["notice"], json!(null));
}

#[tokio::test]
async fn refused_reads_pause_only_their_project() {
    let app = TestApp::with(Settings { poll_interval: Duration::from_secs(3), ..frozen() }).await;
    let forbidden = |good: ResponseTemplate| {
        move |request: &Request| match request.url.path().contains("/docs/") {
            true => ResponseTemplate::new(403).set_body_json(json!({"error": "not for this key"})),
            false => good.clone(),
        }
    };
    app.upstream
        .on_read(forbidden(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"))))
        .await;
    app.upstream.on_views(forbidden(good_views())).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    operator.created("Fix typos").await;
    New::job("Fix typos").with("project", "api").made(&operator).await;
    let requests_to = async |path: &str| {
        let requests = app.upstream.requests().await;
        requests.iter().filter(|request| request.url.path().starts_with(path)).count()
    };
    let reads = async |project: &str| requests_to(&format!("/v2/agent/{project}/job/")).await;
    app.clock().advance(Duration::from_secs(4));
    until("both are polled", async || (reads("docs").await == 1 && reads("api").await == 1).then_some(()))
        .await;
    until("more polls of the other project", async || {
        app.clock().advance(Duration::from_millis(50));
        (reads("api").await >= 4).then_some(())
    })
    .await;
    assert_eq!(reads("docs").await, 1, "polled during the pause");
    app.clock().advance(Duration::from_secs(301));
    until("a probe", async || (reads("docs").await == 2).then_some(())).await;

    views(&operator, "0").await.refused(502, "upstream_failed");
    let calls = requests_to("/v1/analytics/docs").await;
    let message = views(&operator, "1").await.refused(502, "upstream_failed");
    assert!(
        message.contains("page views of this project") && message.contains("nothing was sent"),
        "{message}"
    );
    assert_eq!(requests_to("/v1/analytics/docs").await, calls);
    assert_eq!(operator.post("/api/analytics/views", &[("project", "api")]).await.status, 200);
    assert_eq!(budgets(&operator).await["notice"], "operation_refused");
}

#[tokio::test]
async fn administrators_see_budget_queue_and_recent_calls() {
    let mut settings = frozen();
    settings.budget.agent_per_hour = 1;
    let app = TestApp::with(settings).await;
    app.upstream.accepts_jobs().await;
    app.upstream
        .on_views(ResponseTemplate::new(404).set_body_json(json!({"error": "no such project"})))
        .await;
    let admin = app.sign_in("ada").await;
    admin.created("Fix typos").await;
    views(&admin, "0").await;
    let status = admin.post_json("/api/upstream/status", &[]).await;
    let operation = |name: &str| {
        let all = status["operations"].as_array().unwrap();
        all.iter().find(|one| one["operation"] == name).unwrap().clone()
    };
    assert_eq!(operation("create")["last_success_at"], "2025-03-10T10:15:00Z");
    assert_eq!(operation("create")["last_error"], json!(null));
    let error = operation("views")["last_error"].clone();
    assert_eq!(error["at"], "2025-03-10T10:15:00Z");
    assert!(error["message"].as_str().unwrap().contains("no such project"), "{error}");
    let limits = status["limits"].as_array().unwrap();
    assert_eq!(limits.len(), 5, "analytics, and two for each of two projects");
    let creates = limits.iter().find(|one| one["operation"] == "create" && one["project"] == "Docs").unwrap();
    let meter = json!({"used": 1, "limit": 1, "next_fits_at": "2025-03-10T11:15:00Z"});
    assert_eq!((&creates["meter"], &creates["waiting"]), (&meter, &json!(0)));
    let page = admin.get("/admin/upstream").await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("no such project") && page.text.contains("1 of 1"), "{}", page.text);
    // No one else sees it.
    app.operator().await.post("/api/upstream/status", &[]).await.refused(403, "forbidden");
    assert_eq!(app.operator().await.get("/admin/upstream").await.status, 403);
}

/// The number of open connections from this process to `port`.
fn connections_to(port: u16) -> usize {
    const ESTABLISHED: &str = "01";
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let remote = format!(":{port:04X}");
    let lines = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.filter(|fields| fields[2].ends_with(&remote) && fields[3] == ESTABLISHED).count()
}

#[tokio::test]
async fn faults_leak_no_task_or_connection() {
    let emulator = EmulatedUpstream::start().await;
    let app = TestApp::with(Settings {
        timeout: Duration::from_millis(500),
        upstream_url: Some(emulator.url()),
        ..frozen()
    })
    .await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    views(&operator, "0").await;
    let before = app.tasks();
    for (n, fault) in [
        json!({"kind": "status", "code": 503}),
        json!({"kind": "too-many", "retry-after": "1"}),
        json!({"kind": "drop"}),
        json!({"kind": "accept-then-drop"}),
        json!({"kind": "cut"}),
        json!({"kind": "garbage"}),
        json!({"kind": "wrong-types"}),
        json!({"kind": "redirect"}),
        json!({"kind": "oversize"}),
        json!({"kind": "oversize", "gzip": true}),
        json!({"kind": "delay", "millis": 60_000}),
        json!({"kind": "trickle"}),
    ]
    .into_iter()
    .enumerate()
    {
        emulator.fail_all(&fault).await;
        app.lift_pauses().await;
        views(&operator, &(n + 1).to_string()).await;
        app.lift_pauses().await;
        operator.create(&format!("Under {fault}"), &intent()).await;
        app.lift_pauses().await;
        operator.follow_up(&job, &format!("Under {fault}"), &intent()).await;
    }
    let port = emulator.url().rsplit(':').next().unwrap().trim_end_matches('/').parse().unwrap();
    let left = async || (app.tasks() <= before && connections_to(port) == 0).then_some(());
    until("all is let go", left).await;
}
