//! The commands for administrators: accounts, backups and checks.

use base::query_permits::QueryPermits;
use model::job::JobState;
use store::Store;
use store::jobs::list::JobFilter;
use wiremock::ResponseTemplate;

use crate::databases::is_postgres;
use crate::helpers::{Browser, Installation, KEY, PASSWORD, TestApp, json, refusing_address, views_answer};

const NOWHERE: &str = "http://127.0.0.1:9";

#[test]
fn commands_add_list_disable_and_enable_accounts() {
    let installation = Installation::new();
    for (name, role) in [("vera", "viewer"), ("olga", "operator"), ("ada", "admin")] {
        let added =
            installation.run_with_input(&["user", "add", name, "--role", role], &format!("{PASSWORD}\n"));
        assert_eq!(added.code, Some(0), "{added:?}");
    }
    let again =
        installation.run_with_input(&["user", "add", "olga", "--role", "admin"], &format!("{PASSWORD}\n"));
    assert!(again.code == Some(1) && again.stderr.contains("olga"), "{again:?}");
    assert_eq!(installation.run(&["user", "disable", "vera"]).code, Some(0));
    let list = installation.run(&["user", "list"]);
    insta::assert_snapshot!(list.stdout, @"
    ada                       admin
    olga                      operator
    vera                      viewer  disabled
    ");
    assert_eq!(installation.run(&["user", "enable", "vera"]).code, Some(0));
    assert!(!installation.run(&["user", "list"]).stdout.contains("disabled"));
    assert!(crate::helpers::is_private(&installation.path("docket.db")));
}

#[test]
fn invalid_account_command_fails_with_one_line() {
    let installation = Installation::new();
    for (arguments, input) in [
        (&["user", "disable", "nobody"][..], ""),
        (&["user", "enable", "nobody"], ""),
        (&["user", "passwd", "nobody"], PASSWORD),
        (&["user", "add", "olga", "--role", "viewer"], "short"),
        (&["user", "add", "olga", "--role", "viewer"], ""),
        (&["user", "add", "", "--role", "viewer"], PASSWORD),
        (&["user", "add", "a\nb", "--role", "viewer"], PASSWORD),
    ] {
        let finished = installation.run_with_input(arguments, input);
        assert_eq!(finished.code, Some(1), "{arguments:?}: {finished:?}");
        assert_eq!(finished.stderr.trim_end().lines().count(), 1, "{finished:?}");
    }
    assert_eq!(installation.run(&["user", "list"]).stdout, "");
}

#[tokio::test]
async fn account_command_affects_a_running_server() {
    let installation = Installation::configured(NOWHERE);
    installation.run_with_input(&["user", "add", "olga", "--role", "operator"], PASSWORD);
    let server = installation.serve(&[]);
    let address = server.address().await;
    let olga = Browser::at(&address);
    assert_eq!(olga.sign_in("olga", PASSWORD).await.status, 200);
    assert_eq!(olga.get("/p/docs/jobs").await.status, 200);
    installation.run(&["user", "disable", "olga"]);
    assert_eq!(olga.get("/p/docs/jobs").await.status, 303);
    installation.run(&["user", "enable", "olga"]);
    assert_eq!(olga.sign_in("olga", PASSWORD).await.status, 200);
    installation.run_with_input(&["user", "passwd", "olga"], "a new long password\r\n");
    assert_eq!(olga.get("/p/docs/jobs").await.status, 303);
    olga.sign_in("olga", PASSWORD).await.refused(401, "unauthenticated");
    assert_eq!(olga.sign_in("olga", "a new long password").await.status, 200);
}

#[tokio::test]
async fn backup_of_a_running_server_is_complete() {
    let app = TestApp::in_file().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let before = operator.created("before").await;
    let url = app.database_url().to_owned();
    let installation = Installation::new().set("DOCKET_DATABASE_URL", &url);
    let finished = installation.run(&["backup", "copy.db"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    operator.created("after").await;

    let copy = installation.path("copy.db");
    assert!(crate::helpers::is_private(&copy));
    let store = Store::open(&format!("sqlite://{}", copy.display())).await.unwrap();
    let permit = QueryPermits::default().acquire("").await.unwrap();
    let jobs = store.jobs(&permit, &"docs".parse().unwrap(), &JobFilter::default()).await.unwrap().jobs;
    assert_eq!(jobs.len(), 1);
    assert_eq!((jobs[0].id.as_str(), jobs[0].state), (before["id"].as_str().unwrap(), JobState::Active));
    assert_eq!(store.users().await.unwrap().len(), 4);
    store.close().await;

    let bytes = std::fs::read(&copy).unwrap();
    let again = installation.run(&["backup", "copy.db"]);
    assert!(again.code == Some(1) && again.stderr.contains("copy.db"), "{again:?}");
    assert_eq!(std::fs::read(&copy).unwrap(), bytes, "a backup was overwritten");
    assert_eq!(installation.run(&["backup", "missing/copy.db"]).code, Some(1));
}

#[tokio::test]
async fn successful_check_prints_ok_lines_and_exits_with_0() {
    let app = TestApp::start().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let installation = Installation::configured(&app.upstream.url());
    let finished = installation.run(&["check"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let lines: Vec<&str> = finished.stdout.lines().collect();
    let of_database = if is_postgres() { "database clock" } else { "disk space" };
    let things = [
        "configuration",
        "proxies",
        "database",
        "permissions",
        of_database,
        "webhooks",
        "project docs",
        "project api",
        "clock",
    ];
    assert_eq!(lines.len(), things.len(), "{lines:?}");
    for (line, thing) in lines.iter().zip(things) {
        assert!(line.starts_with(&format!("ok      {thing}: ")), "{line}");
    }
    let requests = app.upstream.requests().await;
    let paths: Vec<&str> = requests.iter().map(|request| request.url.path()).collect();
    assert_eq!(paths, ["/v1/analytics/docs/views", "/v1/analytics/api/views"]);
    assert!(
        requests.iter().all(|request| request.headers["authorization"] == format!("Bearer {KEY}").as_str())
    );
}

#[tokio::test]
async fn failed_check_prints_advice_and_exits_with_1() {
    let app = TestApp::start().await;
    let (_reserved, unreachable) = refusing_address();
    let error = json!({"error": "no"});
    for (status, url, advice) in [
        (401, app.upstream.url(), "DOCKET_API_KEY"),
        (403, app.upstream.url(), "scope"),
        (404, app.upstream.url(), "DOCKET_PROJECTS"),
        (429, app.upstream.url(), "later"),
        (200, app.upstream.url(), "DOCKET_UPSTREAM_URL"),
        (500, app.upstream.url(), "DOCKET_UPSTREAM_URL"),
        (0, unreachable, "DOCKET_UPSTREAM_URL"),
    ] {
        app.upstream.reset().await;
        if status != 0 {
            app.upstream.on_views(ResponseTemplate::new(status).set_body_json(&error)).await;
        }
        let finished = Installation::configured(&url).run(&["check"]);
        assert_eq!(finished.code, Some(1), "{status}: {finished:?}");
        let failed: Vec<&str> = finished.stdout.lines().filter(|line| line.starts_with("FAILED")).collect();
        assert_eq!(failed.len(), 2, "{status}: {finished:?}");
        assert!(failed[0].contains(advice), "{status}: {failed:?}");
        // A limit applies to the key: the second project is not requested at all.
        let wait = "asked Docket to wait";
        assert!(failed[1].contains(if status == 429 { wait } else { advice }), "{status}: {failed:?}");
    }
}

#[test]
fn check_reports_a_missing_database() {
    let installation =
        Installation::configured(NOWHERE).set("DOCKET_DATABASE_URL", "sqlite://missing/docket.db");
    let finished = installation.run(&["check"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let line = finished.stdout.lines().find(|line| line.contains("database")).unwrap();
    assert!(line.starts_with("FAILED") && line.contains("DOCKET_DATABASE_URL"), "{line}");
}

#[test]
fn check_lists_trusted_proxies_and_suspects_a_missing_one() {
    let installation = Installation::configured(NOWHERE);
    let output = |installation: &Installation| installation.run(&["check"]).stdout;
    assert!(output(&installation).contains("ok      proxies: none is trusted"), "{}", output(&installation));
    let installation = installation.set("DOCKET_PUBLIC_URL", "https://docket.example");
    let note = output(&installation);
    assert!(note.contains("NOTE    proxies:") && note.contains("DOCKET_TRUSTED_PROXIES is empty"), "{note}");
    let installation = installation.set("DOCKET_TRUSTED_PROXIES", "127.0.0.1,10.0.0.0/8");
    let output = output(&installation);
    assert!(output.contains("X-Forwarded-For is believed from 127.0.0.1/32, 10.0.0.0/8"), "{output}");
}

/// They are long, and a slow one would be logged with its whole text.
#[tokio::test]
async fn log_of_a_first_start_has_no_text_of_a_migration() {
    let installation = Installation::with_administrator(NOWHERE).set("DOCKET_LOG", "info,sqlx::query=debug");
    let server = installation.serve(&["serve"]);
    server.address().await;
    let output = server.output();
    assert!(output.contains("sqlx::query"), "{output}");
    assert!(!output.contains("CREATE TABLE"), "{output}");
}
