//! `docket check`: what it checks besides the database and the platform.

use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use model::time::Timestamp;
use model::webhook::{ChosenEvents, WebhookKind};
use serde_json::Value;
use store::Store;
use wiremock::ResponseTemplate;

use crate::helpers::work::work_at;
use crate::helpers::{
    DEADLINE, Finished, Installation, METRICS_TOKEN, Provider, TestApp, json, refusing_address, views_answer,
};

async fn upstream() -> TestApp {
    let app = TestApp::start().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    app
}

/// The line of a check.
fn line<'a>(finished: &'a Finished, name: &str) -> &'a str {
    let found = finished
        .stdout
        .lines()
        .find(|line| line.split_once(": ").is_some_and(|(begin, _)| begin.ends_with(name)));
    found.unwrap_or_else(|| panic!("no {name}: {finished:?}"))
}

#[tokio::test]
async fn check_warns_about_world_readable_secrets() {
    let app = upstream().await;
    let installation =
        Installation::configured(&app.upstream.url()).set("DOCKET_METRICS_TOKEN_FILE", "token");
    std::fs::write(installation.path("token"), METRICS_TOKEN).unwrap();
    for (mode, begin) in [(0o644, "NOTE    permissions: "), (0o640, "ok      permissions: ")] {
        std::fs::set_permissions(installation.path(""), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::set_permissions(installation.path("token"), PermissionsExt::from_mode(mode)).unwrap();
        let finished = installation.run(&["check"]);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(line(&finished, "permissions").starts_with(begin), "{finished:?}");
        assert_eq!(
            finished.stdout.contains("token (DOCKET_METRICS_TOKEN_FILE)"),
            mode == 0o644,
            "{finished:?}"
        );
    }
}

#[tokio::test]
async fn check_detects_a_clock_that_differs_from_the_upstream() {
    let app = TestApp::start().await;
    let installation = Installation::configured(&app.upstream.url());
    let response = ResponseTemplate::new(200).set_body_json(views_answer());
    let response = response.insert_header("date", "Thu, 01 Jan 2026 00:00:00 GMT");
    app.upstream.on_views(response).await;
    let finished = installation.run(&["check"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let result = line(&finished, "  clock");
    assert!(result.starts_with("FAILED") && result.contains("ahead of the platform's"), "{result}");
}

#[tokio::test]
async fn check_connects_to_webhook_receivers_without_sending() {
    let app = upstream().await;
    let installation = Installation::configured(&app.upstream.url()).set("DOCKET_WEBHOOK_PRIVATE", "true");
    assert!(line(&installation.run(&["check"]), "webhooks").contains("there are none"));
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let (_reserved, unreachable) = refusing_address();
    let store = Store::open(&installation.database_url()).await.unwrap();
    let add = async |address: &str| {
        let (project, now) = ("docs".parse().unwrap(), Timestamp::from_millis(1));
        store
            .add_webhook(
                (&work_at(now)).into(),
                &project,
                WebhookKind::Json,
                address,
                "a few unrelated words",
                &ChosenEvents::default(),
            )
            .await
            .unwrap();
    };
    add(&format!("http://{}/x", receiver.local_addr().unwrap())).await;
    let finished = installation.run(&["check"]);
    assert_eq!(line(&finished, "webhooks"), "ok      webhooks: 1 can be connected to");
    let mut received = Vec::new();
    let mut connection = receiver.accept().unwrap().0;
    connection.set_read_timeout(Some(DEADLINE)).unwrap();
    connection.read_to_end(&mut received).unwrap();
    assert_eq!(received, b"");

    add(&format!("{unreachable}/y?token=1")).await;
    add("https://docket-receiver.invalid/").await;
    let finished = installation.run(&["check"]);
    assert_eq!(finished.code, Some(1));
    let result = line(&finished, "webhooks");
    assert!(
        result.starts_with("FAILED") && result.contains(&format!("{unreachable}/y?…: no connection")),
        "{result}"
    );
    assert!(result.contains("docket-receiver.invalid/: it"), "{result}");
    // Without permission for private networks, existing webhooks are not connected to either.
    let finished = installation.set("DOCKET_WEBHOOK_PRIVATE", "false").run(&["check"]);
    assert!(line(&finished, "webhooks").contains("Plain http is not encrypted"), "{finished:?}");
    store.close().await;
}

#[tokio::test]
async fn check_fetches_the_metadata_of_the_provider() {
    let app = upstream().await;
    let provider = Provider::start().await;
    let (_reserved, unreachable) = refusing_address();
    let issuer = provider.config().single_sign_on.unwrap().issuer;
    for (issuer, code, words) in
        [(issuer, 0, "answers with its metadata"), (unreachable, 1, "cannot be used")]
    {
        let installation = Installation::configured(&app.upstream.url())
            .set("DOCKET_OIDC_ISSUER", &issuer)
            .set("DOCKET_OIDC_CLIENT_ID", "docket")
            .set("DOCKET_OIDC_CLIENT_SECRET", "a few unrelated words")
            .set("DOCKET_OIDC_ROLES", "writers=operator");
        let finished = installation.run(&["check"]);
        assert_eq!(finished.code, Some(code), "{finished:?}");
        let result = line(&finished, "single sign-on");
        assert!(result.contains(words) && result.contains(&issuer), "{result}");
    }
}

#[tokio::test]
async fn check_detects_an_unwritable_backup_folder() {
    let app = upstream().await;
    let installation = Installation::in_file(&app.upstream.url());
    std::fs::create_dir(installation.path("backups")).unwrap();
    let installation = installation.set("DOCKET_BACKUP_DIR", "backups");
    let finished = installation.run(&["check"]);
    assert!(line(&finished, "backups").contains("MiB are free where backups is"), "{finished:?}");
    assert_eq!(std::fs::read_dir(installation.path("backups")).unwrap().count(), 0, "it leaves nothing");
    // Not even root can write there.
    let finished = installation.set("DOCKET_BACKUP_DIR", "/proc").run(&["check"]);
    assert_eq!(finished.code, Some(1));
    assert!(line(&finished, "backups").starts_with("FAILED  backups: no backup can be written to /proc"));
}

#[tokio::test]
async fn json_check_has_the_same_results() {
    let app = upstream().await;
    let installation =
        Installation::configured(&app.upstream.url()).set("DOCKET_PUBLIC_URL", "https://docket.example");
    let (lines, finished) = (installation.run(&["check"]), installation.run(&["check", "--json"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let document: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(document["ok"], json!(true));
    let checks = document["checks"].as_array().unwrap();
    assert_eq!(checks.len(), lines.stdout.lines().count());
    for (check, line) in checks.iter().zip(lines.stdout.lines()) {
        let outcome = match check["outcome"].as_str().unwrap() {
            "ok" => "ok     ",
            "warning" => "NOTE   ",
            "failed" => "FAILED ",
            other => panic!("{other}"),
        };
        assert!(line.starts_with(&format!("{outcome} {}: ", check["name"].as_str().unwrap())), "{line}");
        assert!(!check["sentence"].as_str().unwrap().is_empty());
    }
    assert!(checks.iter().any(|check| check["outcome"] == json!("warning")), "{checks:?}");

    let failed = Installation::configured("http://127.0.0.1:9").run(&["check", "--json"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let document: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!(document["ok"], json!(false));
    // Without a readable configuration there is nothing to check.
    let wrong = Installation::new().run(&["check", "--json"]);
    assert!(wrong.code == Some(2) && wrong.stdout.is_empty(), "{wrong:?}");
}
