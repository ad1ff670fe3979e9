//! Automatic backups of SQLite files, whatever database the other tests use.

use std::path::Path;

use crate::helpers::{Installation, PASSWORD, is_private, until};

const NOWHERE: &str = "http://127.0.0.1:9";

fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// With a folder for backups.
fn installation() -> Installation {
    let installation = Installation::in_file(NOWHERE).set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    std::fs::create_dir(installation.path("backups")).unwrap();
    let folder = installation.path("backups").display().to_string();
    installation.set("DOCKET_BACKUP_DIR", &folder)
}

#[tokio::test]
async fn old_backups_are_removed_and_other_files_untouched() {
    let installation = installation().set("DOCKET_BACKUP_KEEP", "3");
    let folder = installation.path("backups");
    let old: Vec<String> = (1..=5).map(|day| format!("docket-2020-01-0{day}T00-00-00Z.db")).collect();
    let others = ["docket-notes.db", "docket.db.partial", "readme.txt"];
    let left_over =
        ["docket-2020-01-06T00-00-00Z.db.partial", ".docket-2020-01-06T00-00-00Z.db.x7Qw2a.partial-journal"];
    for name in old.iter().map(String::as_str).chain(others).chain(left_over) {
        std::fs::write(folder.join(name), "").unwrap();
    }
    let server = installation.serve(&["serve"]);
    let backup = server.output_after("a backup was written file=").await;
    let mut expected: Vec<String> = old[3..].to_vec();
    expected.push(Path::new(&backup).file_name().unwrap().to_str().unwrap().to_owned());
    expected.extend(others.map(str::to_owned));
    expected.sort();
    until("the oldest are removed", async || (names(&folder) == expected).then_some(())).await;
    assert!(is_private(Path::new(&backup)), "{backup}");

    // The status shows the time of the backup, also after a restart, which makes no other.
    let browser = server.signed_in().await;
    let status = browser.post_json("/api/upstream/status", &[]).await;
    let task =
        status["tasks"].as_array().unwrap().iter().find(|task| task["name"] == "Writing backups").unwrap();
    assert!(task["last_success_at"].is_string(), "{task}");
    server.signal("TERM");
    assert!(server.ended().await.success());
    let server = installation.serve(&["serve"]);
    let browser = server.signed_in().await;
    until("the backup is reported", async || {
        let ready = browser.get("/readyz").await;
        ready.text.contains("Writing backups: running, last success 2").then_some(())
    })
    .await;
    assert_eq!(names(&folder), expected);
    assert!(!server.output().contains("a backup was written"));

    // It is a database of its own.
    let copy = Installation::in_file(NOWHERE).set("DOCKET_DATABASE_URL", &format!("sqlite://{backup}"));
    let people = copy.run(&["user", "list"]);
    assert!(people.code == Some(0) && people.stdout.contains("admin"), "{people:?}");
}

#[tokio::test]
async fn failed_backup_is_reported_without_stopping_work() {
    let installation = installation();
    // A folder, so that the server cannot remove it as a file.
    std::fs::create_dir(installation.path("backups/docket-2020-01-06T00-00-00Z.db.partial")).unwrap();
    let server = installation.serve(&["serve"]);
    server.output_after("no backup was written").await;
    let browser = server.signed_in().await;
    until("it is ready", async || (browser.get("/readyz").await.status == 200).then_some(())).await;
    assert!(browser.get("/readyz").await.text.contains("Writing backups: running, last success none yet"));
}

#[tokio::test]
async fn backup_with_a_future_date_is_ignored() {
    let installation = installation().set("DOCKET_BACKUP_KEEP", "1");
    let folder = installation.path("backups");
    let (future, old) = ("docket-2128-01-01T00-00-00Z.db", "docket-2020-01-01T00-00-00Z.db");
    for name in [future, old] {
        std::fs::write(folder.join(name), "").unwrap();
    }
    let server = installation.serve(&["serve"]);
    let backup = server.output_after("a backup was written file=").await;
    let mut expected =
        vec![Path::new(&backup).file_name().unwrap().to_str().unwrap().to_owned(), future.to_owned()];
    expected.sort();
    until("the old one is removed", async || (names(&folder) == expected).then_some(())).await;
    let browser = server.signed_in().await;
    let ready = until("the backup is reported", async || {
        let ready = browser.get("/readyz").await.text;
        ready.contains("Writing backups: running, last success 20").then_some(ready)
    })
    .await;
    assert!(!ready.contains("2128"), "{ready}");
}

#[test]
fn impossible_backup_configuration_is_reported_at_start() {
    for (variable, value, why) in [
        ("DOCKET_BACKUP_DIR", "/no/such/folder", "is no folder"),
        ("DOCKET_BACKUP_EVERY", "24", "such as 30m"),
        ("DOCKET_BACKUP_KEEP", "0", "1 to"),
        ("DOCKET_DATABASE_URL", "postgres://docket@127.0.0.1:1/docket", "pg_dump"),
    ] {
        let ended = installation().set(variable, value).run(&["serve"]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(why), "{ended:?}");
    }
}

/// As when a volume is missing: an empty database must not replace the backups of the real one.
#[tokio::test]
async fn backup_of_another_database_replaces_none() {
    let installation = installation().set("DOCKET_BACKUP_KEEP", "2");
    let folder = installation.path("backups");
    for user in ["ada", "vera"] {
        let added = installation.run_with_input(&["user", "add", user, "--role", "viewer"], PASSWORD);
        assert_eq!(added.code, Some(0), "{added:?}");
    }
    let old: Vec<String> = (1..=3).map(|day| format!("docket-2020-01-0{day}T00-00-00Z.db")).collect();
    for name in &old {
        let made = installation.run(&["backup", &format!("backups/{name}")]);
        assert_eq!(made.code, Some(0), "{made:?}");
    }
    let server = installation.serve(&["serve"]);
    let backup = server.output_after("a backup was written file=").await;
    let expected = [old[2].clone(), Path::new(&backup).file_name().unwrap().to_str().unwrap().to_owned()];
    until("earlier states are removed", async || (names(&folder) == expected).then_some(())).await;
    server.signal("TERM");
    assert!(server.ended().await.success());

    std::fs::rename(&backup, folder.join("docket-2020-01-04T00-00-00Z.db")).unwrap();
    for file in ["docket.db", "docket.db-wal", "docket.db-shm"] {
        match std::fs::remove_file(installation.path(file)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            removed => removed.unwrap(),
        }
    }
    let server = installation.serve(&["serve"]);
    server.output_after("old backups were not removed").await;
    assert!(
        server.output().contains("not a later state of the one in docket-2020-01-03"),
        "{}",
        server.output()
    );
    assert_eq!(names(&folder).len(), 3, "{:?}", names(&folder));
}

#[tokio::test]
async fn stop_interrupts_a_backup_that_is_being_written() {
    let installation = installation();
    let created = installation.run_with_input(&["user", "add", "ada", "--role", "viewer"], PASSWORD);
    assert_eq!(created.code, Some(0), "{created:?}");
    installation
        .ledger()
        .run(
            "CREATE TABLE ballast AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
             SELECT randomblob(100000) AS content FROM n",
        )
        .await;
    let folder = installation.path("backups");
    let server = installation.serve(&["serve"]);
    until("the backup is being written", async || {
        let files = std::fs::read_dir(&folder).unwrap();
        files
            .map(|file| file.unwrap().metadata().map_or(0, |file| file.len()))
            .any(|bytes| bytes > 0)
            .then_some(())
    })
    .await;
    server.signal("TERM");
    assert!(server.ended().await.success(), "{}", server.output());
    assert!(!server.output().contains("a backup was written"), "{}", server.output());
    assert_eq!(names(&folder), [""; 0]);
}

#[tokio::test]
async fn no_backup_is_begun_without_room_for_it() {
    let installation = installation();
    let created = installation.run_with_input(&["user", "add", "ada", "--role", "viewer"], PASSWORD);
    assert_eq!(created.code, Some(0), "{created:?}");
    // A sparse end, which SQLite ignores: a tebibyte.
    let file = std::fs::File::options().write(true).open(installation.path("docket.db")).unwrap();
    file.set_len(1 << 40).unwrap();
    let server = installation.serve(&["serve"]);
    server.output_after("no backup was written").await;
    assert!(server.output().contains("and a backup needs 1209"), "{}", server.output());
    assert_eq!(names(&installation.path("backups")), [""; 0]);
}
