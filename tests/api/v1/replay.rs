//! A repeated request with the same idempotency key gets the first answer, whatever changed since.

use serde_json::Value;

use super::Script;
use crate::api_tokens::{create, problem};
use crate::helpers::{New, PausedUpstream, Settings, TestApp, json, until};

const JOBS: &str = "/projects/docs/jobs";

async fn app() -> TestApp {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app
}

/// A new template of the project, by its id.
async fn template(app: &TestApp, text: &str) -> String {
    New::template("Check", text).id(&app.operator().await).await
}

/// Sends the request again, which starts nothing and gets the same job.
async fn repeats(app: &TestApp, script: &Script, key: &str, body: &Value, job: &Value) {
    let posts = app.upstream.posts().await.len();
    let again = script.post(JOBS, key, body).await;
    assert_eq!((again.status, &again.json()), (201, job), "{}", again.text);
    assert_eq!(app.upstream.posts().await.len(), posts);
}

#[tokio::test]
async fn changed_or_deleted_template_does_not_change_the_answer() {
    let app = app().await;
    let (script, olga) = (Script::of(&app).await, app.operator().await);
    for with_prompt in [false, true] {
        let id = template(&app, "Check {{page}}").await;
        let mut body = json!({"template": {"id": id, "values": {"page": "/a"}}});
        if with_prompt {
            body["prompt"] = json!("Look at {{page}}");
        }
        let key = format!("nightly-{with_prompt}");
        let first = script.post(JOBS, &key, &body).await;
        assert_eq!(first.status, 201, "{}", first.text);
        let mut job = first.json();
        repeats(&app, &script, &key, &body, &job).await;
        for text in ["Check {{page}} again", "Check {{other}}", "Check"] {
            New::template("Check", text).with("template", &id).made(&olga).await;
            repeats(&app, &script, &key, &body, &job).await;
        }
        olga.post_json("/api/templates/remove", &[("project", "docs"), ("template", &id)]).await;
        job["template"] = Value::Null;
        repeats(&app, &script, &key, &body, &job).await;
        for (field, value) in
            [("values", json!({"page": "/b"})), ("id", json!("01920000-0000-7000-8000-000000000001"))]
        {
            let mut other = body.clone();
            other["template"][field] = value;
            problem(&script.post(JOBS, &key, &other).await, 422, "intent_reused");
        }
    }
    assert_eq!(app.upstream.posts().await.len(), 2);
}

/// The text of the filled template and the template are different requests, whichever comes first.
#[tokio::test]
async fn key_of_a_template_and_of_its_text_are_different_requests() {
    let app = app().await;
    let script = Script::of(&app).await;
    let id = template(&app, "Check {{page}}").await;
    let filled = json!({"prompt": "Check /a"});
    let by_id = json!({"template": {"id": id, "values": {"page": "/a"}}});
    let by_name = json!({"template": {"name": "Check", "values": {"page": "/a"}}});
    let requests = [filled, by_id, by_name];
    for (number, first) in requests.iter().enumerate() {
        let key = format!("key-{number}");
        let job = script.post(JOBS, &key, first).await;
        assert_eq!((job.status, &job.json()["prompt"]), (201, &json!("Check /a")), "{}", job.text);
        for other in requests.iter().filter(|other| *other != first) {
            problem(&script.post(JOBS, &key, other).await, 422, "intent_reused");
        }
        repeats(&app, &script, &key, first, &job.json()).await;
    }
    assert_eq!(app.upstream.posts().await.len(), 3);
}

#[tokio::test]
async fn stricter_limit_does_not_change_the_answer() {
    let mut app = app().await;
    app.upstream.accepts_follow_ups().await;
    let mut script = Script::of(&app).await;
    let body = json!({"prompt": "Fix typos in e\u{301}t\u{e9}"});
    let job = script.post(JOBS, "first", &body).await.json();
    let messages = format!("{JOBS}/{}/messages", job["id"].as_str().unwrap());
    let followed_up = script.post(&messages, "second", &body).await;
    assert_eq!(followed_up.status, 201, "{}", followed_up.text);
    assert_eq!(followed_up.json()["follow_ups"][0]["state"], "accepted");
    app.restart_with(|settings| settings.prompt_max = 5).await;
    script.client = app.anonymous();
    for (path, key) in [(JOBS, "first"), (messages.as_str(), "second")] {
        let again = script.post(path, key, &body).await;
        assert_eq!((again.status, &again.json()["id"]), (201, &job["id"]), "{}", again.text);
        problem(&script.post(path, &format!("{key}-new"), &body).await, 400, "bad_input");
        problem(&script.post(path, key, &json!({"prompt": "x"})).await, 422, "intent_reused");
    }
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn replay_with_other_tags_or_pages_changes_nothing() {
    let app = app().await;
    let script = Script::of(&app).await;
    let body = json!({"prompt": "Fix typos", "tags": ["one"], "pages": ["/a"]});
    let job = script.post(JOBS, "first", &body).await.json();
    assert_eq!((&job["tags"], &job["pages"]), (&json!(["one"]), &json!(["/a"])));
    let events = "SELECT COUNT(*) FROM audit";
    let before = app.ledger().count(events).await;
    for (field, value) in
        [("tags", json!(["two", "three"])), ("pages", json!(["/b"])), ("queue", json!(true))]
    {
        let mut other = body.clone();
        other[field] = value;
        repeats(&app, &script, "first", &other, &job).await;
    }
    assert_eq!(script.got(&format!("{JOBS}/{}", job["id"].as_str().unwrap())).await["tags"], json!(["one"]));
    assert_eq!(app.ledger().count(events).await, before);
}

#[tokio::test]
async fn job_has_its_tags_before_its_prompt_is_sent() {
    let upstream = PausedUpstream::start().await;
    let app = TestApp::with(Settings { upstream_url: Some(upstream.url()), ..Settings::default() }).await;
    let script = Script::of(&app).await;
    upstream.pause();
    let body = json!({"prompt": "Fix typos", "tags": ["nightly"]});
    let start = script.post(JOBS, "first", &body);
    let abandoned =
        until("the platform has it", async || (upstream.posts_of("Fix typos") == 1).then_some(()));
    tokio::select! {
        response = start => panic!("nothing was answered yet: {}", response.text),
        () = abandoned => {}
    }
    assert_eq!(script.got(JOBS).await["jobs"][0]["tags"], json!(["nightly"]));
    upstream.resume();
    assert_eq!(script.post(JOBS, "first", &body).await.json()["tags"], json!(["nightly"]));
    assert_eq!(upstream.posts_of("Fix typos"), 1);
}

#[tokio::test]
async fn key_belongs_to_the_owner_and_the_project() {
    let app = app().await;
    let (script, second) = (Script::of(&app).await, Script::of(&app).await);
    let body = json!({"prompt": "Fix typos"});
    let job = script.post(JOBS, "first", &body).await.json();
    repeats(&app, &second, "first", &body, &job).await;
    problem(&second.post("/projects/api/jobs", "first", &body).await, 422, "intent_reused");
    let messages = format!("{JOBS}/{}/messages", job["id"].as_str().unwrap());
    problem(&script.post(&messages, "first", &body).await, 422, "intent_reused");
    let token = create(&app.sign_in("otto").await, &[("scopes", super::ALL_SCOPES)]).await;
    let of_otto = Script { token, client: app.anonymous() };
    let other = of_otto.post(JOBS, "first", &body).await;
    assert_eq!(other.status, 201, "{}", other.text);
    assert_ne!(other.json()["id"], job["id"]);
    assert_eq!(app.upstream.posts().await.len(), 2);
}
