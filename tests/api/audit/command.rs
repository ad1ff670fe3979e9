//! `docket audit verify`, on logs written by killed or concurrent processes, and on manipulated logs.

use std::sync::Arc;

use futures::StreamExt;

use crate::helpers::{Browser, Finished, Installation, New, PASSWORD, PausedUpstream, Served, until};

fn installation_for(upstream: &str) -> Installation {
    Installation::configured(upstream).set("DOCKET_ADMIN_PASSWORD", PASSWORD)
}

async fn signed_in(server: &Served) -> Browser {
    let browser = Browser::at(&server.address().await);
    assert_eq!(browser.sign_in("admin", PASSWORD).await.status, 200);
    browser
}

/// The last link that the command printed.
fn last(finished: &Finished) -> String {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let line = finished.stdout.lines().last().unwrap();
    line.strip_prefix("last ").unwrap().trim().to_owned()
}

#[track_caller]
fn broken(finished: &Finished, words: &str) {
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let line = finished.stdout.lines().find(|line| line.starts_with("BROKEN")).unwrap();
    assert!(line.contains(words), "{line}");
    assert_eq!(finished.stderr.trim(), "docket: the audit log failed verification");
}

#[tokio::test]
async fn verify_detects_a_changed_truncated_or_rewritten_log() {
    // With a backup, which is a file.
    let installation = Installation::in_file("http://127.0.0.1:9").set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    let server = installation.serve(&["serve"]);
    let browser = signed_in(&server).await;
    let ledger = installation.ledger();
    let early = last(&installation.run(&["audit", "verify"]));
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    for _ in 0..3 {
        assert_eq!(browser.get("/admin/audit/export.csv").await.status, 200);
    }
    let good = installation.run(&["audit", "verify", "--copy", "copy.db", "--since", &early]);
    let late = last(&good);
    assert_ne!(early, late);
    assert!(good.stdout.lines().all(|line| !line.starts_with("BROKEN")), "{good:?}");

    server.signal("TERM");
    server.ended().await;
    let verify = |more: &[&str]| installation.run(&[&["audit", "verify"], more].concat());
    ledger.drop_trigger("audit_rows_stay_as_they_are", "audit").await;
    ledger.drop_trigger("audit_rows_are_removed_by_retention_only", "audit").await;
    ledger.drop_trigger("audit_ends_move_along_rows", "audit_ends").await;
    // A consistent truncation: only a copy stored elsewhere reveals it.
    ledger
        .run(
            "CREATE TABLE kept AS SELECT * FROM audit; CREATE TABLE kept_ends AS SELECT * FROM audit_ends;
             DELETE FROM audit WHERE number = (SELECT MAX(number) FROM audit);
             UPDATE audit_ends SET number = (SELECT MAX(number) FROM audit),
                 hash = (SELECT hash FROM audit ORDER BY number DESC LIMIT 1) WHERE name = 'last'",
        )
        .await;
    assert_eq!(verify(&[]).code, Some(0));
    broken(&verify(&["--since", &late]), "was cut off");
    assert_eq!(verify(&["--since", &early, "--copy", "copy.db"]).code, Some(0));
    ledger.run("DELETE FROM audit").await;
    broken(&verify(&[]), "are missing");
    ledger
        .run("UPDATE audit_ends SET number = 0, hash = (SELECT previous FROM kept WHERE number = 1);")
        .await;
    assert_eq!(verify(&[]).code, Some(0), "a log that is empty holds by itself");
    broken(&verify(&["--copy", "copy.db"]), "was cut off");
    broken(&verify(&["--since", &early]), "was cut off");

    ledger.drop_trigger("audit_rows_follow_the_last_one", "audit").await;
    ledger.drop_trigger("audit_ends_stay", "audit_ends").await;
    ledger.drop_trigger("audit_ends_are_two", "audit_ends").await;
    ledger
        .run(
            "INSERT INTO audit SELECT * FROM kept;
             DELETE FROM audit_ends; INSERT INTO audit_ends SELECT * FROM kept_ends",
        )
        .await;
    assert_eq!(last(&verify(&["--copy", "copy.db"])), late);
    ledger.run("UPDATE audit SET at = at + 1 WHERE number = 2").await;
    broken(&verify(&[]), "record 2 was changed");
}

#[test]
fn verify_without_a_log_fails_and_creates_nothing() {
    let installation = Installation::new();
    let finished = installation.run(&["audit", "verify"]);
    assert_eq!((finished.code, finished.stderr.trim_end().lines().count()), (Some(1), 1), "{finished:?}");
    assert!(installation.files().is_empty(), "{:?}", installation.files());
    assert_eq!(installation.run(&["audit", "verify", "--since", "17"]).code, Some(2));
    std::fs::write(installation.path("docket.db"), "no database").unwrap();
    let finished = installation.run(&["audit", "verify"]);
    assert_eq!((finished.code, finished.stderr.trim_end().lines().count()), (Some(1), 1), "{finished:?}");
    let help = installation.run(&["audit", "verify", "--help"]);
    assert!(help.stdout.contains("--copy") && help.stdout.contains("--since"), "{help:?}");
}

#[tokio::test]
async fn two_concurrent_writers_make_one_chain() {
    let upstream = PausedUpstream::start().await;
    let installation = installation_for(&upstream.url());
    let (first, second) = (installation.serve(&["serve"]), installation.serve(&["serve"]));
    let (one, other) = (signed_in(&first).await, signed_in(&second).await);
    let before = installation.ledger().count("SELECT MAX(number) FROM audit").await;
    let posts = (0..100).flat_map(|n| [(n, &one), (n, &other)]).map(|(n, browser)| async move {
        let response = New::job("Fix it").with("queue", "on").post(browser).await;
        assert_eq!(response.status, 200, "{n}: {}", response.text);
    });
    // Few concurrent requests: a process waits five seconds for another, and each must get its turn on a busy machine, too.
    futures::stream::iter(posts).buffer_unordered(6).collect::<Vec<()>>().await;
    let finished = installation.run(&["audit", "verify"]);
    assert!(last(&finished).starts_with(&format!("{}:", before + 200)), "{finished:?}");
}

#[tokio::test]
async fn killed_process_leaves_an_intact_chain_of_audit_events() {
    let upstream = PausedUpstream::start().await;
    let installation = installation_for(&upstream.url());
    for round in 1..=3 {
        let server = installation.serve(&["serve"]);
        let browser = Arc::new(signed_in(&server).await);
        let ledger = installation.ledger();
        let posts: Vec<_> = (0..40)
            .map(|_| {
                let browser = browser.clone();
                tokio::spawn(async move {
                    let job = New::job("Fix it").with("queue", "on");
                    _ = browser.try_send(job.request(&browser)).await;
                })
            })
            .collect();
        let written = "SELECT COUNT(*) FROM audit WHERE action = 'job_start'";
        let there = ledger.count(written).await;
        until("some are written", async || (ledger.count(written).await > there + 5).then_some(())).await;
        server.signal("KILL");
        server.ended().await;
        futures::future::join_all(posts).await;
        assert_eq!(installation.run(&["audit", "verify"]).code, Some(0), "round {round}");
        assert_eq!(ledger.count(written).await, ledger.count("SELECT COUNT(*) FROM jobs").await);
    }
}
