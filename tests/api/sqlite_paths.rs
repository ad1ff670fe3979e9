//! SQLite files with special characters in their names: each command uses exactly the named file. Only SQLite files, whatever
//! database the other tests use.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::helpers::{Installation, PASSWORD, secrets_in};

const NOWHERE: &str = "http://127.0.0.1:9";

/// Each name in a folder, and in a URL.
const ODD: [(&str, &str); 6] = [
    ("a%20b.db", "a%2520b.db"),
    ("a b.db", "a%20b.db"),
    ("100%.db", "100%.db"),
    ("what?.db", "what%3F.db"),
    ("#1.db", "#1.db"),
    (":memory:", ":memory:"),
];

fn at(url: &str) -> Installation {
    Installation::in_file(NOWHERE)
        .set("DOCKET_ADMIN_PASSWORD", PASSWORD)
        .set("DOCKET_DATABASE_URL", &format!("sqlite://{url}"))
}

/// The files with their modes, except for those that SQLite creates beside a database.
fn files(folder: &Path) -> Vec<(String, u32)> {
    let mut found: Vec<(String, u32)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let file = file.unwrap();
            (file.file_name().into_string().unwrap(), file.metadata().unwrap().permissions().mode() & 0o777)
        })
        .filter(|(name, _)| !name.ends_with("-wal") && !name.ends_with("-shm"))
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn odd_database_names_are_opened_unchanged() {
    for (name, url) in ODD {
        let installation = at(url);
        let server = installation.serve_by("umask 000; exec \"$0\" \"$@\"", &["serve"]);
        drop(server.signed_in().await);
        assert_eq!(files(&installation.path("")), [(name.to_owned(), 0o600)], "{url}");
        assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0), "{url}");
        let checked = installation.run(&["check"]);
        let open = installation.path(name).display().to_string();
        assert!(checked.stdout.contains("ok      permissions"), "{checked:?}");
        // The check uses the open file.
        std::fs::set_permissions(installation.path(name), PermissionsExt::from_mode(0o644)).unwrap();
        std::fs::set_permissions(installation.path(""), PermissionsExt::from_mode(0o755)).unwrap();
        let checked = installation.run(&["check"]);
        assert!(checked.stdout.contains(&format!("can read {open} (the database)")), "{checked:?}");
        std::fs::set_permissions(installation.path(name), PermissionsExt::from_mode(0o600)).unwrap();
        server.signal("TERM");
        assert!(server.ended().await.success());
        std::fs::remove_file(installation.path(name)).unwrap();
        let restored = installation.run(&["restore", "copy.db"]);
        assert_eq!(restored.code, Some(0), "{url}: {restored:?}");
        let found = files(&installation.path(""));
        assert!(found.contains(&(name.to_owned(), 0o600)) && found.len() == 2, "{url}: {found:?}");
    }
}

#[test]
fn non_utf_8_path_is_refused() {
    let refused = at("bad-%FF.db").run(&["user", "list"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("not valid UTF-8"), "{refused:?}");
}

#[tokio::test]
async fn backup_with_an_odd_name_creates_that_file() {
    let installation = Installation::in_file(NOWHERE).set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    drop(installation.serve(&["serve"]).signed_in().await);
    for name in ["file:b2.db", ":memory:", "a%20b.db", "what?.db", "with 'quote'.db"] {
        let made = installation.run(&["backup", name]);
        assert_eq!(made.code, Some(0), "{name}: {made:?}");
        let bytes = std::fs::read(installation.path(name)).unwrap();
        assert!(bytes.starts_with(b"SQLite format 3\0"), "{name}");
        assert_eq!(secrets_in(&String::from_utf8_lossy(&bytes)), Vec::<&str>::new());
        let again = installation.run(&["backup", name]);
        assert!(again.code == Some(1) && again.stderr.contains(name), "{name}: {again:?}");
        assert_eq!(std::fs::read(installation.path(name)).unwrap(), bytes, "{name} was overwritten");
    }
    let found = files(&installation.path(""));
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found.iter().all(|(_, mode)| *mode == 0o600), "{found:?}");
}

#[tokio::test]
async fn failed_backup_leaves_no_file() {
    let installation = Installation::in_file(NOWHERE).set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    drop(installation.serve(&["serve"]).signed_in().await);
    let before = files(&installation.path(""));
    // As on a disk with room for a few pages.
    let full = installation.run_by("trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"", &["backup", "copy.db"]);
    assert_eq!(full.code, Some(1), "{full:?}");
    assert_eq!(files(&installation.path("")), before);
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
}

/// Somebody else may have put the link there, when root runs a command.
#[test]
fn database_is_not_created_through_a_link() {
    const ADD: [&str; 5] = ["user", "add", "ada", "--role", "admin"];
    let installation = Installation::in_file(NOWHERE);
    let [link, target] = ["docket.db", "elsewhere.db"].map(|name| installation.path(name));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let refused = installation.run_with_input(&ADD, "a long password of words\n");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("symbolic link"), "{refused:?}");
    assert!(!target.exists(), "the file was created through the link");

    // A configured link to a database that exists.
    std::fs::remove_file(&link).unwrap();
    assert_eq!(installation.run_with_input(&ADD, "a long password of words\n").code, Some(0));
    std::fs::rename(&link, &target).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let listed = installation.run(&["user", "list"]);
    assert!(listed.code == Some(0) && listed.stdout.contains("ada"), "{listed:?}");
}

#[test]
fn dangling_symlink_is_not_replaced_by_a_backup() {
    let installation = Installation::in_file(NOWHERE);
    let database =
        installation.run_with_input(&["user", "add", "ada", "--role", "admin"], "a long password of words\n");
    assert_eq!(database.code, Some(0), "{database:?}");
    std::os::unix::fs::symlink(installation.path("elsewhere.db"), installation.path("copy.db")).unwrap();
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(1));
    assert!(!installation.path("elsewhere.db").exists());
}
