//! `scripts/test.sh` says why a stage failed, however it did, and nothing is taken for compiled that another clone compiled.

use std::process::Command;
use std::time::{Duration, SystemTime};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/test.sh");

/// Runs lines of shell with the functions of the script, in a folder of their own. Returns the output. The lines fail.
fn failed(lines: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let line =
        format!("source {SCRIPT}; ROOT=$PWD; mkdir -p target scripts bin; PATH=$PWD/bin:$PATH; {lines}");
    let ended = Command::new("bash").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
    let output = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{output}");
    output
}

/// What the script says about a stage with this output, after the output itself.
fn reason_for(output: &str) -> String {
    let lines =
        format!("stage() {{ cat <<'END'\n{output}\nEND\nreturn 101; }}; counted_tests 'the stage' stage");
    let output = failed(&lines);
    let (_, reason) =
        output.split_once("== Why it failed: the stage\n").unwrap_or_else(|| panic!("{output}"));
    reason.to_owned()
}

#[test]
fn failure_of_tests_is_repeated_without_the_rest() {
    let noise = "test a ... ok\n".repeat(100);
    for (end, expected) in [
        (
            "thread 'a::b' panicked at tests/a.rs:1:2:\nassertion failed: x\nstack backtrace:\n   0: main",
            "assertion failed: x",
        ),
        ("---- a::b stdout ----\nError: the server did not start", "Error: the server did not start"),
        (
            "thread 'a::deep' has overflowed its stack\nfatal runtime error: stack overflow, aborting\n  process didn't exit successfully: `api` (signal: 6)",
            "(signal: 6)",
        ),
        ("memory allocation of 9 bytes failed", "memory allocation of 9 bytes failed"),
    ] {
        let counted = "test result: FAILED. 100 passed; 0 failed; 0 ignored";
        let reason = reason_for(&format!("{noise}{end}\n{noise}{counted}"));
        assert!(reason.contains(expected), "{reason}");
        assert!(!reason.contains("   0: main") && reason.lines().count() < 20, "{reason}");
    }
}

#[test]
fn stage_without_rust_tests_ends_with_its_last_lines() {
    let lines: String = (1..=100).map(|number| format!("line {number}\n")).collect();
    let reason = reason_for(&format!("{lines}test result: postgresql. 0 passed; 1 failed; 0 ignored"));
    assert!(reason.contains("\nline 100\n") && !reason.contains("line 60\n"), "{reason}");
    assert!(reason.contains("== the stage: 0 passed, 1 failed"), "{reason}");
}

#[test]
fn reached_time_limit_is_named() {
    let output = failed(
        "printf '#!/bin/sh\\n[ \"$2\" = --no-run ] || { echo test a ... ok; exec sleep 60; }\\n' >bin/cargo; chmod +x bin/cargo; \
         TESTS_MAX=1s; counted_tests 'the stage' rust_test --lib",
    );
    let (_, reason) =
        output.split_once("== Why it failed: the stage\n").unwrap_or_else(|| panic!("{output}"));
    assert!(reason.contains("== The time limit of 1s was reached"), "{output}");
}

#[test]
fn postgresql_that_does_not_start_is_named() {
    for (script, expected) in [
        ("echo no such server >&2; exit 1", "scripts/postgres.sh ended before its server was ready"),
        ("exec cat", "PostgreSQL was not ready within 1 s"),
    ] {
        let output = failed(&format!(
            "printf '#!/bin/sh\\n{script}\\n' >scripts/postgres.sh; chmod +x scripts/postgres.sh; POSTGRES_MAX=1; postgres_tests 'the stage'"
        ));
        assert!(output.contains(expected) && output.contains("== the stage: 0 passed, 1 failed"), "{output}");
        assert!(!output.contains("unbound"), "{output}");
    }
}

/// The age of a source file in hours, after this clone and others compiled in this order.
fn hours_after(clones: &[&str]) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("own/src/lib.rs");
    std::fs::create_dir_all(source.parent().unwrap()).unwrap();
    let file = std::fs::File::create(&source).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(5 * 60 * 60)).unwrap();
    for clone in clones {
        let line = format!("source {SCRIPT}; ROOT=$PWD/{clone}; mkdir -p \"$ROOT\"; compile_for_this_clone");
        let mut command = Command::new("bash");
        command
            .args(["-c", &line])
            .current_dir(folder.path())
            .env("CARGO_TARGET_DIR", folder.path().join("shared"));
        assert!(command.status().unwrap().success(), "{clone}");
    }
    file.metadata().unwrap().modified().unwrap().elapsed().unwrap().as_secs() / (60 * 60)
}

#[test]
fn sources_are_new_if_another_clone_compiled_last() {
    for (clones, hours) in [
        (&["own"][..], 5),
        (&["own", "own"], 5),
        (&["other", "own"], 0),
        (&["own", "other", "own"], 0),
        (&["own", "other"], 5),
    ] {
        assert_eq!(hours_after(clones), hours, "{clones:?}");
    }
}
