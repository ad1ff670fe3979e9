//! `docket restore`: a backup replaces the database, and nothing in it is sent twice. Only SQLite files, whatever database the
//! other tests use.

mod killed;
mod refused;
mod replaced;

use std::path::{Path, PathBuf};

use store::Store;

use crate::databases::TestDatabase;
use crate::helpers::{
    Browser, Finished, Installation, Ledger, New, PASSWORD, PausedUpstream, intent, is_private, until,
};

const NOWHERE: &str = "http://127.0.0.1:9";

fn url(file: &Path) -> String {
    format!("sqlite://{}", file.display())
}

/// The saved database that a restore replaced.
fn before(installation: &Installation) -> Option<PathBuf> {
    let found = installation.files().into_iter().find(|name| name.starts_with("docket.db.before-"))?;
    Some(installation.path(&found))
}

/// A folder with a database that has one account, created by `docket user add`.
fn installation_with(person: &str) -> Installation {
    let installation = Installation::in_file(NOWHERE).set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    let added =
        installation.run_with_input(&["user", "add", person, "--role", "admin"], &format!("{PASSWORD}\n"));
    assert_eq!(added.code, Some(0), "{added:?}");
    installation
}

fn people(installation: &Installation) -> String {
    let list = installation.run(&["user", "list"]);
    assert_eq!(list.code, Some(0), "{list:?}");
    list.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect::<Vec<_>>().join(" ")
}

/// Settings with this many prompts an hour: with 2 the second one waits for half an hour, with 1000 none waits.
fn serving(upstream: &str, per_hour: &str) -> Installation {
    Installation::in_file(upstream)
        .set("DOCKET_ADMIN_PASSWORD", PASSWORD)
        .set("DOCKET_AGENT_PER_HOUR", per_hour)
}

async fn batch(browser: &Browser, values: &str) {
    New::batch("Fix {{a}}", values).started(browser).await;
}

#[tokio::test]
async fn restored_queued_prompts_are_sent_only_by_a_person() {
    let upstream = PausedUpstream::start().await;
    let installation = serving(&upstream.url(), "2");
    let server = installation.serve(&["serve"]);
    let browser = server.signed_in().await;
    upstream.pause();
    batch(&browser, "one\ntwo\nthree").await;
    until("the first is being sent", async || (upstream.posts_of("Fix one") == 1).then_some(())).await;
    let backup = installation.run(&["backup", "copy.db"]);
    assert_eq!((backup.code, backup.stdout.as_str()), (Some(0), ""), "{backup:?}");
    upstream.resume();
    server.signal("TERM");
    assert!(server.ended().await.success());

    // After the backup all three were sent.
    let installation = installation.set("DOCKET_AGENT_PER_HOUR", "1000");
    installation.ledger().run("DELETE FROM queue_pauses").await;
    let server = installation.serve(&["serve"]);
    let old = server.signed_in().await;
    until("the others are sent", async || (upstream.posts_of("Fix three") == 1).then_some(())).await;
    let calls = installation.ledger().count("SELECT COUNT(*) FROM upstream_calls").await;
    server.signal("TERM");
    assert!(server.ended().await.success());

    let finished = installation.run(&["restore", "copy.db"]);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{finished:?}");
    for words in [
        "on hold 2 queued prompts",
        "unknown 1 prompts",
        "ended   1 sessions",
        "last written at 2",
        "/admin/users",
    ] {
        assert!(finished.stdout.contains(words), "no “{words}” in {finished:?}");
    }
    let ledger = installation.ledger();
    assert_eq!(ledger.count("SELECT COUNT(*) FROM upstream_calls").await, calls, "calls were removed");
    let server = installation.serve(&["serve"]);
    let address = server.address().await;
    // Old sessions are invalid, and so are resubmitted forms of their pages.
    let page = Browser::at(&address);
    page.set_cookie(&old.cookie().unwrap());
    page.create("Fix two", &intent()).await.refused(401, "unauthenticated");
    let browser = server.signed_in().await;
    batch(&browser, "four").await;
    until("the queue moves", async || (upstream.posts_of("Fix four") == 1).then_some(())).await;
    for prompt in ["Fix one", "Fix two", "Fix three"] {
        assert_eq!(upstream.posts_of(prompt), 1, "{prompt}");
    }
    assert_eq!(ledger.count("SELECT COUNT(*) FROM messages WHERE state = 'unknown'").await, 1);
    let log = browser.get("/admin/audit?action=data_restore").await.text;
    assert!(log.contains("Backup restored") && log.contains("2 prompts on hold, 1 unknown"), "{log}");
    assert_eq!(installation.run(&["audit", "verify"]).code, Some(0));

    // A user decides.
    let everyone = browser.post_json("/api/users/list", &[]).await;
    let admin = everyone["people"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(everyone["people"][0]["prompts_on_hold"], 2);
    browser.post_json("/api/users/release-prompts", &[("user", &admin)]).await;
    until("they are sent", async || (upstream.posts_of("Fix three") == 2).then_some(())).await;
    assert_eq!([upstream.posts_of("Fix one"), upstream.posts_of("Fix two")], [1, 2]);
}

#[tokio::test]
async fn replaced_database_is_saved_and_can_be_restored() {
    let installation = installation_with("early");
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    installation.run_with_input(&["user", "add", "late", "--role", "admin"], &format!("{PASSWORD}\n"));
    let finished = installation.run(&["restore", "copy.db"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(people(&installation), "early");
    let replaced = before(&installation).unwrap();
    assert!(finished.stdout.contains(replaced.file_name().unwrap().to_str().unwrap()), "{finished:?}");
    assert!(is_private(&installation.path("docket.db")) && is_private(&replaced));
    let mut files = installation.files();
    files.sort();
    assert_eq!(files.len(), 3, "{files:?}");
    Ledger::at(&url(&replaced)).is_sound().await;

    let back = installation.run(&["restore", replaced.to_str().unwrap()]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert_eq!(people(&installation), "early late");
}

#[tokio::test]
async fn replaced_database_cannot_be_served_directly() {
    let installation = installation_with("early");
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    assert_eq!(installation.run(&["restore", "copy.db"]).code, Some(0));
    let target = TestDatabase::of_file(&installation.path("target.db"));
    let file = before(&installation).unwrap();
    let other = Installation::in_file(NOWHERE).set("DOCKET_DATABASE_URL", &url(&file));
    for command in [&["serve"][..], &["user", "list"], &["copy", "--from", &url(&file), "--to", target.url()]]
    {
        let refused = other.run(command);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains("was set aside by `docket restore`"), "{refused:?}");
    }
    // Commands that only read it are allowed.
    assert_eq!(other.run(&["audit", "verify"]).code, Some(0));
    assert!(Store::open(&url(&file)).await.is_err());
}

#[tokio::test]
async fn restore_invalidates_links_and_pending_sign_ins() {
    let installation = installation_with("early");
    let ledger = installation.ledger();
    ledger
        .run(
            "INSERT INTO users (id, name, role, password_hash, created_at) VALUES ('i-1', 'ivy', 'viewer', '', 1);
             INSERT INTO users (id, name, role, password_hash, created_at) VALUES ('i-2', 'iwan', 'viewer', '', 1);
             INSERT INTO invitations (user_id, token_hash, expires_at) VALUES ('i-1', 'token', 9000000000000);
             -- They have ended by this clock, which may be ahead.
             INSERT INTO invitations (user_id, token_hash, expires_at) VALUES ('i-2', 'token-2', 1700000000000);
             INSERT INTO api_tokens SELECT 't-2', id, 'CI', 'hash-2', 'wxyz', 'jobs:read', '*', 1, 1700000000000, NULL, NULL, 0, NULL FROM users WHERE name = 'early';
             INSERT INTO sign_in_steps SELECT 'token', id, '', '/', 0, 9000000000000 FROM users WHERE name = 'early';
             INSERT INTO passkey_challenges VALUES ('token', '', '{}', 9000000000000);
             INSERT INTO setup_links VALUES ('token', 9000000000000);
             INSERT INTO api_tokens SELECT 't-1', id, 'CI', 'hash', 'wxyz', 'jobs:read', '*', 1, 9000000000000, NULL, NULL, 0, NULL FROM users WHERE name = 'early';
             INSERT INTO instances (id, started_at, seen_at, steady_since) VALUES ('another', 1, 1, 1)",
        )
        .await;
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    let new = Installation::in_file(NOWHERE);
    std::fs::copy(installation.path("copy.db"), new.path("copy.db")).unwrap();
    let finished = new.run(&["restore", "copy.db"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.stdout.contains("there was no database")
            && finished.stdout.contains("2 invite links and 2 API tokens"),
        "{finished:?}"
    );
    for rows in [
        "SELECT COUNT(*) FROM invitations WHERE expires_at > 8000000000000",
        "SELECT COUNT(*) FROM invitations WHERE token_hash LIKE 'token%'",
        "SELECT COUNT(*) FROM sign_in_steps",
        "SELECT COUNT(*) FROM passkey_challenges",
        "SELECT COUNT(*) FROM api_tokens WHERE revoked_at IS NULL",
        "SELECT COUNT(*) FROM setup_links",
        "SELECT COUNT(*) FROM instances",
    ] {
        assert_eq!(new.ledger().count(rows).await, 0, "{rows}");
    }
    assert_eq!(people(&new), "early ivy iwan");
    let mut files = new.files();
    files.sort();
    assert_eq!(files, ["copy.db", "docket.db"]);
}

#[tokio::test]
async fn damaged_database_is_replaced_and_saved() {
    let installation = installation_with("early");
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    std::fs::write(installation.path("docket.db"), "no database any more ".repeat(1_000)).unwrap();
    let finished = installation.run(&["restore", "copy.db"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(people(&installation), "early");
    let replaced = std::fs::read_to_string(before(&installation).unwrap()).unwrap();
    assert!(replaced.starts_with("no database any more"), "{replaced}");
}

#[tokio::test]
async fn dry_run_checks_a_backup_without_changes() {
    let installation = installation_with("early");
    let server = installation.serve(&["serve"]);
    server.address().await;
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    let finished = installation.run(&["restore", "--dry-run", "copy.db"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.stdout.contains("Nothing was changed"), "{finished:?}");
    let mut files = installation.files();
    files.sort();
    assert_eq!(files, ["copy.db", "docket.db", "docket.db-shm", "docket.db-wal"]);
    let browser = Browser::at(&server.address().await);
    assert_eq!(browser.sign_in("early", PASSWORD).await.status, 200);
}

#[test]
fn restore_command_refuses_postgres() {
    let installation = Installation::new()
        .set("DOCKET_DATABASE_URL", "postgres://docket:amber-lantern@db.example.com/docket");
    std::fs::write(installation.path("copy.db"), "").unwrap();
    let finished: Finished = installation.run(&["restore", "copy.db"]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""), "{finished:?}");
    assert_eq!(finished.stderr.trim_end().lines().count(), 1, "{finished:?}");
    assert!(finished.stderr.contains("pg_restore ") && finished.stderr.contains("pg_dump "), "{finished:?}");
    assert!(!finished.stderr.contains("lantern"), "{finished:?}");
}
