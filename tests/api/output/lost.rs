//! Standard output that is closed or full: what a command started is found again, and a secret that nobody saw is revoked.

use model::audit::Outcome;
use serde_json::Value;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use super::{ID, client, job};
use crate::api_tokens::{PROJECTS, audited, problem, with_token};
use crate::helpers::{Finished, Installation, TestApp, json};

#[track_caller]
fn check(arguments: &[&str], finished: &Finished, code: i32) {
    assert!(!finished.stderr.contains("panicked"), "{arguments:?}: {finished:?}");
    assert!(finished.stderr.contains("the output could not be written"), "{arguments:?}: {finished:?}");
    assert_eq!(finished.code, Some(code), "{arguments:?}: {finished:?}");
}

#[tokio::test]
async fn started_job_is_named_although_the_output_is_lost() {
    let server = MockServer::start().await;
    let started = ResponseTemplate::new(201).set_body_json(job("text"));
    Mock::given(matchers::method("POST")).respond_with(started).mount(&server).await;
    let client = client(&server.uri());
    let start = ["job", "start", "--project", "docs", "Fix typos"];
    let full = client.run_by("exec \"$0\" \"$@\" >/dev/full", &start);
    check(&start, &full, 1);
    assert!(full.stderr.contains(ID), "{full:?}");
    assert_eq!(server.received_requests().await.unwrap().len(), 1, "it is started once");
}

/// Also while its end is awaited.
#[tokio::test]
async fn started_batch_is_named_although_the_output_is_lost() {
    let server = MockServer::start().await;
    let batch = |ended: bool| json!({ "id": ID, "ended": ended, "progress": { "jobs": 2 }, "items": [] });
    let started = ResponseTemplate::new(201).set_body_json(batch(false));
    Mock::given(matchers::method("POST")).respond_with(started).mount(&server).await;
    let refused = json!({ "detail": "The wait failed.", "code": "forbidden" });
    Mock::given(matchers::query_param("wait", "25"))
        .respond_with(ResponseTemplate::new(403).set_body_json(refused))
        .mount(&server)
        .await;
    let shown = ResponseTemplate::new(200).set_body_json(batch(false));
    Mock::given(matchers::method("GET")).respond_with(shown).mount(&server).await;
    let client = client(&server.uri());
    for arguments in [
        &["batch", "start", "--project", "docs", "--values", "/a", "Check {{page}}"][..],
        &["batch", "start", "--project", "docs", "--values", "/a", "--wait", "Check {{page}}"],
        &["batch", "show", "--project", "docs", "--wait", ID],
        &["batch", "show", "--project", "docs", "--wait", "--json", ID],
    ] {
        let full = client.run_by("exec \"$0\" \"$@\" >/dev/full", arguments);
        let named = format!("docket: {ID}  0 of 2 ended");
        assert_eq!(full.stderr.matches(&named).count(), 1, "{arguments:?}: {full:?}");
        assert_eq!(full.code, Some(1), "{arguments:?}: {full:?}");
    }
}

/// The run may be killed before it has an answer.
#[tokio::test]
async fn run_without_a_key_names_the_key_that_repeats_it() {
    let server = MockServer::start().await;
    let refused = json!({ "detail": "The prompt is too long.", "code": "bad_input" });
    Mock::given(matchers::method("POST"))
        .respond_with(ResponseTemplate::new(400).set_body_json(refused))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    let started = ResponseTemplate::new(201).set_body_json(job("text"));
    Mock::given(matchers::method("POST")).respond_with(started).mount(&server).await;
    let client = client(&server.uri());
    for command in [&["job", "start"][..], &["job", "follow-up", ID]] {
        let arguments = [command, &["--project", "docs", "Fix typos"]].concat();
        let first = client.run(&arguments);
        let (before, key) = first.stderr.lines().next().unwrap().split_once("--key ").unwrap();
        assert!(before.starts_with("docket: ") && before.contains("idempotency key"), "{first:?}");
        let repeat = [&arguments[..], &["--key", key]].concat();
        for repeated in [client.run(&repeat), client.run_by("exec \"$0\" \"$@\" >/dev/full", &repeat)] {
            assert!(!repeated.stderr.contains("--key"), "{repeated:?}");
        }
        client.run(&arguments);
        let keys = keys_of(&server).await;
        let [.., one, two, three, other] = &keys[..] else { panic!("{keys:?}") };
        assert!(one == key && two == key && three == key && other != key, "{key}: {keys:?}");
    }
}

/// The header of all requests that send a prompt.
async fn keys_of(server: &MockServer) -> Vec<String> {
    let requests = server.received_requests().await.unwrap();
    requests.iter().map(|request| request.headers["idempotency-key"].to_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn started_job_is_printed_before_the_wait() {
    let server = MockServer::start().await;
    let mut started = job("text");
    started["state"] = json!("active");
    started["pull_request"] = Value::Null;
    let response = ResponseTemplate::new(201).set_body_json(&started);
    Mock::given(matchers::method("POST")).respond_with(response).mount(&server).await;
    let refused = json!({ "detail": "The wait failed.", "code": "forbidden" });
    let response = ResponseTemplate::new(403).set_body_json(refused);
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
    check(&create, &full, 1);
    let left = installation.run_without_reader(&create, "");
    check(&create, &left, 141);
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
    // The one that replaces it is revoked, too, and the first one still works for a day.
    let listed = installation.run(&["token", "list"]).stdout;
    let id = listed.lines().find(|line| line.contains("  active  ")).unwrap().split_whitespace().next();
    let rotate = ["token", "rotate", id.unwrap()];
    check(&rotate, &installation.run_by("exec \"$0\" \"$@\" >/dev/full", &rotate), 1);
    let refused = installation.run_by("exec \"$0\" \"$@\" >/dev/null", &rotate);
    assert!(refused.code == Some(1) && refused.stderr.contains("none was created"), "{refused:?}");
    assert_eq!(installation.run(&["token", "list"]).stdout.matches("  revoked  ").count(), 3);
    assert_eq!(with_token(&app, PROJECTS, seen.trim()).await.status, 200);
}
