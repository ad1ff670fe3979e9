//! Importing jobs that were started elsewhere, by their id.

use std::time::Duration;

use futures::future::join_all;
use wiremock::ResponseTemplate;

use crate::helpers::{Settings, TestApp, job_with, json, remote_job, steady, until};

#[tokio::test]
async fn imported_job_is_tracked() {
    let app =
        TestApp::with(Settings { poll_interval: Duration::from_millis(10), ..Settings::default() }).await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_7", "active"))).await;
    let operator = app.operator().await;
    let pairs = [("project", "docs"), ("remote_id", " job_7 "), ("note", "The <b>quickstart</b>\r\nby hand")];
    let job = operator.post_json("/api/jobs/import", &pairs).await;
    insta::assert_json_snapshot!(steady(&job));
    let done = job_with("job_7", "completed", "prLink", json!("https://git.example/pull/7"));
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(done)).await;
    until("it is done", async || (operator.job(&job).await["state"] == "completed").then_some(())).await;

    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(remote_job("job_7", "active"))).await;
    let followed = operator.follow_up(&job, "And more", &crate::helpers::intent()).await.json();
    assert_eq!(followed["follow_ups"][0]["state"], "accepted");
    assert_eq!(app.upstream.posts().await[0].url.path(), "/v2/agent/docs/job/job_7/message");
}

#[tokio::test]
async fn import_without_a_note_is_labeled_as_import() {
    let app = TestApp::start().await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_7", "completed"))).await;
    let operator = app.operator().await;
    let job = operator
        .post_json("/api/jobs/import", &[("project", "docs"), ("remote_id", "job_7"), ("note", " ")])
        .await;
    assert_eq!(job["prompt"], "Imported job job_7");
    assert!(app.upstream.posts().await.is_empty());
}

#[tokio::test]
async fn import_of_a_known_job_links_to_it() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let pairs = [("project", "docs"), ("remote_id", "job_1")];
    let message = operator.post("/api/jobs/import", &pairs).await.refused(409, "conflict");
    assert!(message.contains(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())), "{message}");
    assert_eq!(app.upstream.reads().await, 0);
}

#[tokio::test]
async fn job_of_another_project_is_not_imported() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"))).await;
    let (ada, operator) = (app.sign_in("ada").await, app.operator().await);
    let job = operator.created("Fix typos").await;
    let pairs = [("project", "api"), ("remote_id", "job_1")];
    let message = operator.post("/api/jobs/import", &pairs).await.refused(409, "conflict");
    assert!(message.contains(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())), "{message}");

    // A user who cannot see the other project gets no information about it.
    assert_eq!(
        app.manage(&ada, "change", "otto", &[("role", "operator"), ("projects", "api")]).await.status,
        200
    );
    let otto = app.sign_in("otto").await;
    let hidden = otto.post("/api/jobs/import", &pairs).await.refused(404, "not_found");
    app.upstream.reset().await;
    app.upstream.on_read(ResponseTemplate::new(404)).await;
    let unknown = otto.post("/api/jobs/import", &[("project", "api"), ("remote_id", "job_2")]).await;
    assert_eq!(hidden.replace("job_1", "job_2"), unknown.refused(404, "not_found"));
    let list = operator.post_json("/api/jobs/list", &[("project", "api")]).await;
    assert_eq!(list["jobs"], json!([]));
}

#[tokio::test]
async fn resubmitted_form_imports_once() {
    let app = TestApp::start().await;
    let slow = ResponseTemplate::new(200).set_body_json(remote_job("job_7", "active"));
    app.upstream.on_read(slow.set_delay(Duration::from_millis(200))).await;
    let operator = app.operator().await;
    let pairs = [("project", "docs"), ("remote_id", "job_7")];
    let responses = join_all((0..4).map(|_| operator.post("/api/jobs/import", &pairs))).await;
    let imported = responses.iter().filter(|response| response.status == 200).count();
    assert_eq!(imported, 1);
    for response in responses.iter().filter(|response| response.status != 200) {
        response.refused(409, "conflict");
    }
    let list = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    assert_eq!(list["jobs"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn job_unknown_upstream_is_not_imported() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let pairs = [("project", "docs"), ("remote_id", "job_7")];
    for (status, expected, code) in
        [(404, 404, "not_found"), (400, 502, "upstream_failed"), (500, 502, "upstream_failed")]
    {
        app.upstream.reset().await;
        app.upstream.on_read(ResponseTemplate::new(status).set_body_json(json!({"error": "no"}))).await;
        operator.post("/api/jobs/import", &pairs).await.refused(expected, code);
    }
    app.upstream.reset().await;
    for hostile in ["", "..", "a/../b", "a%2fb", "a?b", "a#b", "a\nb", "a\u{7}b", &"x".repeat(201)] {
        let pairs = [("project", "docs"), ("remote_id", hostile)];
        operator.post("/api/jobs/import", &pairs).await.refused(400, "bad_input");
    }
    let long = "x".repeat(32_769);
    let pairs = [("project", "docs"), ("remote_id", "job_7"), ("note", long.as_str())];
    operator.post("/api/jobs/import", &pairs).await.refused(400, "bad_input");
    assert!(app.upstream.requests().await.is_empty(), "a request reached the upstream");
    let list = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    assert_eq!(list["jobs"], json!([]));
}

#[tokio::test]
async fn failed_imports_are_limited() {
    let app = TestApp::start().await;
    app.upstream.on_read(ResponseTemplate::new(404)).await;
    let operator = app.operator().await;
    for n in 0..70 {
        let id = format!("job_{n}");
        let response = operator.post("/api/jobs/import", &[("project", "docs"), ("remote_id", &id)]).await;
        assert_eq!(response.status, if n < 60 { 404 } else { 429 }, "{n}");
    }
    assert_eq!(app.upstream.reads().await, 60);
}

#[tokio::test]
async fn viewers_cannot_import_and_the_form_works_without_javascript() {
    let app = TestApp::start().await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_7", "active"))).await;
    let viewer = app.sign_in("vera").await;
    let pairs = [("project", "docs"), ("remote_id", "job_7")];
    viewer.post("/api/jobs/import", &pairs).await.refused(403, "forbidden");
    let page = viewer.get("/p/docs/jobs/import").await.text;
    assert!(!page.contains("action=\"/api/jobs/import\""), "{page}");
    let operator = app.operator().await;
    operator
        .post("/api/jobs/import", &[("project", "nowhere"), ("remote_id", "job_7")])
        .await
        .refused(404, "not_found");
    let page = operator.get("/p/docs/jobs/import").await;
    assert_eq!(page.status, 200);
    for name in ["project", "remote_id", "note"] {
        assert!(page.text.contains(&format!("name=\"{name}\"")), "{name}");
    }
    let from = format!("{}/p/docs/jobs/import", app.origin());
    let response = operator.submit("/api/jobs/import", &pairs, Some(&from)).await;
    assert!(response.location().contains("/p/docs/jobs/"), "{}", response.location());
    let again = operator.submit("/api/jobs/import", &pairs, Some(&from)).await;
    let page = operator.get(again.location().trim_start_matches(&app.origin())).await;
    assert!(page.text.contains("already has a job with this id"), "the reason is not on the page");
}
