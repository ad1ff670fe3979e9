//! `/readyz` and the log while the database responds but does not store reliably. The tests with a disk and a file use SQLite,
//! whatever database the other tests use; the read-only database is PostgreSQL.

use store::Store;

use crate::databases;
use crate::helpers::{Browser, Installation, Ledger, PASSWORD, PausedUpstream, Served, intent, until};

/// Repeated failures are logged for debugging only.
const STILL: &str = "still: ";

fn in_file(upstream: &str) -> Installation {
    Installation::in_file(upstream)
        .set("DOCKET_ADMIN_PASSWORD", PASSWORD)
        .set("DOCKET_LOG", "info,docket=debug")
        .set("DOCKET_POLL_SECONDS", "1")
}

async fn is_ready(browser: &Browser) {
    until("it is ready", async || (browser.get("/readyz").await.status == 200).then_some(())).await;
}

async fn is_unready(browser: &Browser, reason: &str) {
    let expected = format!("{reason}\n");
    until(reason, async || {
        let ready = browser.get("/readyz").await;
        (ready.status == 503 && ready.text == expected).then_some(())
    })
    .await;
}

/// Warnings and errors in the log, except for those of single requests.
fn complaints(server: &Served) -> Vec<String> {
    let output = server.output();
    let lines = output.lines().filter(|line| {
        (line.contains(" ERROR ") || line.contains(" WARN ")) && !line.contains("docket::access")
    });
    lines.map(str::to_owned).collect()
}

/// Waits until failures have been repeated often.
async fn fails_often(server: &Served) {
    until("failures are repeated", async || (server.output().matches(STILL).count() > 5).then_some(())).await;
}

#[tokio::test]
async fn full_disk_is_unready_and_logged_once_for_each_task() {
    let upstream = PausedUpstream::start().await;
    let installation = in_file(&upstream.url());
    let server = installation.serve_within_limits(&["serve"]);
    let browser = server.signed_in().await;
    for n in 0..10 {
        browser.created(&format!("Job {n}")).await;
    }
    is_ready(&browser).await;
    let before = complaints(&server).len();
    server.may_write("0");
    is_unready(&browser, "the database cannot be written").await;
    assert_eq!(browser.get("/healthz").await.status, 200);
    fails_often(&server).await;
    let logged = complaints(&server).split_off(before);
    assert!(logged.len() < 12, "{logged:#?}");
    server.may_write("unlimited");
    is_ready(&browser).await;
    let end = "no longer: the heartbeat could not be stored";
    until("the end is logged", async || server.output().contains(end).then_some(())).await;
}

#[tokio::test]
async fn nearly_full_disk_is_unready_while_small_writes_succeed() {
    let upstream = PausedUpstream::start().await;
    let installation = in_file(&upstream.url());
    let server = installation.serve_within_limits(&["serve"]);
    let browser = server.signed_in().await;
    is_ready(&browser).await;
    // Heartbeats still fit for a while; this prompt and its index do not.
    let written = std::fs::metadata(installation.path("docket.db-wal")).unwrap().len();
    server.may_write(&(written + 100 * 1024).to_string());
    let words: String = (0..4_200).map(|n| format!("{:x} ", n * 7_919)).collect();
    browser.create(&words, &intent()).await.refused(503, "database_unavailable");
    is_unready(&browser, "the database cannot be written").await;
    let heartbeat = "SELECT MAX(seen_at) FROM instances";
    let ledger = installation.ledger();
    let before = ledger.count(heartbeat).await;
    until("a heartbeat is stored", async || (ledger.count(heartbeat).await > before).then_some(())).await;
    assert_eq!(browser.get("/readyz").await.status, 503);

    server.may_write("unlimited");
    is_ready(&browser).await;
}

#[tokio::test]
async fn moved_or_replaced_database_file_is_unready_and_logged_once() {
    let installation = in_file("http://127.0.0.1:9");
    let server = installation.serve(&["serve"]);
    let browser = server.signed_in().await;
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    let (file, away) = (installation.path("docket.db"), installation.path("away.db"));
    let before = complaints(&server).len();

    std::fs::rename(&file, &away).unwrap();
    is_unready(&browser, "the database file was moved or removed").await;
    std::fs::copy(installation.path("copy.db"), &file).unwrap();
    is_unready(&browser, "the database file was replaced by another file").await;
    until("it is repeated", async || {
        (server.output().matches("still: the database cannot be written").count() > 1).then_some(())
    })
    .await;
    // A task may need one more connection meanwhile, and cannot open the file.
    let mut logged = complaints(&server).split_off(before);
    logged.retain(|line| line.contains("the database cannot be written"));
    assert_eq!(logged.len(), 2, "{logged:#?}");

    std::fs::rename(&away, &file).unwrap();
    is_ready(&browser).await;
}

/// A PostgreSQL server of its own, with a migrated database.
async fn own_server() -> String {
    let url = format!("{}postgres", databases::start(&[]));
    Store::open(&url).await.unwrap().close().await;
    url
}

/// Makes every session read-only that is open, and every later one.
const READ_ONLY: [&str; 2] =
    ["ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"];

/// Later sessions may write. Those that are open remain read-only, as after a failover, when a name leads to the new server.
const LATER_ONES_WRITE: &str = "BEGIN; SET TRANSACTION READ WRITE;
    ALTER DATABASE postgres SET default_transaction_read_only = off; COMMIT";

#[tokio::test]
async fn read_only_postgresql_is_unready_and_logged_once() {
    let url = own_server().await;
    let installation = in_file("http://127.0.0.1:9").set("DOCKET_DATABASE_URL", &url);
    let server = installation.serve(&["serve"]);
    let browser = Browser::at(&server.address().await);
    is_ready(&browser).await;
    let ledger = Ledger::at(&url);
    for statement in READ_ONLY {
        ledger.run(statement).await;
    }
    until("it is not ready", async || (browser.get("/readyz").await.status == 503).then_some(())).await;
    assert_eq!(browser.get("/healthz").await.status, 200);
    fails_often(&server).await;
    let logged = complaints(&server);
    let read_only = logged.iter().filter(|line| line.contains("read-only")).count();
    assert!((1..20).contains(&read_only), "{logged:#?}");

    ledger.run(LATER_ONES_WRITE).await;
    is_ready(&browser).await;
}

#[tokio::test]
async fn start_waits_until_postgresql_can_be_written() {
    let url = own_server().await;
    let ledger = Ledger::at(&url);
    for statement in READ_ONLY {
        ledger.run(statement).await;
    }
    let installation = in_file("http://127.0.0.1:9").set("DOCKET_DATABASE_URL", &url);
    let server = installation.serve(&["serve"]);
    server.output_after("it is a standby, or read-only").await;
    ledger.run(LATER_ONES_WRITE).await;
    is_ready(&Browser::at(&server.address().await)).await;
}
