//! What the tools of `/mcp` say about errors, about cut texts and about themselves.

use std::time::Duration;

use base::clock::Clock;
use model::error::ErrorCode;
use serde_json::Value;

use super::Script;
use crate::analytics_pages::{NOON, at};
use crate::helpers::{Archive, New, Settings, TestApp, days, json, rows};
use crate::queue::per_hour;

/// The structured error of a call.
async fn refused(script: &Script, tool: &str, arguments: Value) -> Value {
    let result = script.call(tool, arguments).await;
    assert_eq!(result["isError"], true, "{tool}: {result}");
    let error = &result["structuredContent"];
    assert_eq!(result["content"][0]["text"], error["detail"], "{tool}");
    let code = ErrorCode::of_api().find(|code| error["code"] == code.as_str());
    let code = code.unwrap_or_else(|| panic!("{tool}: {error} is not in the table"));
    assert_eq!(error["status"], code.status(), "{tool}");
    assert_eq!(error["retry_after"].is_u64(), code.retry_after().is_some(), "{tool}: {error}");
    let words = result["content"][1]["text"].as_str().unwrap();
    assert!(words.starts_with(&format!("code: {}", code.as_str())), "{words}");
    error.clone()
}

#[tokio::test]
async fn error_of_a_tool_has_the_code_and_the_time_of_the_next_attempt() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let start = |key: &str| json!({"project": "docs", "prompt": format!("Do {key}"), "idempotency_key": key});
    script.call("start_job", start("one")).await;
    let spent = refused(&script, "start_job", start("two")).await;
    assert_eq!((&spent["code"], &spent["retry_after"]), (&json!("budget_spent"), &json!(3_600)));
    let other = json!({"project": "docs", "prompt": "Other", "idempotency_key": "one"});
    assert_eq!(refused(&script, "start_job", other).await["code"], "intent_reused");
    let unknown = json!({"project": "nowhere", "job": "x"});
    let unknown = refused(&script, "get_job", unknown).await;
    assert_eq!((&unknown["code"], &unknown["retry_after"]), (&json!("not_found"), &Value::Null));
    let reader = Script::with(&app, &[("scopes", "jobs:read")]).await;
    assert_eq!(refused(&reader, "start_job", start("three")).await["code"], "insufficient_scope");
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn error_of_a_tool_names_the_wrong_argument() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    let job = "01920000-0000-7000-8000-000000000001";
    for (tool, arguments, field) in [
        ("start_job", json!({"project": "docs", "prompt": "x"}), "idempotency_key"),
        (
            "start_job",
            json!({"project": "docs", "idempotency_key": "with space", "prompt": "x"}),
            "idempotency_key",
        ),
        ("start_job", json!({"project": "docs", "idempotency_key": "k"}), "prompt"),
        ("start_job", json!({"project": "docs", "idempotency_key": "k", "template": {}}), "template"),
        ("start_job", json!({"project": "docs", "idempotency_key": "k", "template": {"x": 1}}), "template.x"),
        ("list_jobs", json!({"project": "docs", "status": "sleeping"}), "status"),
        ("list_jobs", json!({"project": "docs", "limit": 101}), "limit"),
        ("list_jobs", json!({"project": "docs", "colour": 1}), "colour"),
        ("get_job", json!({"project": "docs", "job": job, "wait": 46}), "wait"),
        ("get_job", json!({"project": "docs", "job": "x"}), "job"),
        ("list_projects", json!({"colour": 1}), "colour"),
        ("falling_pages", json!({"project": "docs", "from": "2026-02-30"}), "from"),
        ("page_views", json!({"project": "docs", "cursor": "x"}), "cursor"),
    ] {
        let error = refused(&script, tool, arguments.clone()).await;
        assert_eq!(error["errors"][0]["field"], field, "{tool} {arguments}: {error}");
    }
    assert_eq!(app.upstream.posts().await.len(), 0);
}

/// Of each tool: whether it only reads, may undo something, may be repeated, and reaches the platform.
#[tokio::test]
async fn hints_of_tools_say_what_they_do() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    let tools = script.rpc("tools/list", json!({})).await.json()["result"]["tools"].take();
    let hints = |tool: &Value| {
        ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
            .map(|hint| tool["annotations"][hint].as_bool().unwrap())
    };
    for tool in tools.as_array().unwrap() {
        let expected = match tool["name"].as_str().unwrap() {
            "start_job" | "send_follow_up" => [false, false, true, true],
            "cancel_job" => [false, true, true, false],
            _ => [true, false, true, false],
        };
        assert_eq!(hints(tool), expected, "{}", tool["name"]);
    }
    assert_eq!(tools.as_array().unwrap().len(), 10);
}

/// What the hints promise: a call that reads changes nothing, and a repeated call nothing more.
#[tokio::test]
async fn repeated_calls_send_nothing_more() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let start = |key: &str| json!({"project": "docs", "prompt": format!("Do {key}"), "idempotency_key": key, "queue": true});
    for _ in 0..2 {
        let first = script.call("start_job", start("one")).await["structuredContent"].take();
        assert_eq!(first["state"], "active", "{first}");
    }
    let queued = script.call("start_job", start("two")).await["structuredContent"].take();
    let budgets = script.call("list_budgets", json!({})).await["structuredContent"].take();
    assert_eq!((&queued["state"], &budgets["budgets"][0]["queued"]), (&json!("queued"), &json!(1)));
    let cancel = json!({"project": "docs", "job": queued["id"]});
    let cancelled = script.call("cancel_job", cancel.clone()).await["structuredContent"].take();
    assert_eq!((&cancelled["id"], &cancelled["state"]), (&queued["id"], &json!("cancelled")));
    script.call("cancel_job", cancel).await;
    let found = script.call("get_job", json!({"project": "docs", "job": queued["id"]})).await;
    assert_eq!(found["structuredContent"]["state"], "cancelled");
    let writer = Script::with(&app, &[("scopes", "jobs:write")]).await;
    let other = writer.call("start_job", start("three")).await["structuredContent"].take();
    let cancelled = writer.call("cancel_job", json!({"project": "docs", "job": other["id"]})).await;
    let expected =
        json!({"id": other["id"], "state": "cancelled", "ended": true, "reason_code": "cancelled"});
    assert_eq!(cancelled["structuredContent"], expected);
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn job_is_started_from_a_template_that_a_tool_listed() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let projects = script.call("list_projects", json!({})).await["structuredContent"].take();
    assert_eq!(projects, script.got("/projects").await);
    let long = format!("Read {{{{page}}}} {}", "é".repeat(2_100));
    New::template("Long", &long).id(&app.operator().await).await;
    New::template("Check", "Check {{page}} for {{what=typos}}").id(&app.operator().await).await;
    let listed = script.call("list_templates", json!({"project": "docs"})).await["structuredContent"].take();
    let find = |name: &str| {
        listed["templates"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap().clone()
    };
    let (check, cut) = (find("Check"), find("Long"));
    assert_eq!((&check["placeholders"], &check["truncated"]), (&json!(["page", "what"]), &json!(false)));
    assert_eq!((&cut["placeholders"], &cut["truncated"]), (&json!(["page"]), &json!(true)));
    let text = cut["text"].as_str().unwrap();
    assert!(text.chars().count() == 2_001 && text.ends_with('…'), "{}", text.len());
    assert_eq!(listed["truncated"], false);
    for (key, template) in [
        ("by-id", json!({"id": check["id"], "values": {"page": "/a"}})),
        ("by-name", json!({"name": "Check", "id": null, "values": {"page": "/a"}})),
    ] {
        let arguments =
            json!({"project": "docs", "template": template, "prompt": null, "idempotency_key": key});
        let job = script.call("start_job", arguments).await["structuredContent"].take();
        assert_eq!((&job["prompt"], &job["template"]), (&json!("Check /a for typos"), &check["id"]), "{job}");
    }
    let unfilled = json!({"project": "docs", "template": {"name": "Check"}, "idempotency_key": "unfilled"});
    assert_eq!(refused(&script, "start_job", unfilled).await["code"], "unfilled_placeholder");
}

#[tokio::test]
async fn cut_prompts_of_lists_are_marked() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.upstream.accepts_follow_ups().await;
    let script = Script::of(&app).await;
    for (length, is_cut) in [(280, false), (281, true), (5_000, true)] {
        let prompt = "é".repeat(length);
        let key = format!("job-{length}");
        let arguments = json!({"project": "docs", "prompt": prompt, "idempotency_key": key});
        let job = script.call("start_job", arguments).await["structuredContent"].take();
        let follow_up = json!({"project": "docs", "job": job["id"], "prompt": prompt, "idempotency_key": format!("{key}-2")});
        script.call("send_follow_up", follow_up).await;
        let whole =
            script.call("get_job", json!({"project": "docs", "job": job["id"]})).await["structuredContent"]
                .take();
        let listed =
            script.call("list_jobs", json!({"project": "docs", "limit": 1})).await["structuredContent"]
                .take();
        let in_api = script.got("/projects/docs/jobs?limit=1").await;
        for (job, is_cut) in [(&whole, false), (&listed["jobs"][0], is_cut), (&in_api["jobs"][0], is_cut)] {
            for text in [job, &job["follow_ups"][0]] {
                assert_eq!(text["truncated"], is_cut, "{length}: {text:.400}");
                let chars = text["prompt"].as_str().unwrap().chars().count();
                assert_eq!(chars, if is_cut { 281 } else { length }, "{length}");
            }
        }
    }
}

#[tokio::test]
async fn falling_pages_say_that_days_before_the_retention_are_not_kept() {
    let mut settings = at(NOON);
    settings.retention.history_days = 10;
    let app = TestApp::with(settings).await;
    let mut archive = Archive::of(&app).await;
    for of in days("2026-11-12", "2026-11-20") {
        archive.write(of, rows(&[("/down", 60, 0)])).await;
    }
    drop(archive);
    let script = Script::of(&app).await;
    for (from, to) in
        [("2026-11-13", "2026-11-18"), ("2026-11-02", "2026-11-05"), ("2026-11-01", "2026-11-20")]
    {
        let arguments = json!({"project": "docs", "from": from, "to": to});
        let error = refused(&script, "falling_pages", arguments).await;
        let detail = error["detail"].as_str().unwrap();
        assert_eq!(error["code"], "not_in_history");
        assert!(detail.contains("no longer in the daily history") && !detail.contains("later."), "{detail}");
    }
    let compared = json!({"project": "docs", "from": "2026-11-16", "to": "2026-11-18"});
    let found = script.call("falling_pages", compared).await;
    assert_eq!(found["structuredContent"]["comparison"]["provisional_days"], json!([]), "{found}");
}

/// The time is over before the clients of the official SDK give up.
#[tokio::test]
async fn tool_waits_at_most_45_seconds() {
    let app =
        TestApp::with(Settings { clock: Clock::frozen(NOON.parse().unwrap()), ..Settings::default() }).await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let tools = script.rpc("tools/list", json!({})).await.json()["result"]["tools"].take();
    let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "get_job").unwrap();
    assert_eq!(tool["inputSchema"]["properties"]["wait"]["maximum"], 45);
    let arguments = json!({"project": "docs", "prompt": "Fix typos", "idempotency_key": "one"});
    let job = script.call("start_job", arguments).await["structuredContent"].take();
    let waits = script.call("get_job", json!({"project": "docs", "job": job["id"], "wait": 45}));
    assert!(tokio::time::timeout(Duration::from_millis(300), waits).await.is_err(), "45 is permitted");
}

/// Clients end their session after a status that is not 200.
#[tokio::test]
async fn request_above_the_limit_gets_an_answer_in_the_protocol() {
    let app = TestApp::with(crate::tracking::frozen()).await;
    let script = Script::of(&app).await;
    let list = json!({"name": "list_projects", "arguments": {}});
    let mut last = script.rpc("tools/call", list.clone()).await;
    for _ in 0..30 {
        last = script.rpc("tools/call", list.clone()).await;
        if last.json()["result"]["isError"] == true {
            break;
        }
    }
    assert_eq!((last.status, &last.json()["id"]), (200, &json!(1)), "{}", last.text);
    assert_eq!(last.header("content-type"), "application/json");
    let spent = refused(&script, "list_projects", json!({})).await;
    assert_eq!((&spent["code"], &spent["retry_after"]), (&json!("too_many_requests"), &json!(1)));
    for method in ["initialize", "ping", "tools/list"] {
        let other = script.rpc(method, json!({})).await;
        let error = other.json()["error"].take();
        assert_eq!((other.status, &error["code"]), (200, &json!(-32_000)), "{method}: {}", other.text);
        assert_eq!(error["data"], json!({"code": "too_many_requests", "retry_after": 1}), "{method}");
        assert!(other.header("ratelimit").contains("r=0"), "{}", other.header("ratelimit"));
    }
    // Nothing that names a request, or too much of it.
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let long =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": "x".repeat(65_536)}).to_string();
    for body in [notice.as_str(), "[]", "", "{", long.as_str()] {
        let response = script.rpc_body(body).await;
        assert_eq!((response.status, response.header("retry-after")), (429, "1"), "{}", response.text);
    }
    let read = script.get("/projects").await;
    assert_eq!(read.status, 429, "the JSON API has statuses");
}

#[tokio::test]
async fn result_says_whether_an_earlier_call_did_it() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.upstream.accepts_follow_ups().await;
    let script = Script::of(&app).await;
    let writer = Script::with(&app, &[("scopes", "jobs:write")]).await;
    let start = json!({"project": "docs", "prompt": "Fix typos", "idempotency_key": "one"});
    let mut job = Value::Null;
    for (script, replayed) in [(&script, false), (&script, true), (&writer, true)] {
        let result = script.call("start_job", start.clone()).await["structuredContent"].take();
        assert_eq!(result["replayed"], replayed, "{result}");
        job = result["id"].clone();
    }
    let follow_up = json!({"project": "docs", "job": job, "prompt": "And links", "idempotency_key": "two"});
    for replayed in [false, true] {
        let result = script.call("send_follow_up", follow_up.clone()).await["structuredContent"].take();
        assert_eq!(result["replayed"], replayed, "{result}");
    }
    let found = script.call("get_job", json!({"project": "docs", "job": job})).await;
    assert_eq!(found["structuredContent"]["replayed"], Value::Null);
}
