//! `DOCKET_DIRECT_PROJECTS`: projects whose changes the platform publishes without pull requests.

use std::time::Duration;

use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{Browser, New, Settings, TestApp, detached_job, json, remote_job, until, with_batch};

const BOTH: &str = "Probably no file had to change; if the platform publishes changes of this project directly, they may be online.";

fn direct(projects: &[&'static str]) -> Settings {
    Settings {
        direct_projects: projects.to_vec(),
        poll_interval: Duration::from_secs(3),
        ..Settings::default()
    }
}

/// A job of `project` that was completed without a link.
async fn completed(app: &TestApp, person: &Browser, project: &str, id: &str) -> Value {
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job(id, "completed"))).await;
    let job = New::job("Fix typos").with("project", project).made(person).await;
    assert_eq!(job["state"], "completed");
    job
}

async fn listed(person: &Browser, project: &str, query: &[(&str, &str)]) -> Value {
    let pairs: Vec<_> = [("project", project)].into_iter().chain(query.iter().copied()).collect();
    person.post_json("/api/jobs/list", &pairs).await
}

async fn page(person: &Browser, job: &Value) -> String {
    let path = format!("/p/{}/jobs/{}", job["project"].as_str().unwrap(), job["id"].as_str().unwrap());
    person.get(&path).await.text
}

#[tokio::test]
async fn completed_job_of_a_direct_project_needs_no_attention() {
    let app = TestApp::with(direct(&["docs"])).await;
    let operator = app.operator().await;
    let job = completed(&app, &operator, "docs", "job_1").await;
    let other = completed(&app, &operator, "api", "job_2").await;

    let [docs, api] = [listed(&operator, "docs", &[]).await, listed(&operator, "api", &[]).await];
    assert_eq!([&docs["attention"], &docs["no_changes"]], [&json!(0), &json!(0)]);
    assert_eq!([&api["attention"], &api["no_changes"]], [&json!(1), &json!(1)]);
    assert_eq!(docs["jobs"][0]["is_direct"], true);

    let [shown, shown_other] = [page(&operator, &job).await, page(&operator, &other).await];
    assert!(shown.contains("published directly") && !shown.contains("no changes"), "{shown}");
    assert!(shown_other.contains("no changes") && shown_other.contains(BOTH), "{shown_other}");
    for path in ["/p/docs/jobs", "/p/docs/notifications", "/p/docs"] {
        let text = operator.get(path).await.text;
        assert!(text.contains("published directly") && !text.contains("no changes"), "{path}: {text}");
    }
}

#[tokio::test]
async fn change_of_the_setting_updates_earlier_jobs() {
    let mut app = TestApp::with(direct(&[])).await;
    let operator = app.operator().await;
    completed(&app, &operator, "docs", "job_1").await;
    let attention = async |app: &TestApp| {
        let operator = app.operator().await;
        let list = listed(&operator, "docs", &[("needs", "attention")]).await;
        (list["total"].clone(), list["attention"].clone())
    };
    assert_eq!(attention(&app).await, (json!(1), json!(1)));
    app.restart_with(|settings| settings.direct_projects = vec!["docs"]).await;
    assert_eq!(attention(&app).await, (json!(0), json!(0)));
    app.restart_with(|settings| settings.direct_projects = vec!["api"]).await;
    assert_eq!(attention(&app).await, (json!(1), json!(1)));
}

#[tokio::test]
async fn job_of_a_direct_project_with_a_pull_request_or_a_failure_is_shown_as_usual() {
    let app = TestApp::with(direct(&["docs"])).await;
    let operator = app.operator().await;
    let mut with_link = remote_job("job_1", "completed");
    with_link["prLink"] = json!("https://github.com/acme/docs/pull/7");
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(with_link)).await;
    let job = operator.created("Fix typos").await;
    assert!(
        !page(&operator, &job).await.contains("published directly"),
        "a protected branch gets a pull request"
    );
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_2", "failed"))).await;
    operator.created("Fix more").await;
    assert_eq!(listed(&operator, "docs", &[]).await["attention"], 1);
}

#[tokio::test]
async fn retry_that_is_published_directly_resolves_the_job_that_failed() {
    let app = TestApp::with(direct(&["docs"])).await;
    let operator = app.operator().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "failed"))).await;
    let failed = operator.created("Fix typos").await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_2", "active"))).await;
    // Docket also asks once more for the failed job.
    app.upstream
        .on_read(|request: &Request| {
            let (id, status) = match request.url.path().ends_with("/job_1") {
                true => ("job_1", "failed"),
                false => ("job_2", "completed"),
            };
            ResponseTemplate::new(200).set_body_json(remote_job(id, status))
        })
        .await;
    New::job("Fix typos").with("retry_of", failed["id"].as_str().unwrap()).made(&operator).await;
    until("the failed job is resolved", async || {
        Some(operator.job(&failed).await).filter(|job| job["resolved_by"].is_string())
    })
    .await;
    assert_eq!(listed(&operator, "docs", &[]).await["attention"], 0);
}

#[tokio::test]
async fn jobs_of_a_direct_project_count_nowhere_as_unchanged() {
    let app = TestApp::with(direct(&["docs"])).await;
    let operator = app.operator().await;
    app.upstream
        .on_create(|_: &Request| {
            ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), "completed"))
        })
        .await;
    let batch = New::batch("{{page}}", "page\n/a\n/b\n").id(&operator).await;
    with_batch(&operator, "start", &batch).await;
    until("both are completed", async || {
        (listed(&operator, "docs", &[("status", "completed")]).await["total"] == 2).then_some(())
    })
    .await;
    let batches = operator.post_json("/api/batches/list", &[("project", "docs")]).await;
    assert_eq!(batches["batches"][0]["progress"]["no_changes"], 0);
    let filtered = listed(&operator, "docs", &[("status", "no-changes")]).await;
    assert_eq!((&filtered["total"], filtered["jobs"].as_array().unwrap().len()), (&json!(0), 0));
    // After a look at the notifications, only the section of finished jobs has them, as one row.
    operator.get("/p/docs/notifications").await;
    let overview = operator.get("/p/docs").await.text;
    assert!(overview.contains(&format!("/p/docs/batches/{batch}")), "{overview}");
}

#[tokio::test]
async fn process_with_other_projects_keeps_the_setting() {
    let mut app = TestApp::with(direct(&["docs"])).await;
    let operator = app.operator().await;
    completed(&app, &operator, "docs", "job_1").await;
    app.restart_with(|settings| {
        (settings.projects, settings.direct_projects) = ("api=API".to_owned(), vec![])
    })
    .await;
    app.restart_with(|settings| {
        settings.projects = "docs=Docs,api=API reference".to_owned();
        settings.direct_projects = vec!["docs"];
    })
    .await;
    let stored = app.ledger().count("SELECT is_refreshed FROM direct_projects WHERE project = 'docs'").await;
    assert_eq!(stored, 1);
    assert_eq!(listed(&app.operator().await, "docs", &[]).await["attention"], 0);
}
