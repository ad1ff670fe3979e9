//! An app filled with one text.

use model::user::Role;
use reqwest::header::USER_AGENT;
use serde_json::Value;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{encoded, path_of};
use crate::analytics_pages::{NOON, at};
use crate::gate::pages;
use crate::helpers::work::work_at;
use crate::helpers::{
    Archive, Browser, New, PASSWORD, Settings, TestApp, TestResponse, Written, days, intent, job_with, json,
    password_hash, rows,
};

/// An app in which every text that users can provide is `text`, including a username.
pub(super) async fn world_of(text: &str) -> (TestApp, Browser, MockServer) {
    let one_line = text.replace(',', ";");
    let settings = Settings { projects: format!("docs={one_line},api={one_line}"), ..at(NOON) };
    let app = TestApp::with(settings).await;
    assert!(
        app.state()
            .store
            .add_user((&work_at(app.clock().now())).into(), text, Role::Admin, password_hash().await)
            .await
            .unwrap()
    );
    let person = app.anonymous();
    let pairs = [("username", text), ("password", PASSWORD)];
    let signed_in = person.send(person.call("/api/session/login", &pairs).header(USER_AGENT, text)).await;
    assert_eq!(signed_in.status, 200, "{}", signed_in.text);
    let receiver = MockServer::start().await;
    let refusal = ResponseTemplate::new(400).set_body_string(text);
    Mock::given(method("POST")).respond_with(refusal).mount(&receiver).await;
    (app, person, receiver)
}

/// A job of the upstream with `text` in every field.
pub(super) fn remote(id: &str, text: &str) -> Value {
    json!({
        "id": id, "status": text, "source": {"repository": text, "ref": text}, "model": text, "prLink": text,
        "createdAt": text, "archivedAt": text,
    })
}

/// Fills everything that stores a text with `text`; returns the pages that show it.
pub(crate) async fn fill(app: &TestApp, person: &Browser, receiver: &MockServer, text: &str) -> Vec<String> {
    let mut shown = Vec::new();
    let mut archive = Archive::of(app).await;
    for day in days("2026-11-01", "2026-11-20") {
        archive.put("docs", Written::new(day, rows(&[(text, 30, 12), ("/a", 3, 1)]))).await;
    }
    let template = person
        .post_json(
            "/api/templates/save",
            &[("project", "docs"), ("name", text), ("text", &format!("{text} {{{{page}}}}"))],
        )
        .await;
    let template = template.as_str().unwrap();
    shown.push(format!("/p/docs/templates?edit={template}"));
    shown.push(format!("/p/docs/jobs/new?template={template}"));

    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote(&format!("1{text}"), text))).await;
    let details = json!({"error": text, "details": [{"message": text}]});
    app.upstream.on_follow_up(ResponseTemplate::new(400).set_body_json(details.clone())).await;
    let job = New::job(text).with("paths", text).with("template_id", template).made(person).await;
    person.follow_up(&job, text, &intent()).await;
    person.follow_up(&job, text, "not an intent").await.refused(400, "bad_input");
    person.create(text, "not an intent").await.refused(400, "bad_input");
    shown.extend([
        path_of(&job),
        "/p/docs/jobs/new".to_owned(),
        format!("/p/docs/jobs/new?from={}", job["id"].as_str().unwrap()),
    ]);

    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(400).set_body_json(details)).await;
    shown.push(path_of(&person.created(text).await));
    app.upstream
        .on_read(ResponseTemplate::new(200).set_body_json(job_with("job_7", "active", "model", json!(text))))
        .await;
    let imported = [("project", "docs"), ("remote_id", "job_7"), ("note", text)];
    shown.push(path_of(&person.post_json("/api/jobs/import", &imported).await));

    let quoted = format!("\"{}\"", text.replace('"', "\"\""));
    let batch = New::batch(&format!("{text} {{{{first}}}}"), &quoted).id(person).await;
    shown.push(format!("/p/docs/batches/{batch}"));
    shown.push(format!("/p/docs/jobs/batch?from={batch}"));

    let query = format!("q={}", encoded(text));
    New::view(text, &query).with("shared", "true").made(person).await;
    New::note("2026-11-10", text).made(person).await;
    let address = format!("{}/{text}", receiver.uri());
    let webhook = New::webhook(&address).made(person).await;
    let webhook = webhook["id"].as_str().unwrap();
    person.post_json("/api/webhooks/test", &[("webhook", webhook)]).await;
    shown.push(format!("/admin/webhooks?webhook={webhook}"));

    let rows = json!([{"path": text, "human": 1, "ai": 1, "total": 2}]);
    let views = json!({"totals": {"human": 1, "ai": 1, "total": 2}, "views": rows, "hasMore": true});
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views)).await;
    let range = "from=2026-11-10&to=2026-11-20";
    let words = encoded(text);
    for query in [
        range.to_owned(),
        format!("{range}&q={words}"),
        format!("{range}&path={words}"),
        "from=2025-01-01&to=2025-01-31".to_owned(),
    ] {
        shown.push(format!("/p/docs/analytics?{query}"));
    }
    for query in ["q", "author", "tag"] {
        shown.push(format!("/p/docs/jobs?{query}={words}"));
    }
    shown
}

/// Every page, and those of the filled data.
pub(super) async fn every_page(person: &Browser, filled: Vec<String>) -> Vec<(String, TestResponse)> {
    let listed = pages().into_iter().filter(|path| !["/", "/login", "/setup"].contains(&path.as_str()));
    let mut all = Vec::new();
    for path in listed.chain(filled) {
        let page = person.get(&path).await;
        assert!(page.header("content-type").starts_with("text/html"), "{path}: {}", page.status);
        all.push((path, page));
    }
    all
}
