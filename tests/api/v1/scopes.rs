//! What a token without a scope sees of jobs, and which refusals are in the audit log.

use std::collections::BTreeSet;

use model::audit::Outcome;
use serde_json::Value;

use super::Script;
use super::description::{description, endpoints};
use crate::api_tokens::{audited, problem};
use crate::helpers::{TestApp, intent, json};

const JOBS: &str = "/projects/docs/jobs";
const SECRET: &str = "Confidential";

fn fields(body: &Value) -> BTreeSet<&str> {
    body.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn changes_show_no_text_to_a_token_without_reading() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.upstream.accepts_follow_ups().await;
    let olga = app.operator().await;
    let job = olga.create(SECRET, &intent()).await.json();
    let id = job["id"].as_str().unwrap();
    let writer = Script::with(&app, &[("scopes", "jobs:write")]).await;
    // Decisions and batches have tests of their own.
    let changes = |(method, path): &(String, String)| {
        method != "GET" && !path.ends_with("/resolve") && !path.contains("/batches")
    };
    let changing = endpoints(&description(&app).await).into_iter().filter(changes);
    let mut changed = 0;
    for (number, (method, path)) in changing.enumerate() {
        let path = path.trim_start_matches("/api/v1").replace("{project}", "docs").replace("{job}", id);
        for _ in 0..2 {
            let request = writer.request(method.parse().unwrap(), &path);
            let request = request.header("idempotency-key", format!("key-{number}"));
            let sends = path.ends_with("/jobs") || path.ends_with("/messages");
            let body = if sends { json!({"prompt": "Fix typos"}) } else { json!({}) };
            let response = writer.client.send(request.json(&body)).await;
            if path.ends_with("/cancel") {
                problem(&response, 409, "conflict");
                continue;
            }
            let body = response.json();
            let expected: &[&str] = if path.ends_with("/messages") {
                &[
                    "id",
                    "state",
                    "ended",
                    "reason_code",
                    "follow_up_id",
                    "follow_up_state",
                    "follow_up_reason_code",
                ]
            } else {
                &["id", "state", "ended", "reason_code"]
            };
            assert_eq!(fields(&body), expected.iter().copied().collect(), "{path}");
            assert!(!response.text.contains(SECRET), "{path}: {}", response.text);
            let sent = body.get("follow_up_state");
            assert!(sent.is_none_or(|state| state == "accepted"), "{body}");
            changed += 1;
        }
    }
    assert_eq!(changed, 8);
    for (tool, arguments) in [
        ("start_job", json!({"project": "docs", "prompt": "Fix typos", "idempotency_key": "mcp-1"})),
        (
            "send_follow_up",
            json!({"project": "docs", "job": id, "prompt": "And links", "idempotency_key": "mcp-2"}),
        ),
    ] {
        let result = writer.call(tool, arguments).await.to_string();
        assert!(result.contains("\\\"state\\\"") && !result.contains(SECRET), "{tool}: {result}");
        assert!(!result.contains("prompt"), "{tool}: {result}");
    }
}

#[tokio::test]
async fn archiving_shows_no_text_to_any_token() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let job = script.post(JOBS, "first", &json!({"prompt": "Fix typos"})).await.json();
    for action in ["archive", "restore"] {
        let response = script.act(&format!("{JOBS}/{}/{action}", job["id"].as_str().unwrap())).await;
        let expected = json!({"id": job["id"], "state": "active", "ended": false, "reason_code": null});
        assert_eq!(response.json(), expected, "{action}");
    }
}

#[tokio::test]
async fn refused_uses_are_audited_whatever_they_call() {
    let app = TestApp::start().await;
    let fields = [("scopes", "jobs:read"), ("access", "selected"), ("projects", "docs")];
    let reader = Script::with(&app, &fields).await;
    let (missing, elsewhere) = ("insufficient_scope", "project not included");
    let recorded = async || {
        let refused = audited(&app, "api_token_use", Outcome::Refused).await;
        refused.into_iter().map(|(actor, _, detail)| format!("{actor} {detail}")).collect::<Vec<_>>()
    };
    let mut expected: Vec<String> = Vec::new();
    let start = json!({"project": "docs", "prompt": "x", "idempotency_key": "k"});
    let follow_up = json!({"project": "docs", "job": "x", "prompt": "x", "idempotency_key": "k"});
    for (tool, arguments, reason) in [
        ("start_job", start, Some(missing)),
        ("send_follow_up", follow_up, Some(missing)),
        ("cancel_job", json!({"project": "docs", "job": "x"}), Some(missing)),
        ("page_views", json!({"project": "docs"}), Some(missing)),
        ("falling_pages", json!({"project": "docs"}), Some(missing)),
        ("list_jobs", json!({"project": "api"}), Some(elsewhere)),
        ("get_job", json!({"project": "api", "job": "x"}), Some(elsewhere)),
        ("list_templates", json!({"project": "api"}), Some(elsewhere)),
        ("list_jobs", json!({"project": "docs"}), None),
        ("list_projects", json!({}), None),
        ("list_budgets", json!({}), None),
        ("get_job", json!({"project": "docs", "job": "01920000-0000-7000-8000-000000000001"}), None),
    ] {
        let result = reader.call(tool, arguments).await;
        assert!(reason.is_none() || result["isError"] == true, "{result}");
        expected.splice(0..0, reason.map(|reason| format!("olga {reason}")));
        assert_eq!(recorded().await, expected, "{tool}");
    }
    for (path, status, reason) in [
        ("/projects/docs/page-views", 403, Some(missing)),
        ("/projects/docs/page-views/daily", 403, Some(missing)),
        ("/projects/api/jobs", 404, Some(elsewhere)),
        ("/projects/api/templates", 404, Some(elsewhere)),
        ("/nowhere", 404, None),
        ("/projects/docs/jobs", 200, None),
    ] {
        assert_eq!(reader.get(path).await.status, status);
        expected.splice(0..0, reason.map(|reason| format!("olga {reason}")));
        assert_eq!(recorded().await, expected, "{path}");
    }
    reader.tools().await;
    assert_eq!(recorded().await, expected, "a list of tools refuses nothing");
}
