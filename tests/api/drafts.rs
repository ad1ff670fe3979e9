//! Drafts are stored on the server: private, one per form, and only until they are sent.

use std::time::Duration;

use base::clock::Clock;
use serde_json::Value;

use crate::helpers::{Browser, Settings, TestApp, intent, json};

const DRAFT: &str = "/api/jobs/draft";

async fn save_draft(person: &Browser, text: &str, more: &[(&str, &str)]) -> Value {
    let fields: Vec<_> = [("project", "docs"), ("text", text)].iter().chain(more).copied().collect();
    person.post_json(DRAFT, &fields).await
}

async fn form(person: &Browser) -> Value {
    person.post_json("/api/jobs/form", &[("project", "docs")]).await
}

#[tokio::test]
async fn draft_is_restored_in_every_browser_of_its_author() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let saved = save_draft(&operator, "one\r\n", &[]).await;
    assert!(saved["saved_at"].as_str().unwrap().ends_with('Z'));
    let template = "01920000-0000-7000-8000-000000000000";
    let newer =
        save_draft(&operator, "two\r\nlines ", &[("paths", "/a, /b"), ("template_id", template)]).await;
    let elsewhere = form(&app.operator().await).await;
    assert_eq!((&elsewhere["draft"], &elsewhere["draft_paths"]), (&json!("two\nlines "), &json!("/a, /b")));
    assert_eq!(elsewhere["draft_saved_at"], newer["saved_at"]);
    assert_eq!(elsewhere["draft_template"], template);
    let page = app.operator().await.get("/p/docs/jobs/new").await.text;
    assert!(page.contains("two\nlines ") && page.contains("value=\"/a, /b\""));

    for (person, project) in [("otto", "docs"), ("olga", "api")] {
        let other = app.sign_in(person).await.post_json("/api/jobs/form", &[("project", project)]).await;
        assert_eq!(other["draft"], "", "{person} in {project}");
    }
}

#[tokio::test]
async fn empty_text_removes_the_draft() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for nothing in ["", " \r\n"] {
        save_draft(&operator, "one", &[]).await;
        assert_eq!(save_draft(&operator, nothing, &[]).await["saved_at"], json!(null));
        assert_eq!(form(&operator).await["draft"], "");
        assert_eq!(form(&operator).await["draft_saved_at"], json!(null));
    }
}

#[tokio::test]
async fn new_jobs_and_follow_ups_have_separate_drafts() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    save_draft(&operator, "for a new one", &[]).await;
    save_draft(&operator, "for this one", &[("job", job["id"].as_str().unwrap())]).await;
    assert_eq!(operator.draft(None).await, "for a new one");
    assert_eq!(operator.draft(Some(&job)).await, "for this one");
}

#[tokio::test]
async fn late_draft_of_a_sent_text_is_ignored() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let intent = intent();
    save_draft(&operator, "Fix typos", &[("intent", &intent)]).await;
    assert_eq!(operator.create("Fix typos", &intent).await.status, 200);
    assert_eq!(form(&operator).await["draft"], "");
    let late = save_draft(&operator, "Fix typ", &[("intent", &intent)]).await;
    assert_eq!((&late["saved_at"], &form(&operator).await["draft"]), (&json!(null), &json!("")));
    save_draft(&operator, "The next one", &[("intent", &crate::helpers::intent())]).await;
    assert_eq!(form(&operator).await["draft"], "The next one");
}

#[tokio::test]
async fn invalid_draft_is_refused_without_replacing_the_stored_one() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    save_draft(&operator, "kept", &[]).await;
    let (long, many) = ("x".repeat(32_769), "/a,".repeat(9_000));
    for (text, field) in [
        (long.as_str(), ("paths", "")),
        ("a\0", ("paths", "")),
        ("a", ("paths", many.as_str())),
        ("a", ("paths", "\0")),
        ("a", ("job", "../..")),
        ("a", ("intent", "a b")),
        ("a", ("template_id", "a b")),
    ] {
        let fields = [("project", "docs"), ("text", text), field];
        operator.post(DRAFT, &fields).await.refused(400, "bad_input");
    }
    let unknown = [("project", "docs"), ("text", "a"), ("job", "01920000-0000-7000-8000-000000000000")];
    operator.post(DRAFT, &unknown).await.refused(404, "not_found");
    operator.post(DRAFT, &[("project", "other"), ("text", "a")]).await.refused(404, "not_found");
    assert_eq!(operator.draft(None).await, "kept");
    app.sign_in("vera")
        .await
        .post(DRAFT, &[("project", "docs"), ("text", "a")])
        .await
        .refused(403, "forbidden");
    app.anonymous().post(DRAFT, &[("project", "docs"), ("text", "a")]).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn draft_is_discarded_without_javascript() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    save_draft(&operator, "Away with it", &[]).await;
    let page = operator.get("/p/docs/jobs/new").await.text;
    assert!(page.contains("formaction=\"/api/jobs/draft\""), "no button discards it");
    let intent = intent();
    let fields =
        [("project", "docs"), ("intent", &intent), ("prompt", "Away with it"), ("paths", ""), ("text", "")];
    let referer = format!("{}/p/docs/jobs/new", app.origin());
    let response = operator.submit(DRAFT, &fields, Some(&referer)).await;
    let path = response.location().trim_start_matches(&app.origin()).trim_end_matches('?');
    assert_eq!((response.status, path), (302, "/p/docs/jobs/new"));
    assert!(!operator.page("/p/docs/jobs/new").await.contains("Away with it"));
}

#[tokio::test]
async fn signing_out_keeps_the_draft() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    save_draft(&operator, "Mine", &[]).await;
    assert_eq!(operator.post("/api/session/logout", &[]).await.status, 200);
    assert_eq!(app.operator().await.draft(None).await, "Mine");
}

#[tokio::test]
async fn draft_for_an_unknown_job_is_not_stored() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let before = app.database_dump().await.len();
    let long = "x".repeat(32_000);
    for n in 0..100 {
        let job = format!("01920000-0000-7000-8000-{n:012}");
        let job = json!({"id": job});
        operator.follow_up(&job, &long, &intent()).await.refused(404, "not_found");
        assert_eq!(operator.draft(Some(&job)).await, "");
        let template = job["id"].as_str().unwrap();
        let fields = [("project", "docs"), ("template", template), ("name", "x"), ("text", long.as_str())];
        operator.post("/api/templates/save", &fields).await.refused(404, "not_found");
    }
    let grown = app.database_dump().await.len() - before;
    assert!(grown < 2_000_000, "{grown} bytes");
}

#[tokio::test]
async fn drafts_are_limited_to_fifty_and_ninety_days() {
    let clock = Clock::frozen(Clock::system().now());
    let app = TestApp::with(Settings { clock, ..Settings::default() }).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let mut jobs = Vec::new();
    for n in 0..52 {
        let job = operator.created(&format!("Job {n}")).await;
        save_draft(&operator, "more", &[("job", job["id"].as_str().unwrap())]).await;
        app.clock().advance(Duration::from_secs(1));
        jobs.push(job);
    }
    let otto = app.sign_in("otto").await;
    save_draft(&otto, "by otto", &[]).await;
    for (n, job) in jobs.iter().enumerate() {
        assert_eq!(operator.draft(Some(job)).await, if n < 2 { "" } else { "more" }, "{n}");
    }
    app.clock().advance(Duration::from_secs(91 * 86_400));
    let operator = app.operator().await;
    save_draft(&operator, "new", &[]).await;
    assert_eq!(operator.draft(Some(&jobs[51])).await, "");
    assert_eq!(app.sign_in("otto").await.draft(None).await, "");
    assert_eq!(operator.draft(None).await, "new");
}
