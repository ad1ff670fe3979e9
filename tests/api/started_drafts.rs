//! A draft is one job: forms with the same draft, such as in two tabs, start one, also if that has ended. Another one is started on purpose.

use std::time::Duration;

use base::clock::Clock;
use model::time::Timestamp;
use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{Browser, Settings, TestApp, TestResponse, detached_job, json, remote_job};

const TEXT: &str = "Rewrite the quickstart so that a newcomer sends a first request in five minutes";

/// An app whose jobs end at once, and a person with a draft.
async fn with_draft() -> (TestApp, Browser) {
    let now = "2025-03-10T10:15:00Z".parse::<Timestamp>().unwrap();
    let app = TestApp::with(Settings { clock: Clock::frozen(now), ..Settings::default() }).await;
    let ended = |_: &wiremock::Request| {
        ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), "completed"))
    };
    app.upstream.on_create(ended).await;
    let operator = app.operator().await;
    let form = form_of(&operator).await;
    let draft = form["draft_origin"].as_str().unwrap();
    assert_eq!(draft, form["intent"].as_str().unwrap(), "the form begins a draft");
    save(&operator, draft, draft, TEXT).await;
    (app, operator)
}

async fn form_of(person: &Browser) -> Value {
    person.post_json("/api/jobs/form", &[("project", "docs")]).await
}

async fn save(person: &Browser, intent: &str, draft: &str, text: &str) {
    let fields = [("project", "docs"), ("intent", intent), ("draft", draft), ("text", text)];
    person.post_json("/api/jobs/draft", &fields).await;
}

fn fields<'a>(form: &'a Value, similar: &'a str, text: &'a str) -> [(&'static str, &'a str); 5] {
    let [intent, draft] = ["intent", "draft_origin"].map(|name| form[name].as_str().unwrap());
    [("project", "docs"), ("prompt", text), ("intent", intent), ("draft", draft), ("similar", similar)]
}

async fn start(person: &Browser, form: &Value, similar: &str) -> TestResponse {
    person.post("/api/jobs/create", &fields(form, similar, TEXT)).await
}

#[tokio::test]
async fn two_tabs_with_one_draft_start_one_job() {
    let (app, operator) = with_draft().await;
    let (first, second) = (form_of(&operator).await, form_of(&operator).await);
    assert_eq!(first["draft_origin"], second["draft_origin"]);
    assert_ne!(first["intent"], second["intent"]);
    let job = start(&operator, &first, "ask").await.json();
    assert_eq!(job["state"], "completed");
    assert_eq!(start(&operator, &first, "ask").await.json()["id"], job["id"], "a repeated request");

    app.clock().advance(Duration::from_secs(5));
    let path = format!("/p/docs/jobs/{}", job["id"].as_str().unwrap());
    let message = start(&operator, &second, "ask").await.refused(409, "similar_job");
    assert_eq!(message, format!("This draft was started 5 seconds ago: {path}."));
    assert_eq!(operator.draft(None).await, TEXT, "the refused text is a draft");
    assert_eq!(app.upstream.posts().await.len(), 1);

    // The draft that was saved for the refused form is the same one, also with changes.
    let third = form_of(&operator).await;
    assert_eq!(third["draft_origin"], first["draft_origin"]);
    let changed = fields(&third, "ask", "Another text of that draft");
    operator.post("/api/jobs/create", &changed).await.refused(409, "similar_job");

    let another = start(&operator, &second, "on").await.json();
    assert_ne!(another["id"], job["id"]);
    assert_eq!(app.upstream.posts().await.len(), 2);
    assert_eq!(operator.draft(None).await, "", "it was sent");
}

#[tokio::test]
async fn forms_sent_at_once_with_one_draft_start_one_job() {
    let (app, operator) = with_draft().await;
    for round in 1..=5 {
        let (first, second) = (form_of(&operator).await, form_of(&operator).await);
        let send = |form| start(&operator, form, "ask");
        let (one, other) = futures::join!(send(&first), send(&second));
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{} {}", one.text, other.text);
        assert_eq!(app.upstream.posts().await.len(), round);
        // The next draft.
        operator.post_json("/api/jobs/draft", &[("project", "docs"), ("text", "")]).await;
        let next = form_of(&operator).await;
        let intent = next["intent"].as_str().unwrap();
        save(&operator, intent, intent, TEXT).await;
    }
}

#[tokio::test]
async fn plain_form_of_a_started_draft_offers_another_job() {
    let (app, operator) = with_draft().await;
    let (first, second) = (form_of(&operator).await, form_of(&operator).await);
    let job = start(&operator, &first, "ask").await.json();
    app.clock().advance(Duration::from_secs(120));
    let from = format!("{}/p/docs/jobs/new", app.origin());
    let back = operator.submit("/api/jobs/create", &fields(&second, "ask", TEXT), Some(&from)).await;
    assert!(back.location().ends_with("/p/docs/jobs/new"), "{}", back.location());
    let page = operator.get("/p/docs/jobs/new").await.text;
    let link = format!("href=\"/p/docs/jobs/{}\"", job["id"].as_str().unwrap());
    for part in ["This draft was started 2 minutes ago", &link, "View the job", "Start another", TEXT] {
        assert!(page.contains(part), "{part} is not on the page");
    }
    assert!(!page.contains("ago: /p/"), "the path is a link");
    let started = operator.submit("/api/jobs/create", &fields(&second, "on", TEXT), Some(&from)).await;
    assert!(!started.location().ends_with("/new"), "{}", started.location());
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn request_without_the_field_starts_another_job_from_a_draft() {
    let (app, operator) = with_draft().await;
    let (first, second) = (form_of(&operator).await, form_of(&operator).await);
    start(&operator, &first, "ask").await.json();
    let without = &fields(&second, "ask", TEXT)[..4];
    assert_eq!(operator.post("/api/jobs/create", without).await.json()["state"], json!("completed"));
    assert_eq!(app.upstream.posts().await.len(), 2);
}
