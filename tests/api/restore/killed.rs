//! `docket restore`, killed at each of its steps on files.

use std::process::Command;

use super::{before, installation_with, people};
use crate::helpers::{Ledger, PASSWORD};

/// More steps than it has.
const STEPS: usize = 200;

#[tokio::test]
async fn restore_killed_at_any_step_leaves_an_intact_database() {
    let installation = installation_with("early");
    assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
    installation.run_with_input(&["user", "add", "late", "--role", "admin"], &format!("{PASSWORD}\n"));
    let original = std::fs::read(installation.path("docket.db")).unwrap();
    let shim = installation.path("killed_at.so");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&shim)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/helpers/killed_at.c"))
        .arg("-ldl")
        .status()
        .unwrap();
    assert!(compiled.success());
    let (mut old, mut new) = (0, 0);
    for step in 1..STEPS {
        for name in installation.files() {
            if name.starts_with("docket.db") {
                std::fs::remove_file(installation.path(&name)).unwrap();
            }
        }
        std::fs::write(installation.path("docket.db"), &original).unwrap();
        let line = format!("LD_PRELOAD={} KILLED_AT={step} exec \"$0\" \"$@\"", shim.display());
        let finished = installation.run_by(&line, &["restore", "copy.db"]);
        Ledger::at(&format!("sqlite://{}", installation.path("docket.db").display())).is_sound().await;
        match people(&installation).as_str() {
            "early late" => old += 1,
            "early" => {
                new += 1;
                assert!(before(&installation).is_some(), "step {step}: the old one is missing");
            }
            other => panic!("step {step}: {other}"),
        }
        if finished.code.is_some() {
            assert_eq!(finished.code, Some(0), "{finished:?}");
            assert!(old > 5 && new > 1, "killed {old} times before the new one was there, and {new} after");
            return;
        }
        // Its remaining files do not disturb the next restore.
        if step % 8 == 0 {
            let again = installation.run(&["restore", "copy.db"]);
            assert_eq!(again.code, Some(0), "step {step}: {again:?}");
            let left = installation.files();
            assert!(!left.iter().any(|name| name.contains(".restoring")), "{left:?}");
            assert!(left.iter().filter(|name| name.contains(".before-")).count() <= 2, "{left:?}");
        }
    }
    panic!("it has more than {STEPS} steps");
}
