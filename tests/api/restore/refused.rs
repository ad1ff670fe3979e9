//! `docket restore` refuses these backups and databases, and changes nothing.

use sqlx::Connection;

use super::{installation_with, people, url};
use crate::helpers::{Browser, Installation, Ledger, PASSWORD, until};

/// Checks that a command was refused for a reason, and left every file as it was.
#[track_caller]
fn refused(installation: &Installation, arguments: &[&str], words: &[&str]) {
    let mut files = installation.files();
    let before = installation.run(&["audit", "verify"]);
    let finished = installation.run(arguments);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{finished:?}");
    assert_eq!(finished.stderr.trim_end().lines().count(), 1, "{finished:?}");
    for word in words {
        assert!(finished.stderr.contains(word), "no “{word}” in {finished:?}");
    }
    assert_eq!(installation.run(&["audit", "verify"]).stdout, before.stdout);
    assert_eq!(before.code, Some(0), "{before:?}");
    let mut now = installation.files();
    for names in [&mut files, &mut now] {
        names.retain(|name| !name.ends_with("-shm") && !name.ends_with("-wal"));
        names.sort();
    }
    assert_eq!(now, files);
}

#[tokio::test]
async fn database_in_use_is_not_replaced() {
    let installation = installation_with("early");
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    let server = installation.serve(&["serve"]);
    let browser = Browser::at(&server.address().await);
    assert_eq!(browser.sign_in("early", PASSWORD).await.status, 200);
    refused(&installation, &["restore", "copy.db"], &["another process has", "stop `docket serve`"]);
    // The refusal does not depend on heartbeats.
    installation.ledger().run("DELETE FROM instances").await;
    refused(&installation, &["restore", "copy.db"], &["another process has", "stop `docket serve`"]);
    assert_eq!(browser.get("/p/docs/jobs").await.status, 200);
    server.signal("TERM");
    server.ended().await;
    // Another program has the file open.
    let mut other = installation.ledger().connection().await;
    sqlx::raw_sql("SELECT * FROM users").execute(&mut other).await.unwrap();
    refused(&installation, &["restore", "copy.db"], &["another process has"]);
    other.close().await.unwrap();
    assert_eq!(installation.run(&["restore", "copy.db"]).code, Some(0));
}

#[tokio::test]
async fn concurrent_restore_waits_for_the_first() {
    let installation = installation_with("early");
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    let other = std::fs::File::open(installation.path("")).unwrap();
    other.lock().unwrap();
    std::fs::write(installation.path("docket.db.2026-11-23T05-49-03Z.restoring"), b"of the other").unwrap();
    for command in [&["restore", "copy.db"][..], &["restore", "--dry-run", "copy.db"]] {
        refused(&installation, command, &["another `docket restore` is using it", "try again"]);
    }
    // Closing the file is not enough: a child process of another test inherits it until its program runs.
    other.unlock().unwrap();
    assert_eq!(installation.run(&["restore", "--dry-run", "copy.db"]).code, Some(0));
    assert!(!installation.files().iter().any(|name| name.contains(".restoring")));
}

#[tokio::test]
async fn killed_server_blocks_restore_until_the_grace_time_ends() {
    let installation = installation_with("early");
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    let server = installation.serve(&["serve"]);
    server.address().await;
    let ledger = installation.ledger();
    let processes = "SELECT COUNT(*) FROM instances";
    until("it sends a heartbeat", async || (ledger.count(processes).await == 1).then_some(())).await;
    server.signal("KILL");
    server.ended().await;
    let finished = installation.run(&["restore", "copy.db"]);
    assert!(
        finished.code == Some(1) && finished.stderr.contains("did not say that it ended"),
        "{finished:?}"
    );
    ledger.run("UPDATE instances SET seen_at = seen_at - 60000").await;
    assert_eq!(installation.run(&["restore", "copy.db"]).code, Some(0));
}

#[tokio::test]
async fn incomplete_or_foreign_backup_is_refused() {
    let installation = installation_with("early");
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    let good = std::fs::read(installation.path("copy.db")).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(installation.path(name), bytes).unwrap();

    refused(&installation, &["restore", "missing.db"], &["missing.db cannot be read"]);
    refused(&installation, &["restore", "docket.db"], &["is the database itself"]);
    write("notes.txt", "These are no tables. ".repeat(1_000).as_bytes());
    refused(&installation, &["restore", "notes.txt"], &["notes.txt", "no SQLite database"]);
    write("empty.db", b"");
    refused(&installation, &["restore", "empty.db"], &["empty.db", "none of Docket"]);
    write("half.db", &good[..good.len() / 2]);
    refused(&installation, &["restore", "half.db"], &["half.db", "damaged"]);
    let mut torn = good.clone();
    let middle = torn.len() / 2;
    torn[middle..middle + 8_192].fill(0x5a);
    write("torn.db", &torn);
    refused(&installation, &["restore", "torn.db"], &["torn.db", "damaged"]);
    write("open.db", &good);
    write("open.db-wal", b"what was written last");
    refused(&installation, &["restore", "open.db"], &["no finished backup", "open.db-wal"]);

    write("orphans.db", &good);
    let orphans = Ledger::at(&url(&installation.path("orphans.db")));
    orphans.run_unchecked("INSERT INTO seen_changes VALUES ('nobody', 'docs', 1, 1, 0, 0)").await;
    refused(
        &installation,
        &["restore", "orphans.db"],
        &["1 rows of seen_changes refer to rows that do not exist"],
    );
    write("newer.db", &good);
    let newer = Ledger::at(&url(&installation.path("newer.db")));
    newer.run("UPDATE _sqlx_migrations SET version = 9999 WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)").await;
    refused(&installation, &["restore", "newer.db"], &["newer Docket", "9999"]);
    write("changed.db", &good);
    let changed = Ledger::at(&url(&installation.path("changed.db")));
    changed.run("UPDATE _sqlx_migrations SET checksum = X'00' WHERE version = 100").await;
    refused(&installation, &["restore", "changed.db"], &["could not be migrated", "100"]);
    assert_eq!(people(&installation), "early");
}

#[tokio::test]
async fn backup_with_a_changed_audit_log_needs_explicit_acceptance() {
    let installation = Installation::in_file(super::NOWHERE).set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    for name in ["ada", "bea", "cleo"] {
        installation.run_with_input(&["user", "add", name, "--role", "admin"], &format!("{PASSWORD}\n"));
    }
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    let copy = Ledger::at(&url(&installation.path("copy.db")));
    copy.drop_trigger("audit_rows_stay_as_they_are", "audit").await;
    copy.run("UPDATE audit SET subject = 'eve' WHERE number = 2").await;
    refused(&installation, &["restore", "copy.db"], &["audit log", "record 2", "--accept-broken-audit"]);
    let finished = installation.run(&["restore", "--accept-broken-audit", "copy.db"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.stdout.contains("BROKEN  audit log: record 2"), "{finished:?}");
    assert_eq!(people(&installation), "ada bea cleo");
}

#[test]
fn restore_of_a_database_that_nothing_names_is_refused() {
    let installation = Installation::in_file(super::NOWHERE).unset("DOCKET_DATABASE_URL");
    std::fs::write(installation.path("copy.db"), "").unwrap();
    let refused = installation.run(&["restore", "copy.db"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("set DOCKET_DATABASE_URL"), "{refused:?}");
    assert!(!installation.path("docket.db").exists());
}
