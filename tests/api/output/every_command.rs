//! Each command with a standard output that is closed, full, or without a reader: it does its work, says what was lost, and ends without a panic.

use std::collections::BTreeSet;

use serde_json::Value;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use super::{ID, client, job, respond};
use crate::databases::is_postgres;
use crate::helpers::{Finished, Installation, PASSWORD, TestApp, WITHOUT_READER, json, views_answer};

const FULL: &str = "exec \"$0\" \"$@\" >/dev/full";
const ALL_FULL: &str = "exec \"$0\" \"$@\" >/dev/full 2>/dev/full";
const CLOSED: &str = "exec \"$0\" \"$@\" >&-";

/// Each output, the exit code of a command that prints something, and whether standard error says that it is lost.
const OUTPUTS: [(&str, i32, bool); 4] =
    [(FULL, 1, true), (WITHOUT_READER, 141, true), (ALL_FULL, 1, false), (CLOSED, 0, false)];

/// Commands that print nothing if they succeed.
const SILENT: [&str; 2] = ["backup", "generate"];

/// Commands whose tests are elsewhere: those that run until a signal, and those whose output is a secret.
const ELSEWHERE: [&str; 5] = ["serve", "demo", "emulator", "token-create", "token-rotate"];

/// The commands without a run, as their manual pages are named.
struct Missing(BTreeSet<String>);

impl Missing {
    /// Runs a command with each output. `{n}` in its arguments is the number of the run.
    fn run(&mut self, installation: &Installation, arguments: &str) {
        self.has_run(arguments);
        for (number, (line, code, is_said)) in OUTPUTS.into_iter().enumerate() {
            let arguments = arguments.replace("{n}", &number.to_string());
            let words: Vec<&str> = arguments.split(' ').collect();
            let finished = installation.run_with_input_by(line, &words, &format!("{PASSWORD}\n"));
            let is_silent = SILENT.contains(&words[0]);
            let code = if is_silent { 0 } else { code };
            check(&format!("{arguments} ({line})"), &finished, code, is_said && !is_silent);
        }
    }

    fn has_run(&mut self, arguments: &str) {
        let words = arguments.replace(' ', "-");
        self.0.retain(|name| !format!("{words}-").starts_with(&format!("{name}-")));
    }
}

#[track_caller]
fn check(what: &str, finished: &Finished, code: i32, is_said: bool) {
    assert_eq!(finished.code, Some(code), "{what}: {finished:?}");
    assert!(!finished.stderr.contains("panicked"), "{what}: {finished:?}");
    assert_eq!(finished.stderr.contains("the output could not be written"), is_said, "{what}: {finished:?}");
}

/// The names of all commands, without those that only group others.
fn all_commands() -> BTreeSet<String> {
    let installation = Installation::new();
    assert_eq!(installation.run(&["generate", "packaged"]).code, Some(0));
    let pages = std::fs::read_dir(installation.path("packaged/man")).unwrap();
    let names = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<String> =
        names.filter_map(|name| Some(name.strip_prefix("docket-")?.strip_suffix(".1")?.to_owned())).collect();
    let is_group = |name: &str| names.iter().any(|other| other.starts_with(&format!("{name}-")));
    names.iter().filter(|name| !is_group(name) && !name.contains("help")).cloned().collect()
}

#[tokio::test]
async fn every_command_survives_a_lost_output() {
    let app = TestApp::start().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let mut missing = Missing(all_commands());
    run_commands_of_administrators(&mut missing, &app);
    run_commands_of_the_client(&mut missing).await;
    let running = Installation::new().set("DOCKET_ADDR", &app.address().to_string());
    missing.run(&running, "healthcheck");
    assert_eq!(missing.0, BTreeSet::from(ELSEWHERE.map(str::to_owned)), "each other command has a run here");
}

fn run_commands_of_administrators(missing: &mut Missing, app: &TestApp) {
    let installation = Installation::configured(&app.upstream.url());
    let input = format!("{PASSWORD}\n");
    let add = ["user", "add", "ada", "--role", "admin"];
    assert_eq!(installation.run_with_input(&add, &input).code, Some(0));
    for number in 0..4 {
        let name = format!("token {number}");
        let create = ["token", "create", "--user", "ada", "--name", &name, "--scopes", "jobs:read"];
        assert_eq!(installation.run(&create).code, Some(0));
    }
    let listed = installation.run(&["token", "list"]).stdout;
    let ids: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(ids.len(), 4, "{listed}");
    for arguments in [
        "--help",
        "--version",
        "user add person-{n} --role viewer",
        "user list",
        "user passwd ada",
        "user disable person-{n}",
        "user enable person-{n}",
        "user reset-second-factor ada",
        "token list",
        "check",
        "check --json",
        "audit verify",
        "purge",
        "purge --dry-run",
        "upgrade-check",
        "upgrade-check --json",
        "generate packaged-{n}",
    ] {
        missing.run(&installation, arguments);
    }
    // Each run revokes another one.
    missing.has_run("token revoke");
    for (line, code, id) in [(FULL, 1, ids[0]), (ALL_FULL, 1, ids[1]), (CLOSED, 0, ids[2])] {
        let finished = installation.run_by(line, &["token", "revoke", id]);
        check(&format!("token revoke ({line})"), &finished, code, line == FULL);
    }
    check("token revoke", &installation.run_without_reader(&["token", "revoke", ids[3]], ""), 141, true);
    let listed = installation.run(&["token", "list"]).stdout;
    assert_eq!(listed.matches("  revoked  ").count(), 4, "{listed}");
    let people = installation.run(&["user", "list"]).stdout;
    assert!((0..4).all(|number| people.contains(&format!("person-{number} "))), "each was added: {people}");
    run_commands_of_files(missing, &app.upstream.url());
}

/// They are for SQLite, whatever database is under test.
fn run_commands_of_files(missing: &mut Missing, upstream: &str) {
    let installation = Installation::in_file(upstream);
    let add = ["user", "add", "ada", "--role", "admin"];
    assert_eq!(installation.run_with_input(&add, &format!("{PASSWORD}\n")).code, Some(0));
    for arguments in [
        "backup copy-{n}.db",
        "restore --dry-run copy-0.db",
        "restore copy-0.db",
        "copy --from sqlite://docket.db --to sqlite://target-{n}.db",
    ] {
        missing.run(&installation, arguments);
    }
    for number in 0..4 {
        for name in [format!("copy-{number}.db"), format!("target-{number}.db")] {
            assert!(installation.files().contains(&name), "{name}");
        }
    }
    assert!(is_postgres() || installation.run(&["user", "list"]).stdout.contains("ada"));
}

async fn run_commands_of_the_client(missing: &mut Missing) {
    let server = MockServer::start().await;
    let of_job = format!("/api/v1/projects/docs/jobs/{ID}");
    for path in [
        of_job.clone(),
        format!("{of_job}/messages"),
        format!("{of_job}/cancel"),
        format!("{of_job}/resolve"),
    ] {
        respond(&server, &path, &job("text")).await;
    }
    let progress = json!({ "jobs": 1, "ended": 1, "completed": 1 });
    let items = json!([{ "values": { "page": "text" }, "job": job("text") }]);
    let batch = json!({ "id": ID, "ended": true, "progress": progress, "items": items });
    let of_batch = format!("/api/v1/projects/docs/batches/{ID}");
    for path in [of_batch.clone(), format!("{of_batch}/cancel"), "/api/v1/projects/docs/batches".to_owned()] {
        respond(&server, &path, &batch).await;
    }
    let started = ResponseTemplate::new(201).set_body_json(job("text"));
    let start = Mock::given(matchers::method("POST")).and(matchers::path("/api/v1/projects/docs/jobs"));
    start.respond_with(started).mount(&server).await;
    respond(&server, "/api/v1/projects/docs/jobs", &json!({ "jobs": [job("text")], "next_cursor": null }))
        .await;
    let rows: Vec<Value> =
        (0..250).map(|at| json!({ "path": format!("/{at}"), "human": 1, "ai": 0, "total": 1 })).collect();
    let views = json!({ "rows": rows, "rows_total": 250, "missing_days": [], "from": "2026-10-25", "to": "2026-11-21", "next_cursor": null, "provisional_days": [] });
    respond(&server, "/api/v1/projects/docs/page-views", &views).await;
    let client = client(&server.uri());
    for arguments in [
        "job start --project docs Fix",
        "job start --project docs --wait --json Fix",
        "job follow-up --project docs ID Go",
        "job cancel --project docs ID",
        "job resolve --project docs --attempt 0 --not-started ID",
        "job show --project docs ID",
        "job show --project docs --json ID",
        "job list --project docs",
        "job list --project docs --json",
        "batch start --project docs --values /a Check",
        "batch start --project docs --values /a --wait --json Check",
        "batch show --project docs ID",
        "batch show --project docs --json ID",
        "batch cancel --project docs ID",
        "views --project docs",
        "views --project docs --csv",
        "views --project docs --json",
    ] {
        missing.run(&client, &arguments.replace("ID", ID));
    }
}

/// They serve although nobody reads what they print, until they are stopped.
#[tokio::test]
async fn servers_survive_a_lost_output() {
    for (line, code) in [(FULL, 1), (WITHOUT_READER, 141)] {
        for arguments in [&["demo", "--addr", "127.0.0.1:0"][..], &["emulator", "--addr", "127.0.0.1:0"]] {
            let installation = Installation::new();
            let served = installation.serve_by(line, arguments);
            served.output_after("the output could not be written").await;
            served.signal("TERM");
            assert_eq!(served.ended().await.code(), Some(code), "{arguments:?}: {}", served.output());
            assert!(!served.output().contains("panicked"), "{}", served.output());
        }
        let installation = Installation::with_administrator("http://127.0.0.1:9");
        let served = installation.serve_by(line, &["serve"]);
        served.address().await;
        served.signal("TERM");
        assert_eq!(served.ended().await.code(), Some(0), "{}", served.output());
    }
}
