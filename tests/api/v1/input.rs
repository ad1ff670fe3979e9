//! Bad input gets a problem that names the mistake, and nothing is sent.

use reqwest::Method;
use serde_json::Value;

use super::Script;
use crate::api_tokens::problem;
use crate::helpers::{New, Settings, TestApp, json};

const JOBS: &str = "/projects/docs/jobs";

#[tokio::test]
async fn invalid_body_is_refused_with_the_reason() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    let large = format!("{{\"prompt\": \"{}\"}}", "x".repeat(1024 * 1024));
    let tags = json!({"prompt": "x", "tags": (0..51).map(|n| n.to_string()).collect::<Vec<_>>()}).to_string();
    let bodies: [(&[u8], u16, &str, &str); 11] = [
        (b"", 400, "bad_input", "not valid"),
        (b"[]", 400, "bad_input", "not valid"),
        (b"{\"prompt\": \"x\"", 400, "bad_input", "not valid"),
        (b"{\"prompt\": 1}", 400, "bad_input", "string"),
        (b"{\"prompt\": \"x\", \"colour\": 1}", 400, "bad_input", "colour"),
        (b"{\"prompt\": \"x\", \"queue\": \"yes\"}", 400, "bad_input", "boolean"),
        (b"{}", 400, "bad_input", "template"),
        (b"{\"prompt\": \" \"}", 400, "bad_input", "empty"),
        (b"{\"prompt\": \"\xff\"}", 400, "bad_input", "UTF-8"),
        (tags.as_bytes(), 400, "bad_input", "50 tags"),
        (large.as_bytes(), 413, "too_large", "KiB"),
    ];
    for (number, (body, status, code, part)) in bodies.into_iter().enumerate() {
        let request = script.request(Method::POST, JOBS).header("idempotency-key", format!("key-{number}"));
        let request = request.header("content-type", "application/json").body(body.to_vec());
        let detail = problem(&script.client.send(request).await, status, code);
        assert!(detail.contains(part), "{number}: {detail}");
    }
    assert_eq!(app.upstream.posts().await.len(), 0);
}

/// Names and values of a request are in errors, and a request may be longer than a response.
#[tokio::test]
async fn long_input_is_shortened_in_errors() {
    let app = TestApp::with(Settings { prompt_max: 100_000, ..Settings::default() }).await;
    let script = Script::of(&app).await;
    let id = New::template("Check", "Check {{page}}").id(&app.operator().await).await;
    let long = "x".repeat(1_200_000);
    let values = json!({"page": "/a", long.as_str(): "y"});
    for (body, status, code, end) in [
        (json!({"prompt": "x", long.as_str(): 1}), 400, "bad_input", "."),
        (json!({"prompt": "x", "pages": long}), 400, "bad_input", "."),
        (json!({"prompt": "x", "queue": long}), 400, "bad_input", "."),
        (json!({"prompt": "x", "tags": [long]}), 400, "bad_input", ""),
        (json!({"template": {"id": id, "values": values}}), 400, "bad_input", "”."),
        (json!({"template": {"id": long}}), 400, "bad_input", ""),
        (json!({"template": {"name": long}}), 400, "bad_input", ""),
    ] {
        let detail = problem(&script.post(JOBS, "key", &body).await, status, code);
        assert!(detail.chars().count() <= 1_000 && detail.ends_with(end), "{detail:.300}");
    }
    let key = "k".repeat(20_000);
    let detail = problem(&script.post(JOBS, &key, &json!({"prompt": "x"})).await, 400, "bad_input");
    assert!(detail.len() <= 4_000, "{}", detail.len());
}

#[tokio::test]
async fn body_that_is_not_json_is_refused() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    let form = script.request(Method::POST, JOBS).header("idempotency-key", "key").body("prompt=x");
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    problem(&script.client.send(form).await, 415, "unsupported_media_type");
    let plain =
        script.request(Method::POST, JOBS).header("idempotency-key", "key").body("{\"prompt\": \"x\"}");
    problem(&script.client.send(plain).await, 415, "unsupported_media_type");
}

#[tokio::test]
async fn compressed_body_is_refused() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    for (encoding, status) in [("gzip", 415), ("br", 415), ("identity, gzip", 415), ("identity", 201)] {
        app.upstream.accepts_jobs().await;
        let request =
            script.request(Method::POST, JOBS).header("idempotency-key", encoding.replace(", ", "-"));
        let request = request.header("content-encoding", encoding).json(&json!({"prompt": encoding}));
        assert_eq!(script.client.send(request).await.status, status, "{encoding}");
    }
    assert_eq!(app.upstream.posts().await.len(), 1);
    let vera = app.sign_in("vera").await;
    let form = vera.call("/api/jobs/list", &[("project", "docs")]).header("content-encoding", "gzip");
    vera.send(form).await.refused(415, "bad_input");
}

#[tokio::test]
async fn byte_order_mark_before_json_is_ignored() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let request = script.request(Method::POST, JOBS).header("idempotency-key", "key");
    let body = "\u{feff}{\"prompt\": \"Fix typos\"}";
    let response = script.client.send(request.header("content-type", "application/json").body(body)).await;
    assert_eq!(response.status, 201, "{}", response.text);
    let posts = app.upstream.posts().await;
    assert_eq!(posts[0].body_json::<Value>().unwrap(), json!({"prompt": "Fix typos"}));
}

#[tokio::test]
async fn idempotency_key_is_required_and_checked() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let body = json!({"prompt": "Fix typos"});
    let without = script.client.send(script.request(Method::POST, JOBS).json(&body)).await;
    problem(&without, 400, "idempotency_key_required");
    let twice =
        script.request(Method::POST, JOBS).header("idempotency-key", "a").header("idempotency-key", "b");
    problem(&script.client.send(twice.json(&body)).await, 400, "idempotency_key_required");
    for key in ["", "with space", "ö", &"x".repeat(65)] {
        let request = script.request(Method::POST, JOBS).header("idempotency-key", key).json(&body);
        assert_eq!(script.client.send(request).await.status, 400, "{key}");
    }
    assert_eq!(app.upstream.posts().await.len(), 0);
    assert_eq!(script.post(JOBS, "\"in-quotes\"", &body).await.status, 201);
}

#[tokio::test]
async fn invalid_fields_of_the_address_are_refused() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    for query in [
        "limit=0",
        "limit=101",
        "limit=ten",
        "status=sleeping",
        "pr=maybe",
        "created_after=yesterday",
        "cursor=invented",
        "colour=red",
        "limit=1&limit=2",
    ] {
        problem(&script.get(&format!("{JOBS}?{query}")).await, 400, "bad_input");
    }
    problem(&script.get(&format!("{JOBS}/not-an-id")).await, 400, "bad_input");
}

/// A list would be decoded by position: each new field would change what it means.
#[tokio::test]
async fn list_in_place_of_an_object_is_refused() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    let id = New::template("Check", "Check {{page}}").id(&app.operator().await).await;
    let by_position = json!([id, null, {"page": "/z"}]);
    for body in [
        json!(["x", ["/a"], ["t"], null, null, false]),
        json!([]),
        json!({"template": by_position}),
        json!(null),
        json!("x"),
        json!(1),
    ] {
        let detail = problem(&script.post(JOBS, "key", &body).await, 400, "bad_input");
        assert!(detail.contains("an object"), "{body}: {detail}");
    }
    let job = format!("{JOBS}/01920000-0000-7000-8000-000000000001");
    for (path, body) in
        [("messages", json!(["x", false])), ("resolve", json!(["not_started", 0, null, null]))]
    {
        problem(&script.post(&format!("{job}/{path}"), "key", &body).await, 400, "bad_input");
    }
    let arguments = json!({"project": "docs", "template": by_position, "idempotency_key": "key"});
    let refused = script.call("start_job", arguments).await;
    assert_eq!(refused["structuredContent"]["errors"][0]["field"], "template", "{refused}");
    assert_eq!(app.upstream.posts().await.len(), 0);
}

#[tokio::test]
async fn request_without_fields_has_no_body_or_an_empty_one() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let job = script.post(JOBS, "key", &json!({"prompt": "Fix typos"})).await.json();
    let path = |action: &str| format!("{JOBS}/{}/{action}", job["id"].as_str().unwrap());
    for action in ["archive", "restore", "cancel"] {
        // Nothing is queued.
        let done = if action == "cancel" { 409 } else { 200 };
        assert_eq!(script.act(&path(action)).await.status, done, "{action}");
        assert_eq!(script.post(&path(action), "unused", &json!({})).await.status, done, "{action}");
        let refused = script.post(&path(action), "unused", &json!({"follow_up_id": "x"})).await;
        problem(&refused, 400, "bad_input");
        assert_eq!(refused.json()["errors"][0]["field"], "follow_up_id");
        for body in [json!([]), json!(null), json!("x")] {
            problem(&script.post(&path(action), "unused", &body).await, 400, "bad_input");
        }
        let text =
            script.request(Method::POST, &path(action)).header("content-type", "text/plain").body("abc");
        problem(&script.client.send(text).await, 415, "unsupported_media_type");
    }
}

#[tokio::test]
async fn errors_of_decoding_are_sentences_without_words_of_rust() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    let key = script.request(Method::POST, JOBS).header("idempotency-key", "schl\u{fc}ssel");
    let key = problem(&script.client.send(key.json(&json!({"prompt": "x"}))).await, 400, "bad_input");
    let mut details = vec![key];
    for query in
        ["limit=ten", "limit=", "limit=1e3", "limit=-1", "created_after=yesterday", "wait=x", "status=x"]
    {
        details.push(problem(&script.get(&format!("{JOBS}?{query}")).await, 400, "bad_input"));
    }
    details.push(problem(&script.get("/projects/docs/page-views?from=x").await, 400, "bad_input"));
    for body in [
        json!([]),
        json!({"prompt": {}}),
        json!({"prompt": [1]}),
        json!({"tags": {}}),
        json!({"tags": [1]}),
        json!({"template": {"values": []}}),
    ] {
        details.push(problem(&script.post(JOBS, "key", &body).await, 400, "bad_input"));
    }
    for detail in details {
        for word in ["..", "struct", "u32", "u64", "i64", "sequence", " map", "invalid digit", "elements"] {
            assert!(!detail.contains(word), "{word}: {detail}");
        }
    }
}
