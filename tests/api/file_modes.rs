//! Only the owner can read the files, whatever the permissions of the folder and the umask. The files do not contain the
//! key.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::helpers::{Browser, Installation, PASSWORD, secrets_in};

fn mode(file: &Path) -> u32 {
    std::fs::metadata(file).unwrap().permissions().mode() & 0o777
}

/// Starts a process with umask 000: files are accessible to everyone unless the process restricts them.
const CARELESS: &str = "umask 000; exec \"$0\" \"$@\"";

#[tokio::test]
async fn database_and_backup_are_private_despite_the_umask() {
    let installation = Installation::in_file("http://127.0.0.1:9").set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    let server = installation.serve_by(CARELESS, &["serve"]);
    let browser = Browser::at(&server.address().await);
    assert_eq!(browser.sign_in("admin", PASSWORD).await.status, 200);
    browser.created("Fix typos").await;
    let backup = installation.run_by(CARELESS, &["backup", "copy.db"]);
    assert_eq!(backup.code, Some(0), "{backup:?}");

    let mut files = installation.files();
    files.sort();
    assert_eq!(files, ["copy.db", "docket.db", "docket.db-shm", "docket.db-wal"]);
    for file in files {
        assert_eq!(mode(&installation.path(&file)), 0o600, "{file}");
        let bytes = std::fs::read(installation.path(&file)).unwrap();
        assert_eq!(secrets_in(&String::from_utf8_lossy(&bytes)), Vec::<&str>::new(), "{file}");
    }
}

#[tokio::test]
async fn stored_demo_is_private() {
    let installation = Installation::new();
    let arguments = ["demo", "--addr", "127.0.0.1:0", "--data", "kept"];
    let demo = installation.serve_by(CARELESS, &arguments);
    demo.output_after("Address").await;
    let files: Vec<_> =
        std::fs::read_dir(installation.path("kept")).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{file:?}");
    }
}
