//! Standard output that is closed or full: each command does its work, says what was lost, and ends without a panic.

use model::audit::Outcome;
use serde_json::Value;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use super::{ID, client, job, respond};
use crate::api_tokens::{PROJECTS, audited, problem, with_token};
use crate::databases::is_postgres;
use crate::helpers::{Finished, Installation, PASSWORD, TestApp, json, views_answer};

/// Runs a command with an output that is full, and with one whose reader has left.
fn without_output(installation: &Installation, arguments: &[&str], input: &str) {
    let full = installation.run_with_input_by("exec \"$0\" \"$@\" >/dev/full", arguments, input);
    check(arguments, &full, &[1]);
    let left = installation.run_without_reader(arguments, input);
    check(arguments, &left, &[0, 141]);
}

#[track_caller]
fn check(arguments: &[&str], finished: &Finished, codes: &[i32]) {
    assert!(!finished.stderr.contains("panicked"), "{arguments:?}: {finished:?}");
    assert!(finished.stderr.contains("the output could not be written"), "{arguments:?}: {finished:?}");
    assert!(finished.code.is_some_and(|code| codes.contains(&code)), "{arguments:?}: {finished:?}");
}

#[tokio::test]
async fn commands_of_administrators_survive_a_lost_output() {
    let app = TestApp::start().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let installation = Installation::configured(&app.upstream.url());
    let add = ["user", "add", "ada", "--role", "admin"];
    assert_eq!(installation.run_with_input(&add, PASSWORD).code, Some(0));
    let list = installation.run(&["user", "list"]);
    assert!(list.stdout.contains("ada"), "{list:?}");
    for arguments in [
        &["user", "list"][..],
        &["check"],
        &["check", "--json"],
        &["audit", "verify"],
        &["purge"],
        &["purge", "--dry-run"],
        &["upgrade-check"],
        &["upgrade-check", "--json"],
        &["--help"],
        &["--version"],
    ] {
        without_output(&installation, arguments, "");
    }
    without_output(&installation, &["user", "passwd", "ada"], "another long password\n");
    let create = ["token", "create", "--user", "ada", "--name", "CI", "--scopes", "jobs:read"];
    assert_eq!(installation.run(&create).code, Some(0));
    without_output(&installation, &["token", "list"], "");
    if !is_postgres() {
        assert_eq!(installation.run(&["backup", "copy.db"]).code, Some(0));
        without_output(&installation, &["restore", "--dry-run", "copy.db"], "");
    }
}

#[tokio::test]
async fn commands_of_the_client_survive_a_lost_output() {
    let server = MockServer::start().await;
    respond(&server, &format!("/api/v1/projects/docs/jobs/{ID}"), &job("text")).await;
    respond(&server, "/api/v1/projects/docs/jobs", &json!({ "jobs": [job("text")] })).await;
    let rows: Vec<Value> =
        (0..250).map(|at| json!({ "path": format!("/{at}"), "human": 1, "ai": 0, "total": 1 })).collect();
    let views = json!({ "rows": rows, "rows_total": 250, "missing_days": [] });
    respond(&server, "/api/v1/projects/docs/page-views", &views).await;
    let client = client(&server.uri());
    for arguments in [
        &["job", "show", ID, "--project", "docs"][..],
        &["job", "show", ID, "--project", "docs", "--json"],
        &["job", "list", "--project", "docs"],
        &["views", "--project", "docs"],
        &["views", "--project", "docs", "--csv"],
        &["views", "--project", "docs", "--json"],
    ] {
        without_output(&client, arguments, "");
    }
}

#[tokio::test]
async fn started_job_is_named_although_the_output_is_lost() {
    let server = MockServer::start().await;
    let started = ResponseTemplate::new(201).set_body_json(job("text"));
    Mock::given(matchers::method("POST")).respond_with(started).mount(&server).await;
    let client = client(&server.uri());
    let start = ["job", "start", "--project", "docs", "Fix typos"];
    let full = client.run_by("exec \"$0\" \"$@\" >/dev/full", &start);
    check(&start, &full, &[1]);
    assert!(full.stderr.contains(ID), "{full:?}");
    assert_eq!(server.received_requests().await.unwrap().len(), 1, "it is started once");
}

#[tokio::test]
async fn started_job_is_printed_before_the_wait() {
    let server = MockServer::start().await;
    let mut started = job("text");
    started["state"] = json!("active");
    started["pull_request"] = Value::Null;
    let response = ResponseTemplate::new(201).set_body_json(&started);
    Mock::given(matchers::method("POST")).respond_with(response).mount(&server).await;
    let refused = json!({ "detail": "The wait failed.", "code": "internal" });
    let response = ResponseTemplate::new(500).set_body_json(refused);
    Mock::given(matchers::method("GET")).respond_with(response).mount(&server).await;
    let client = client(&server.uri());
    let start = ["job", "start", "--project", "docs", "--wait", "Fix typos"];
    let finished = client.run(&start);
    assert!(finished.code == Some(1) && finished.stderr.contains("The wait failed."), "{finished:?}");
    assert!(finished.stdout.starts_with(&format!("{ID}  active\n")), "{finished:?}");
    // One JSON document at most is on standard output.
    let as_json = client.run(&[&start[..], &["--json"]].concat());
    assert!(as_json.stdout.is_empty() && as_json.stderr.contains(ID), "{as_json:?}");
}

#[tokio::test]
async fn token_that_nobody_saw_is_revoked() {
    let app = TestApp::start().await;
    let installation = Installation::new().set("DOCKET_DATABASE_URL", app.database_url());
    let create = ["token", "create", "--user", "olga", "--name", "CI", "--scopes", "jobs:read"];
    let full = installation.run_by("exec \"$0\" \"$@\" >/dev/full", &create);
    check(&create, &full, &[1]);
    let left = installation.run_without_reader(&create, "");
    check(&create, &left, &[0, 141]);
    let listed = installation.run(&["token", "list"]).stdout;
    assert_eq!(listed.matches("  revoked  ").count(), 2, "{listed}");
    assert!(!listed.contains("  active  "), "{listed}");
    assert!(full.stderr.contains("revoked") && left.stderr.contains("revoked"), "{full:?} {left:?}");
    assert_eq!(audited(&app, "api_token_revoke", Outcome::Done).await.len(), 2);
    for closed in ["exec \"$0\" \"$@\" >&-", "exec \"$0\" \"$@\" >/dev/null"] {
        let refused = installation.run_by(closed, &create);
        assert!(refused.code == Some(1) && refused.stderr.contains("none was created"), "{refused:?}");
    }
    assert_eq!(installation.run(&["token", "list"]).stdout.lines().count(), 2);
    let seen = installation.run(&create).stdout;
    assert_eq!(with_token(&app, PROJECTS, seen.trim()).await.status, 200);
    problem(&with_token(&app, PROJECTS, "dkt_x").await, 401, "invalid_token");
}
