//! `reason_code`: why a job or a follow-up is in its state, for programs.

use model::job::ReasonCode;
use serde_json::Value;
use strum::VariantArray;
use wiremock::ResponseTemplate;

use super::Script;
use super::description::description;
use super::jobs::{JOBS, path_of, started};
use crate::helpers::{
    Act, RawUpstream, Settings, TestApp, job_with, json, refusing_address, remote_job, until,
};
use crate::queue::per_hour;
use crate::tracking::{NEXT_READ, badge, frozen, poll_after};

const DOCUMENT: &str = include_str!("../../../docs/automate/tokens.md");

/// What the platform answers, and the state and the code after it.
fn answers() -> Vec<(ResponseTemplate, &'static str, &'static str)> {
    let with = ResponseTemplate::new;
    let invalid = with(200).set_body_json(json!({"success": true}));
    vec![
        (with(400), "rejected", "prompt_refused"),
        (with(401), "rejected", "key_refused"),
        (with(402), "rejected", "no_credits"),
        (with(403), "rejected", "prompt_refused"),
        (with(404), "rejected", "prompt_refused"),
        (with(408), "unknown", "platform_failed"),
        (with(422), "rejected", "prompt_refused"),
        (with(429), "rejected", "platform_limit"),
        (with(502), "unknown", "platform_failed"),
        (invalid, "unknown", "invalid_answer"),
    ]
}

/// The job or follow-up in an answer, in the job and in the list.
async fn everywhere(script: &Script, job: &Value, of: impl Fn(&Value) -> Value) -> Vec<Value> {
    let found = script.call("get_job", json!({"project": "docs", "job": job["id"]})).await;
    let listed = script.got(JOBS).await;
    let listed = listed["jobs"].as_array().unwrap().iter().find(|listed| listed["id"] == job["id"]);
    let shown = [&script.got(&path_of(job)).await, &found["structuredContent"], listed.unwrap()];
    shown.map(of).to_vec()
}

#[tokio::test]
async fn refused_prompt_has_the_code_of_its_cause() {
    for (answer, state, code) in answers() {
        let app = TestApp::start().await;
        let script = Script::of(&app).await;
        app.upstream.on_create(answer).await;
        let job = script.post(JOBS, "one", &json!({"prompt": "Fix typos"})).await.json();
        let shown = |job: &Value| json!([job["state"], job["reason_code"], job["reason"].is_string()]);
        let expected = json!([state, code, true]);
        assert_eq!(shown(&job), expected, "{job}");
        assert_eq!(everywhere(&script, &job, shown).await, vec![expected; 3], "{code}");
        let writer = Script::with(&app, &[("scopes", "jobs:write")]).await;
        let short = writer.post(JOBS, "one", &json!({"prompt": "Fix typos"})).await.json();
        assert_eq!((&short["reason_code"], &short["reason"]), (&json!(code), &Value::Null));
    }
}

#[tokio::test]
async fn refused_follow_up_has_the_code_of_its_cause() {
    for (answer, state, code) in answers() {
        let app = TestApp::start().await;
        let script = Script::of(&app).await;
        app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
        app.upstream.on_follow_up(answer).await;
        let job = started(&script, "one", json!({"prompt": "Fix typos"})).await;
        let messages = format!("{}/messages", path_of(&job));
        let sent = script.post(&messages, "two", &json!({"prompt": "And links"})).await.json();
        let expected = json!([state, code]);
        assert_eq!(json!([sent["follow_up_state"], sent["follow_up_reason_code"]]), expected, "{sent}");
        let shown = |job: &Value| {
            let follow_up = &job["follow_ups"][0];
            assert!(job["reason_code"].is_null() && follow_up["reason"].is_string(), "{job}");
            json!([follow_up["state"], follow_up["reason_code"]])
        };
        assert_eq!(everywhere(&script, &job, shown).await, vec![expected; 3], "{code}");
    }
}

#[tokio::test]
async fn lost_connection_has_a_code_of_its_own() {
    let closed = RawUpstream::start(|_| Act::HangUp(Vec::new()));
    let (_reserved, refusing) = refusing_address();
    for (url, state, code) in
        [(closed.url(), "unknown", "connection_closed"), (refusing, "rejected", "platform_unreachable")]
    {
        let app = TestApp::with(Settings { upstream_url: Some(url), ..Settings::default() }).await;
        let job = Script::of(&app).await.post(JOBS, "one", &json!({"prompt": "Fix typos"})).await.json();
        assert_eq!((&job["state"], &job["reason_code"]), (&json!(state), &json!(code)), "{job}");
    }
}

/// The code is that of the state now: an accepted prompt has none, although it was refused before.
#[tokio::test]
async fn code_changes_with_the_state() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    started(&script, "one", json!({"prompt": "Fix typos"})).await;
    let queued = json!({"prompt": "Fix links", "queue": true});
    let queued = script.post(JOBS, "two", &queued).await.json();
    assert_eq!((&queued["state"], &queued["reason_code"]), (&json!("queued"), &Value::Null));
    let messages = format!("{}/messages", path_of(&queued));
    let follow_up = script.post(&messages, "three", &json!({"prompt": "More"})).await.json();
    assert_eq!(follow_up["follow_up_reason_code"], Value::Null);
    let cancelled = script.act(&format!("{}/cancel", path_of(&queued))).await.json();
    let codes = (&cancelled["reason_code"], &cancelled["follow_ups"][0]["state"]);
    assert_eq!(codes.0, "cancelled", "{cancelled}");
    let word = if codes.1 == "cancelled" { "cancelled" } else { "job_not_started" };
    assert_eq!(cancelled["follow_ups"][0]["reason_code"], word, "{cancelled}");

    let app = TestApp::start().await;
    let olga = app.operator().await;
    app.upstream.on_create(ResponseTemplate::new(502)).await;
    let job = olga.created("Fix typos").await;
    assert_eq!(job["reason_code"], "platform_failed");
    app.upstream.accepts_jobs().await;
    let fields = [
        ("project", "docs"),
        ("job", job["id"].as_str().unwrap()),
        ("message", "0"),
        ("attempt", "0"),
        ("outcome", "not_started"),
    ];
    olga.post_json("/api/jobs/resolve", &fields).await;
    let sent = Script::of(&app).await.got(&path_of(&job)).await;
    assert_eq!((&sent["state"], &sent["reason_code"]), (&json!("active"), &Value::Null));
}

/// Also without a text of the platform, and after the platform archived the job.
#[tokio::test]
async fn failed_agent_has_a_code() {
    for words in [Value::Null, json!("The branch is protected.")] {
        let app = TestApp::with(frozen()).await;
        let failed = job_with("job_1", "failed", "error", words.clone());
        app.upstream.on_create(ResponseTemplate::new(201).set_body_json(failed)).await;
        let (olga, script) = (app.operator().await, Script::of(&app).await);
        let job = started(&script, "one", json!({"prompt": "Fix typos"})).await;
        assert_eq!((&job["reason_code"], &job["reason"]), (&json!("agent_failed"), &words));
        let archived = ResponseTemplate::new(200).set_body_json(remote_job("job_1", "archived"));
        app.upstream.on_read(archived).await;
        poll_after(&app, NEXT_READ).await;
        until("it is archived", async || (badge(&olga, &job).await["state"] == "archived").then_some(()))
            .await;
        let archived = script.got(&path_of(&job)).await;
        assert_eq!((&archived["reason_code"], &archived["reason"]), (&json!("agent_failed"), &words));
    }
}

#[tokio::test]
async fn every_code_is_described_and_documented() {
    let app = TestApp::start().await;
    let description = description(&app).await;
    let described = &description["components"]["schemas"]["ReasonCode"];
    let reference = app.operator().await.get("/docs/api").await.text;
    let names: Vec<&str> = ReasonCode::VARIANTS.iter().map(|code| code.as_str()).collect();
    assert_eq!(described["enum"], json!(names));
    for code in ReasonCode::VARIANTS {
        let (name, meaning) = (code.as_str(), code.meaning());
        assert!(
            described["description"].as_str().unwrap().contains(&format!("- `{name}`: {meaning}")),
            "{name}"
        );
        assert!(DOCUMENT.contains(&format!("| `{name}` | {meaning} |\n")), "{name} in tokens.md");
        assert!(reference.contains(&format!(">{name}<")), "{name} in the reference");
    }
}
