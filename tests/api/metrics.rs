//! `/metrics`: its content, access to it, and its cost.

mod documents;
mod exposition;
mod scraped;

use std::collections::BTreeSet;
use std::time::Duration;

use base::config::{ApiKey, Budget, CodeHostsConfig, GitHubAccess, GitHubConfig};
use reqwest::Method;
use secrecy::SecretString;
use wiremock::ResponseTemplate;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{
    Archive, Browser, Installation, METRICS_TOKEN, New, Settings, TestApp, TestResponse, days, rows,
    statements_of, until,
};
use exposition::{Exposition, read};

/// Every family with its type.
const FAMILIES: [(&str, &str); 45] = [
    ("docket_background_task_failures_total", "counter"),
    ("docket_background_task_last_success_timestamp_seconds", "gauge"),
    ("docket_background_task_up", "gauge"),
    ("docket_build_info", "gauge"),
    ("docket_clock_jump_seconds", "gauge"),
    ("docket_code_host_failures", "gauge"),
    ("docket_code_host_requests_left", "gauge"),
    ("docket_config_last_reload_success_timestamp_seconds", "gauge"),
    ("docket_config_last_reload_successful", "gauge"),
    ("docket_database_acquire_duration_seconds", "histogram"),
    ("docket_database_connections", "gauge"),
    ("docket_database_statement_duration_seconds", "histogram"),
    ("docket_database_up", "gauge"),
    ("docket_database_writable", "gauge"),
    ("docket_deliveries_total", "counter"),
    ("docket_history_days", "gauge"),
    ("docket_history_lag_seconds", "gauge"),
    ("docket_http_request_duration_seconds", "histogram"),
    ("docket_http_requests_total", "counter"),
    ("docket_jobs", "gauge"),
    ("docket_jobs_tracked", "gauge"),
    ("docket_log_lines_dropped_total", "counter"),
    ("docket_poll_overdue_seconds", "gauge"),
    ("docket_pull_requests", "gauge"),
    ("docket_queue_oldest_seconds", "gauge"),
    ("docket_queue_prompts", "gauge"),
    ("docket_retention_failures_total", "counter"),
    ("docket_sign_ins_total", "counter"),
    ("docket_trace_spans_total", "counter"),
    ("docket_upstream_budget_limit", "gauge"),
    ("docket_upstream_budget_used", "gauge"),
    ("docket_upstream_circuit_open", "gauge"),
    ("docket_upstream_credits_used_up", "gauge"),
    ("docket_upstream_key_refused", "gauge"),
    ("docket_upstream_operation_refused", "gauge"),
    ("docket_upstream_request_duration_seconds", "histogram"),
    ("docket_upstream_requests_total", "counter"),
    ("docket_webhook_attempts_total", "counter"),
    ("docket_webhook_events_waiting", "gauge"),
    ("process_cpu_seconds_total", "counter"),
    ("process_max_fds", "gauge"),
    ("process_open_fds", "gauge"),
    ("process_resident_memory_bytes", "gauge"),
    ("process_start_time_seconds", "gauge"),
    ("process_virtual_memory_bytes", "gauge"),
];

fn readable(settings: Settings) -> Settings {
    let token = ApiKey::parse("github_pat_1").unwrap();
    let access = GitHubAccess::Token { token, file: None };
    // Nothing listens there.
    let github = GitHubConfig { url: "http://127.0.0.1:9".parse().unwrap(), access };
    let code_hosts = CodeHostsConfig { github: Some(github), gitlab: None };
    Settings { metrics_token: Some(SecretString::from(METRICS_TOKEN)), code_hosts, ..settings }
}

async fn fetch(app: &TestApp, accept: &str) -> TestResponse {
    let anonymous = app.anonymous();
    let request = anonymous.request(Method::GET, "/metrics").bearer_auth(METRICS_TOKEN);
    anonymous.send(request.header("accept", accept)).await
}

async fn scrape(app: &TestApp) -> Exposition {
    let response = fetch(app, "text/plain").await;
    assert_eq!(
        (response.status, response.header("content-type")),
        (200, "text/plain; version=0.0.4; charset=utf-8")
    );
    read(&response.text).unwrap_or_else(|fault| panic!("{fault}\n\n{}", response.text))
}

#[tokio::test]
async fn metrics_count_finished_and_waiting_work() {
    let settings = readable(at(NOON));
    let budget = Budget { agent_per_hour: 1, ..settings.budget };
    let app = TestApp::with(Settings { budget, ..settings }).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-10", "2026-11-19") {
        archive.write(day, rows(&[("/quickstart", 40, 20)])).await;
    }
    app.upstream.accepts_jobs().await;
    let operator = app.sign_in_with_password("olga").await;
    app.anonymous().sign_in("olga", "some other words entirely").await;
    assert_eq!(operator.created("Fix typos").await["state"], "active");
    let more = New::job("Fix more typos").with("queue", "on");
    assert_eq!(more.made(&operator).await["state"], "queued");
    app.clock().advance(Duration::from_secs(60));
    let metrics = scrape(&app).await;

    let families: Vec<(&str, &str)> =
        metrics.families.iter().map(|(name, kind)| (name.as_str(), kind.as_str())).collect();
    assert_eq!(families, FAMILIES);
    let docs = ("project", "docs");
    for (name, labels, value) in [
        ("docket_jobs", &[docs, ("state", "active")][..], 1.0),
        ("docket_jobs", &[docs, ("state", "queued")], 1.0),
        ("docket_jobs", &[("project", "api"), ("state", "active")], 0.0),
        ("docket_jobs_tracked", &[docs], 1.0),
        ("docket_queue_prompts", &[docs], 1.0),
        ("docket_queue_oldest_seconds", &[docs], 60.0),
        ("docket_queue_oldest_seconds", &[("project", "api")], 0.0),
        ("docket_deliveries_total", &[("outcome", "accepted")], 1.0),
        ("docket_deliveries_total", &[("outcome", "unknown")], 0.0),
        ("docket_upstream_requests_total", &[("operation", "create"), ("outcome", "answered")], 1.0),
        ("docket_upstream_request_duration_seconds_count", &[("operation", "create")], 1.0),
        ("docket_upstream_budget_used", &[docs, ("scope", "creates")], 1.0),
        ("docket_upstream_budget_used", &[docs, ("scope", "follow_ups")], 0.0),
        ("docket_upstream_budget_limit", &[docs, ("scope", "creates")], 1.0),
        ("docket_upstream_budget_limit", &[("scope", "analytics")], 1_000.0),
        ("docket_sign_ins_total", &[("means", "password"), ("outcome", "succeeded")], 1.0),
        ("docket_sign_ins_total", &[("means", "password"), ("outcome", "refused")], 1.0),
        ("docket_history_days", &[docs, ("state", "present")], 10.0),
        ("docket_history_days", &[docs, ("state", "missing")], 80.0),
        // The 19th ended at midnight; it is a minute past noon of the 21st.
        ("docket_history_lag_seconds", &[docs], 129_660.0),
        ("docket_history_lag_seconds", &[("project", "api")], 7_776_000.0),
        ("docket_http_requests_total", &[("route", "/api/jobs/create"), ("status", "2xx")], 2.0),
        ("docket_http_requests_total", &[("route", "/api/session/login"), ("status", "4xx")], 1.0),
        ("docket_http_request_duration_seconds_count", &[("route", "/api/jobs/create")], 2.0),
        ("docket_background_task_up", &[("task", "Sending prompts")], 1.0),
        ("docket_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0),
        ("docket_database_up", &[], 1.0),
        ("docket_database_writable", &[], 1.0),
        ("docket_clock_jump_seconds", &[], 0.0),
        ("docket_upstream_key_refused", &[], 0.0),
    ] {
        assert_eq!(metrics.value(name, labels), value, "{name} {labels:?}");
    }
}

#[tokio::test]
async fn upstream_and_webhook_failures_are_counted() {
    let app = TestApp::with(readable(Settings::default())).await;
    let operator = app.operator().await;
    app.upstream.on_create(ResponseTemplate::new(401)).await;
    operator.created("Fix typos").await;
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(503)).await;
    operator.created("Fix more typos").await;
    let metrics = scrape(&app).await;
    for (name, labels) in [
        ("docket_upstream_key_refused", &[][..]),
        ("docket_upstream_requests_total", &[("operation", "create"), ("outcome", "refused")]),
        ("docket_upstream_requests_total", &[("operation", "create"), ("outcome", "failed")]),
        ("docket_deliveries_total", &[("outcome", "rejected")]),
        ("docket_deliveries_total", &[("outcome", "unknown")]),
    ] {
        assert_eq!(metrics.value(name, labels), 1.0, "{name} {labels:?}");
    }
}

#[tokio::test]
async fn requests_cannot_create_labels() {
    let app = TestApp::with(readable(at(NOON))).await;
    let operator = app.operator().await;
    let load = async |made_up: &str| {
        for path in [
            format!("/{made_up}"),
            format!("/p/{made_up}/jobs"),
            format!("/p/docs/jobs/{made_up}"),
            format!("/p/docs/jobs?q={made_up}"),
            format!("/api/{made_up}"),
            format!("/pkg/{made_up}/docket.js"),
        ] {
            operator.get(&path).await;
        }
        for method in ["PUT", made_up] {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            operator.send(operator.request(method, "/p/docs")).await;
        }
        app.anonymous().sign_in(made_up, "a few unrelated words").await;
    };
    load("zebra0").await;
    scrape(&app).await;
    app.clock().advance(Duration::from_secs(5));
    let before = scrape(&app).await.series();
    for n in 1..9 {
        load(&format!("zebra{n}")).await;
    }
    app.clock().advance(Duration::from_secs(5));
    let after = scrape(&app).await.series();
    assert_eq!(after.difference(&before).collect::<Vec<_>>(), Vec::<&_>::new());
    let values: BTreeSet<&String> = after.iter().flat_map(|(_, labels)| labels.values()).collect();
    assert!(values.contains(&"none".to_owned()) && values.contains(&"/p/{project}/jobs".to_owned()));
    assert!(!values.iter().any(|value| value.to_lowercase().contains("zebra")), "{values:?}");
}

#[tokio::test]
async fn metrics_require_the_configured_token() {
    let without = TestApp::start().await;
    for person in [without.anonymous(), without.sign_in("ada").await] {
        let request = person.request(Method::GET, "/metrics").bearer_auth("");
        assert_eq!(person.send(request).await.status, 404);
    }
    let app = TestApp::with(readable(Settings::default())).await;
    let person = app.sign_in("ada").await;
    let half = &METRICS_TOKEN[..METRICS_TOKEN.len() - 1];
    for header in ["", "Bearer ", &format!("Bearer {half}"), &format!("Basic {half}"), "Bearer x"] {
        let request = person.request(Method::GET, "/metrics?token=x").header("authorization", header);
        let response = person.send(request).await;
        assert_eq!((response.status, response.header("www-authenticate")), (401, "Bearer"), "{header}");
        assert!(!response.text.contains("docket_"), "{}", response.text);
    }
    assert_eq!(fetch(&app, "*/*").await.status, 200);
    let newer = fetch(&app, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5").await;
    assert!(newer.header("content-type").starts_with("application/openmetrics-text"));
    assert!(newer.text.ends_with("\n# EOF\n"));
}

#[tokio::test]
async fn scrape_takes_one_statement_every_five_seconds() {
    let app = TestApp::with(readable(at(NOON))).await;
    let statements = async || statements_of(fetch(&app, "text/plain").await.header("x-request-id"));
    assert_eq!(statements().await, 1);
    assert_eq!(statements().await, 0);
    app.clock().advance(Duration::from_secs(5));
    assert_eq!(statements().await, 1);
    let metrics = scrape(&app).await;
    assert_eq!(metrics.value("docket_database_statement_duration_seconds_count", &[]), 2.0);
}

#[tokio::test]
async fn metrics_without_a_database_report_the_outage() {
    let app = TestApp::with(readable(Settings::default())).await;
    assert_eq!(app.anonymous().get("/readyz").await.status, 200);
    app.state().store.close().await;
    let metrics = scrape(&app).await;
    assert_eq!(metrics.value("docket_database_up", &[]), 0.0);
    assert!(metrics.value("process_open_fds", &[]) > 0.0);
    assert!(!metrics.families.contains_key("docket_jobs"));
}

#[tokio::test]
async fn metrics_listener_serves_only_metrics_without_a_token() {
    let installation = Installation::configured("http://127.0.0.1:9").set("DOCKET_METRICS_ADDR", "0");
    let server = installation.serve(&["serve"]);
    let metrics = server.output_after("listening for metrics address=").await;
    assert!(metrics.starts_with("127.0.0.1:"), "{metrics}");
    let scraper = Browser::at(&format!("http://{metrics}"));
    // The process accepts requests once it listens.
    let main = Browser::at(&server.address().await);
    until("it is ready", async || (main.get("/readyz").await.status == 200).then_some(())).await;
    let response = scraper.get("/metrics").await;
    assert_eq!(response.status, 200);
    assert_eq!(read(&response.text).unwrap().value("docket_database_up", &[]), 1.0);
    assert!(
        response.header("content-security-policy").contains("script-src 'none'"),
        "{:?}",
        response.headers
    );
    for path in ["/", "/healthz", "/login", "/api/session/login"] {
        assert_eq!(scraper.get(path).await.status, 404, "{path}");
    }
    assert_eq!(main.get("/metrics").await.status, 404);
    server.signal("TERM");
    assert!(server.ended().await.success());
}

#[test]
fn weak_or_unreadable_metrics_token_is_refused_at_start() {
    let installation = Installation::configured("http://127.0.0.1:9");
    std::fs::write(installation.path("short"), "short\n").unwrap();
    for (file, why) in [("short", "at least 24 characters"), ("missing", "cannot be read")] {
        let installation = Installation::configured("http://127.0.0.1:9")
            .set("DOCKET_METRICS_TOKEN_FILE", &installation.path(file).display().to_string());
        let ended = installation.run(&["serve"]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(
            ended.stderr.contains("DOCKET_METRICS_TOKEN_FILE") && ended.stderr.contains(why),
            "{ended:?}"
        );
    }
}
