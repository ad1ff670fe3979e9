//! `docket restore` by root in the folder of another account, which replaces the copy by a link meanwhile.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{installation_with, people};
use crate::helpers::{Finished, Installation, PASSWORD};

/// The account of the folder. Only root can give it the database: for anyone else, the copy has the right owner already.
const OTHER: u32 = 61_234;

/// A database with a backup, beside the database of somebody else.
fn installation() -> (Installation, PathBuf) {
    let installation = installation_with("early");
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    installation.run_with_input(&["user", "add", "late", "--role", "admin"], &format!("{PASSWORD}\n"));
    let foreign = installation.path("foreign.db");
    fs::copy(installation.path("copy.db"), &foreign).unwrap();
    (installation, foreign)
}

/// Restores the backup. Before the first call of the function `at`, the copy is replaced by a link to `foreign`.
fn restored(installation: &Installation, foreign: &Path, at: &str) -> Finished {
    let shim = installation.path("replaced_at.so");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&shim)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/helpers/replaced_at.c"))
        .arg("-ldl")
        .status()
        .unwrap();
    assert!(compiled.success());
    let line = format!(
        "REPLACED_AT={at} REPLACED_BY={} REPLACED_IN={} LD_PRELOAD={} exec \"$0\" \"$@\"",
        foreign.display(),
        installation.path("").display(),
        shim.display()
    );
    installation.run_by(&line, &["restore", "copy.db"])
}

#[tokio::test]
async fn restore_changes_the_owner_of_its_own_file_only() {
    let (installation, foreign) = installation();
    _ = std::os::unix::fs::chown(installation.path("docket.db"), Some(OTHER), Some(OTHER));
    let owner = foreign.metadata().unwrap().uid();
    for at in ["chown", "fchown"] {
        restored(&installation, &foreign, at);
        assert_eq!(foreign.metadata().unwrap().uid(), owner, "at {at}");
    }
}

#[tokio::test]
async fn copy_replaced_by_a_link_is_neither_written_nor_restored() {
    let (installation, foreign) = installation();
    let before = fs::read(&foreign).unwrap();
    let finished = restored(&installation, &foreign, "fsync");
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("was replaced during the restore"), "{finished:?}");
    assert_eq!(people(&installation), "early late");
    assert!(fs::read(&foreign).unwrap() == before, "the foreign database was written");
    assert!(!installation.files().iter().any(|name| name.contains(".restoring")));
}
