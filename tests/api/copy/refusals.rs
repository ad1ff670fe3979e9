//! What `docket copy` refuses before it writes anything.

use store::Store;

use super::contents::contents;
use super::copy;
use crate::databases::TestDatabase;
use crate::helpers::{Finished, Installation, Ledger, until};

/// A database of each kind, migrated, with one account.
async fn both(folder: &tempfile::TempDir) -> [TestDatabase; 2] {
    let both = [TestDatabase::of_file(&folder.path().join("docket.db")), TestDatabase::of_server("").await];
    for database in &both {
        Store::open(database.url()).await.unwrap().close().await;
        let person = "INSERT INTO users (id, name, role, password_hash, created_at) VALUES ('u', 'ada', 'admin', '', 1)";
        Ledger::at(database.url()).run(person).await;
    }
    both
}

/// A target that is created only by a copy.
fn missing(folder: &tempfile::TempDir) -> String {
    format!("sqlite://{}", folder.path().join("new.db").display())
}

#[track_caller]
fn refused(finished: &Finished, code: i32, words: &[&str]) {
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(code), ""), "{finished:?}");
    assert_eq!(finished.stderr.trim_end().lines().count(), 1, "{finished:?}");
    for word in words {
        assert!(finished.stderr.contains(word), "no “{word}” in {finished:?}");
    }
}

#[tokio::test]
async fn copy_refuses_a_target_that_is_not_empty() {
    let folder = tempfile::tempdir().unwrap();
    let source = TestDatabase::of_file(&folder.path().join("source.db"));
    Store::open(source.url()).await.unwrap().close().await;
    for target in both(&folder).await {
        // A database of an older version is not migrated either.
        let ledger = Ledger::at(target.url());
        ledger.run("DELETE FROM _sqlx_migrations WHERE version <> 100").await;
        ledger.run("UPDATE _sqlx_migrations SET version = 45").await;
        let before = contents(target.url()).await;
        refused(&copy(source.url(), target.url()), 1, &["not empty", "users"]);
        assert_eq!(contents(target.url()).await, before);
        assert_eq!(ledger.count("SELECT MAX(version) FROM _sqlx_migrations").await, 45);
    }
    // A database of another program.
    let other = TestDatabase::of_server("").await;
    Ledger::at(other.url())
        .run("CREATE TABLE invoices (id BIGINT PRIMARY KEY); INSERT INTO invoices VALUES (1)")
        .await;
    refused(&copy(source.url(), other.url()), 1, &["not empty", "invoices"]);
    assert_eq!(contents(other.url()).await.len(), 1, "tables were created");
}

#[tokio::test]
async fn copy_refuses_identical_source_and_target() {
    let folder = tempfile::tempdir().unwrap();
    let [file, server] = both(&folder).await;
    std::os::unix::fs::symlink(folder.path().join("docket.db"), folder.path().join("link.db")).unwrap();
    let link = format!("sqlite://{}", folder.path().join("link.db").display());
    let longer = server.url().replace("postgres://", "postgresql://").replace("docket@", "other@");
    for (from, to) in [(file.url(), file.url()), (file.url(), &link), (server.url(), &longer)] {
        let before = contents(from).await;
        refused(&copy(from, to), 2, &["the same database"]);
        assert_eq!(contents(from).await, before);
    }
}

#[test]
fn invalid_database_url_is_refused_without_its_password() {
    let good = "sqlite://docket.db";
    for (from, to, option) in [
        ("mysql://docket:amber-lantern@db.example/docket", good, "--from"),
        (good, "postgress://docket:amber-lantern@db.example/docket", "--to"),
        (good, "postgres://docket:amber-lantern@db.example", "--to"),
        ("docket.db", good, "--from"),
    ] {
        let installation = Installation::new();
        let finished = installation.run(&["copy", "--from", from, "--to", to]);
        refused(&finished, 2, &[option, "sqlite://docket.db"]);
        assert!(!finished.stderr.contains("lantern") && installation.files().is_empty(), "{finished:?}");
    }
}

#[tokio::test]
async fn unreachable_source_creates_no_target() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = format!("sqlite://{}", folder.path().join("nowhere.db").display());
    refused(&copy(&nowhere, &missing(&folder)), 1, &["nowhere.db"]);
    refused(
        &copy("postgres://docket:lantern@%2Fno-such-folder/docket", &missing(&folder)),
        1,
        &["did not answer"],
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn source_of_another_version_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    for source in both(&folder).await {
        let ledger = Ledger::at(source.url());
        ledger.run("UPDATE _sqlx_migrations SET version = 9999 WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)").await;
        refused(&copy(source.url(), &missing(&folder)), 1, &["newer Docket", "9999"]);
        ledger.run("DELETE FROM _sqlx_migrations WHERE version <> 9999").await;
        ledger.run("UPDATE _sqlx_migrations SET version = 7").await;
        refused(&copy(source.url(), &missing(&folder)), 1, &["older Docket", "docket user list"]);
        ledger.run("DROP TABLE _sqlx_migrations").await;
        refused(&copy(source.url(), &missing(&folder)), 1, &["no database of Docket"]);
    }
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "These are no tables. ".repeat(100)).unwrap();
    refused(&copy(&format!("sqlite://{}", text.display()), &missing(&folder)), 1, &["not a database"]);
    assert!(!folder.path().join("new.db").exists());
}

#[tokio::test]
async fn source_in_use_is_refused() {
    let installation =
        Installation::in_file("http://127.0.0.1:9").set("DOCKET_ADMIN_PASSWORD", "amber lantern fjord");
    let server = installation.serve(&["serve"]);
    server.address().await;
    let processes = "SELECT COUNT(*) FROM instances";
    until("its heartbeat is stored", async || {
        (installation.ledger().count(processes).await == 1).then_some(())
    })
    .await;
    let target = TestDatabase::of_server("").await;
    let from = format!("sqlite://{}", installation.path("docket.db").display());
    refused(&copy(&from, target.url()), 1, &["docket serve", "stop it"]);
    server.signal("TERM");
    server.ended().await;
    let finished = copy(&from, target.url());
    assert_eq!(finished.code, Some(0), "{finished:?}");
    // On a server, the copy compares times with the server's clock.
    Ledger::at(target.url())
        .run("INSERT INTO instances (id, started_at, seen_at, steady_since) VALUES ('i-1', 1, CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT), 1)")
        .await;
    let folder = tempfile::tempdir().unwrap();
    refused(&copy(target.url(), &missing(&folder)), 1, &["docket serve", "stop it"]);
    Ledger::at(target.url()).run("UPDATE instances SET seen_at = seen_at - 60000").await;
    let finished = copy(target.url(), &missing(&folder));
    assert_eq!(finished.code, Some(0), "{finished:?}");
}
