//! Follow-ups have ids: each request has the answer about its own.

use std::collections::BTreeSet;

use serde_json::Value;
use wiremock::ResponseTemplate;

use super::Script;
use super::jobs::{JOBS, app, path_of, started};
use crate::api_tokens::{create, problem};
use crate::helpers::{TestApp, intent, json};
use crate::queue::per_hour;

/// A script with a token of otto's.
async fn of_otto(app: &TestApp) -> Script {
    let token = create(&app.sign_in("otto").await, &[("scopes", "jobs:read,jobs:write")]).await;
    Script { token, client: app.anonymous() }
}

fn follow_up<'a>(job: &'a Value, id: &Value) -> &'a Value {
    let found = job["follow_ups"].as_array().unwrap().iter().find(|follow_up| follow_up["id"] == *id);
    found.unwrap_or_else(|| panic!("no {id} in {job}"))
}

#[tokio::test]
async fn answer_names_the_follow_up_that_the_request_sent() {
    let app = app().await;
    app.upstream.accepts_follow_ups().await;
    let (olga, otto) = (Script::of(&app).await, of_otto(&app).await);
    let writer = Script::with(&app, &[("scopes", "jobs:write")]).await;
    let job = started(&olga, "first", json!({"prompt": "Fix typos"})).await;
    let messages = format!("{}/messages", path_of(&job));
    let mut ids = BTreeSet::new();
    for (number, script) in [&olga, &otto, &writer, &olga].into_iter().enumerate() {
        let body = json!({"prompt": format!("Follow-up {number}")});
        let sent = script.post(&messages, &format!("key-{number}"), &body).await.json();
        let id = sent["follow_up_id"].as_str().unwrap().to_owned();
        let job = olga.got(&path_of(&job)).await;
        assert_eq!(follow_up(&job, &sent["follow_up_id"])["prompt"], body["prompt"]);
        // By somebody who browses, too.
        app.operator().await.follow_up(&job, "By hand", &intent()).await;
        let again = script.post(&messages, &format!("key-{number}"), &body).await.json();
        assert_eq!(again["follow_up_id"], json!(id), "a repeated request");
        assert!(ids.insert(id), "{ids:?}");
    }
    let call =
        json!({"project": "docs", "job": job["id"], "prompt": "By an agent", "idempotency_key": "mcp"});
    let results =
        [olga.call("send_follow_up", call.clone()).await, writer.call("send_follow_up", call).await];
    let [whole, short] = results.map(|mut result| result["structuredContent"].take());
    assert_eq!(whole["follow_up_id"], short["follow_up_id"]);
    assert_eq!(follow_up(&whole, &whole["follow_up_id"])["prompt"], "By an agent");
    assert_eq!((&whole["follow_up_state"], &short["follow_ups"]), (&json!("accepted"), &Value::Null));
    let (found, listed) = (olga.got(&path_of(&job)).await, olga.got(JOBS).await);
    let ids_in = |job: &Value| -> Vec<Value> {
        job["follow_ups"].as_array().unwrap().iter().map(|follow_up| follow_up["id"].clone()).collect()
    };
    assert_eq!((ids_in(&found), ids_in(&found).len()), (ids_in(&listed["jobs"][0]), 9));
}

/// A job that is answered without its earliest follow-ups.
#[tokio::test]
async fn repeated_request_names_a_follow_up_before_the_last_ones() {
    let app = app().await;
    app.upstream.accepts_follow_ups().await;
    let script = Script::of(&app).await;
    let job = started(&script, "first", json!({"prompt": "Fix typos"})).await;
    let messages = format!("{}/messages", path_of(&job));
    let body = json!({"prompt": "The first one"});
    let first = script.post(&messages, "the-first", &body).await.json();
    let otto = app.sign_in("otto").await;
    for number in 0..52 {
        otto.follow_up(&job, &format!("Number {number}"), &intent()).await;
    }
    app.upstream.on_follow_up(ResponseTemplate::new(400)).await;
    otto.follow_up(&job, "The last one", &intent()).await;
    let again = script.post(&messages, "the-first", &body).await;
    assert_eq!(again.status, 201);
    let again = again.json();
    assert_eq!(
        (&again["follow_up_id"], &again["follow_up_state"]),
        (&first["follow_up_id"], &json!("accepted"))
    );
    assert_eq!(follow_up(&again, &first["follow_up_id"])["prompt"], "The first one");
}

#[tokio::test]
async fn status_of_a_follow_up_depends_on_no_other_one() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    app.upstream.accepts_follow_ups().await;
    let (olga, otto) = (Script::of(&app).await, of_otto(&app).await);
    let job = started(&olga, "first", json!({"prompt": "Fix typos"})).await;
    let messages = format!("{}/messages", path_of(&job));
    let (mine, theirs) = (json!({"prompt": "Mine"}), json!({"prompt": "Theirs", "queue": true}));
    assert_eq!(olga.post(&messages, "mine", &mine).await.status, 201);
    assert_eq!(otto.post(&messages, "theirs", &theirs).await.status, 202);
    let again = olga.post(&messages, "mine", &mine).await;
    assert_eq!((again.status, &again.json()["follow_up_state"]), (201, &json!("accepted")));
    let again = otto.post(&messages, "theirs", &theirs).await;
    assert_eq!((again.status, &again.json()["follow_up_state"]), (202, &json!("queued")));
    assert_eq!(olga.act(&format!("{}/cancel", path_of(&job))).await.status, 200);
    let again = otto.post(&messages, "theirs", &theirs).await;
    assert_eq!((again.status, &again.json()["follow_up_state"]), (201, &json!("cancelled")));

    // A job that is queued, with a follow-up that is cancelled.
    let queued = olga.post(JOBS, "second", &json!({"prompt": "Fix links", "queue": true})).await.json();
    let messages = format!("{}/messages", path_of(&queued));
    let words = json!({"prompt": "And words", "queue": true});
    let waits = otto.post(&messages, "waits", &words).await;
    let (status, waits) = (waits.status, waits.json());
    assert_eq!((status, &waits["follow_up_state"]), (202, &json!("queued")));
    let of_queue = [("project", "docs"), ("message", waits["follow_up_id"].as_str().unwrap())];
    let cancelled = app.operator().await.post("/api/queue/cancel", &of_queue).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.text);
    let again = otto.post(&messages, "waits", &words).await;
    assert_eq!((again.status, &again.json()["state"]), (201, &json!("queued")));
}

/// Each combination of a job and its follow-up that are queued: the request may be repeated.
#[tokio::test]
async fn cancelling_again_does_nothing() {
    for follow_ups in 0..3 {
        let app = TestApp::with(per_hour(1)).await;
        app.upstream.accepts_jobs().await;
        let script = Script::of(&app).await;
        started(&script, "first", json!({"prompt": "Fix typos"})).await;
        let job = script.post(JOBS, "second", &json!({"prompt": "Fix links", "queue": true})).await.json();
        for number in 0..follow_ups {
            let body = json!({"prompt": format!("And {number}"), "queue": true});
            let sent =
                script.post(&format!("{}/messages", path_of(&job)), &format!("f{number}"), &body).await;
            assert_eq!(sent.status, 202);
        }
        let cancel = format!("{}/cancel", path_of(&job));
        let first = script.act(&cancel).await;
        assert_eq!((first.status, &first.json()["state"]), (200, &json!("cancelled")), "{}", first.text);
        for _ in 0..2 {
            let again = script.act(&cancel).await;
            assert_eq!((again.status, again.json()), (200, first.json()), "{follow_ups}: {}", again.text);
        }
        let late = script.post(&format!("{}/messages", path_of(&job)), "late", &json!({"prompt": "x"})).await;
        let detail = problem(&late, 409, "conflict");
        assert!(detail.contains("was not started"), "{detail}");
    }
}
