//! A repeated request with the same idempotency key gets the first answer, whatever changed since.

use serde_json::Value;
use wiremock::ResponseTemplate;

use super::Script;
use crate::api_tokens::{create, problem};
use crate::helpers::{New, PausedUpstream, Settings, TestApp, intent, json, until};

const JOBS: &str = "/projects/docs/jobs";
const REPLAYED: &str = "idempotent-replayed";

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
    assert_eq!(again.header(REPLAYED), "true");
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

/// Bodies that differ from the first one in one respect, and from each other.
fn bodies(template: &str, retried: &str) -> Vec<Value> {
    let base = json!({"prompt": "Fix typos", "pages": ["/a"], "tags": ["one"]});
    let with = |changes: Value| {
        let mut body = base.clone();
        for (field, value) in changes.as_object().unwrap() {
            body[field] = value.clone();
        }
        body
    };
    let filled = |page: &str| json!({"template": {"id": template, "values": {"page": page}}});
    let looked_at = |mut body: Value| {
        body["prompt"] = json!("Look at {{page}}");
        body
    };
    vec![
        base.clone(),
        with(json!({"prompt": "Fix links"})),
        with(json!({"pages": ["/b"]})),
        with(json!({"pages": ["/a", "/b"]})),
        with(json!({"pages": []})),
        with(json!({"tags": ["one", "two"]})),
        with(json!({"tags": []})),
        with(json!({"queue": true})),
        with(json!({"retry_of": retried})),
        with(looked_at(filled("/a"))),
        with(looked_at(filled("/b"))),
        filled("/a"),
    ]
}

/// The same request, written in another way.
fn rewritten(body: &Value) -> Value {
    let mut same = body.clone();
    for list in ["pages", "tags"] {
        if let Some(list) = same.get_mut(list).and_then(Value::as_array_mut) {
            list.reverse();
        }
    }
    if same["queue"].is_null() {
        same["queue"] = json!(false);
    }
    same
}

#[tokio::test]
async fn key_with_another_body_is_refused_whatever_differs() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    let rejected = Script::of(&app).await.post(JOBS, "rejected", &json!({"prompt": "Fix"})).await.json();
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    let id = template(&app, "Check {{page}}").await;
    let bodies = bodies(&id, rejected["id"].as_str().unwrap());
    for (number, first) in bodies.iter().enumerate() {
        let (script, key) = (Script::of(&app).await, format!("key-{number}"));
        let job = script.post(JOBS, &key, first).await;
        assert_eq!((job.status, job.header(REPLAYED)), (201, ""), "{}", job.text);
        let audited = app.ledger().count("SELECT COUNT(*) FROM audit").await;
        for other in &bodies {
            let again = script.post(JOBS, &key, &rewritten(other)).await;
            if other == first {
                assert_eq!((again.status, again.header(REPLAYED)), (201, "true"), "{first}: {}", again.text);
                assert_eq!(again.json(), job.json());
            } else {
                problem(&again, 422, "intent_reused");
            }
        }
        assert_eq!(app.ledger().count("SELECT COUNT(*) FROM audit").await, audited);
        assert_eq!(app.upstream.posts().await.len(), number + 1);
    }
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM jobs").await, 1 + bodies.len() as i64);
}

/// A matrix over pages with one key starts one job, and the other legs learn that they started none.
#[tokio::test]
async fn key_of_another_page_is_refused_by_the_tool_and_the_form() {
    let app = app().await;
    let (script, olga) = (Script::of(&app).await, app.operator().await);
    let call = async |page: &str| {
        let arguments =
            json!({"project": "docs", "prompt": "Fix typos", "pages": [page], "idempotency_key": "one"});
        script.call("start_job", arguments).await
    };
    let job = call("/a").await["structuredContent"]["id"].take();
    assert_eq!(call("/a").await["structuredContent"]["id"], job);
    assert_eq!(call("/b").await["isError"], true);
    let sent = intent();
    let form = |field: &str, value: &str| New::job("Fix typos").with("intent", &sent).with(field, value);
    let first = form("paths", "/a, /b").post(&olga).await;
    assert_eq!((first.status, first.header(REPLAYED)), (200, ""), "{}", first.text);
    let again = form("paths", "/b\n/a").with("queue", "on").post(&olga).await;
    assert_eq!((again.status, again.header(REPLAYED)), (200, "true"), "{}", again.text);
    assert_eq!(again.json()["id"], first.json()["id"]);
    let id = template(&app, "Fix typos").await;
    for (field, value) in [("paths", "/a"), ("paths", ""), ("template_id", id.as_str())] {
        form(field, value).post(&olga).await.refused(422, "intent_reused");
    }
    // A script that sends the same as a form, with its intent as the key.
    let same = json!({"prompt": "Fix typos", "pages": ["/b", "/a"]});
    assert_eq!(script.post(JOBS, &sent, &same).await.header(REPLAYED), "true");
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn follow_up_with_another_body_is_refused() {
    let app = app().await;
    app.upstream.accepts_follow_ups().await;
    let script = Script::of(&app).await;
    let job = script.post(JOBS, "job", &json!({"prompt": "Fix typos"})).await.json();
    let messages = format!("{JOBS}/{}/messages", job["id"].as_str().unwrap());
    let bodies =
        [json!({"prompt": "More"}), json!({"prompt": "More", "queue": true}), json!({"prompt": "Less"})];
    for (number, first) in bodies.iter().enumerate() {
        let key = format!("follow-up-{number}");
        let sent = script.post(&messages, &key, first).await;
        assert_eq!((sent.status, sent.header(REPLAYED)), (201, ""), "{}", sent.text);
        for other in &bodies {
            let again = script.post(&messages, &key, &rewritten(other)).await;
            match other == first {
                true => assert_eq!((again.status, again.header(REPLAYED)), (201, "true"), "{}", again.text),
                false => drop(problem(&again, 422, "intent_reused")),
            }
        }
    }
    assert_eq!(app.upstream.posts().await.len(), 1 + bodies.len());
}

#[tokio::test]
async fn prompt_of_an_earlier_version_is_compared_without_tags_and_pages() {
    let app = app().await;
    let script = Script::of(&app).await;
    let body = json!({"prompt": "Fix typos", "tags": ["one"], "pages": ["/a"]});
    let job = script.post(JOBS, "first", &body).await.json();
    app.ledger().run("UPDATE messages SET body_hash = NULL").await;
    for (field, value) in
        [("tags", json!(["two", "three"])), ("pages", json!(["/b"])), ("queue", json!(true))]
    {
        let mut other = body.clone();
        other[field] = value;
        repeats(&app, &script, "first", &other, &job).await;
    }
    problem(&script.post(JOBS, "first", &json!({"prompt": "Fix links"})).await, 422, "intent_reused");
    app.ledger().run("UPDATE messages SET request_hash = NULL").await;
    repeats(&app, &script, "first", &body, &job).await;
    problem(&script.post(JOBS, "first", &json!({"prompt": "Fix links"})).await, 422, "intent_reused");
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
