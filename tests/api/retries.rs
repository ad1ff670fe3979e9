//! Running a job again: the two jobs link to each other, and a retry with a pull request resolves the first one.

use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{Browser, New, TestApp, TestResponse, detached_job, intent, job_with, json, remote_job};
use crate::list::{list, prompts};

/// An upstream in which the prompt's first word determines the end of a job; `merge` is completed with a pull request.
async fn upstream_that_ends_jobs(app: &TestApp) {
    app.upstream
        .on_create(|request: &Request| {
            let prompt = request.body_json::<Value>().unwrap()["prompt"].as_str().unwrap().to_owned();
            let id = detached_job();
            let job = match prompt.split(' ').next().unwrap() {
                "merge" => job_with(
                    &id,
                    "completed",
                    "prLink",
                    json!(format!("https://git.example/acme/docs/pull/{}", id.len())),
                ),
                "shelve" => {
                    job_with(&id, "archived", "prLink", json!("https://git.example/acme/docs/pull/8"))
                }
                status => remote_job(&id, status),
            };
            ResponseTemplate::new(201).set_body_json(job)
        })
        .await;
}

async fn retry(person: &Browser, project: &str, prompt: &str, job: &str) -> TestResponse {
    New::job(prompt).with("project", project).with("retry_of", job).post(person).await
}

async fn retried(person: &Browser, prompt: &str, job: &Value) -> Value {
    let response = retry(person, "docs", prompt, job["id"].as_str().unwrap()).await;
    assert_eq!(response.status, 200, "{}", response.text);
    response.json()
}

async fn needing_attention(person: &Browser) -> Vec<String> {
    let page = list(person, &[("needs", "attention")]).await;
    prompts(&page).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn retry_with_a_pull_request_resolves_all_jobs_before_it() {
    let app = TestApp::start().await;
    upstream_that_ends_jobs(&app).await;
    let operator = app.operator().await;
    let first = operator.created("failed one").await;
    let second = retried(&operator, "failed two", &first).await;
    assert_eq!(needing_attention(&operator).await, ["failed two", "failed one"]);
    assert_eq!(second["retry_of"]["status"]["id"], first["id"]);
    let unchanged = retried(&operator, "completed three", &second).await;
    assert_eq!(needing_attention(&operator).await.len(), 3, "a retry without changes is no success");
    retried(&operator, "shelve it", &unchanged).await;
    assert_eq!(needing_attention(&operator).await.len(), 3, "an archived retry is no success");
    let good = retried(&operator, "merge four", &unchanged).await;
    assert_eq!(needing_attention(&operator).await, Vec::<String>::new());

    for (job, retry) in [(&first, &second), (&second, &unchanged), (&unchanged, &good)] {
        let job = operator.job(job).await;
        assert_eq!(job["retries"][0]["status"]["id"], retry["id"]);
        assert_eq!((&job["resolved_by"], &job["needs_attention"]), (&good["id"], &json!(null)));
    }
    let page = operator.get(&format!("/p/docs/jobs/{}", first["id"].as_str().unwrap())).await;
    assert!(page.text.contains("Retried as ") && page.text.contains("failed two"), "{}", page.text);
    let page = operator.get(&format!("/p/docs/jobs/{}", second["id"].as_str().unwrap())).await;
    assert!(page.text.contains("Retry of ") && page.text.contains("failed one"), "{}", page.text);
}

#[tokio::test]
async fn resolved_job_needs_attention_after_a_new_event() {
    let app = TestApp::start().await;
    upstream_that_ends_jobs(&app).await;
    app.upstream.on_follow_up(ResponseTemplate::new(400)).await;
    let operator = app.operator().await;
    let first = operator.created("failed one").await;
    retried(&operator, "merge two", &first).await;
    assert_eq!(needing_attention(&operator).await, Vec::<String>::new());
    operator.follow_up(&first, "Try once more", &intent()).await;
    assert_eq!(needing_attention(&operator).await, ["failed one"]);
}

#[tokio::test]
async fn job_shows_its_last_retries_only() {
    let app = TestApp::start().await;
    upstream_that_ends_jobs(&app).await;
    let operator = app.operator().await;
    let first = operator.created("failed one").await;
    let mut last = Value::Null;
    for n in 0..7 {
        last = retried(&operator, &format!("failed again {n}"), &first).await;
    }
    let shown = operator.job(&first).await;
    let retries = shown["retries"].as_array().unwrap();
    assert_eq!((retries.len(), &retries[0]["status"]["id"]), (5, &last["id"]));
    assert_eq!(shown["retries_total"], 7);
    let page = operator.page(&format!("/p/docs/jobs/{}", first["id"].as_str().unwrap())).await;
    assert!(page.contains("The newest 5 of 7 retries."), "{page}");
}

#[tokio::test]
async fn retry_of_a_hidden_job_is_refused() {
    let app = TestApp::start().await;
    upstream_that_ends_jobs(&app).await;
    let operator = app.operator().await;
    let first = operator.created("failed one").await;
    let sent = app.upstream.posts().await.len();
    let id = first["id"].as_str().unwrap();
    // The job belongs to another project than the new one.
    let message = retry(&operator, "api", "merge two", id).await.refused(404, "not_found");
    assert_eq!(message, "The job to run again does not exist in this project. Start a new job instead.");
    let unknown = "01920000-0000-7000-8000-000000000000";
    retry(&operator, "docs", "merge two", unknown).await.refused(404, "not_found");
    retry(&operator, "docs", "merge two", "../x").await.refused(400, "bad_input");
    assert_eq!(app.upstream.posts().await.len(), sent, "nothing is sent");
    assert_eq!(needing_attention(&operator).await, ["failed one"]);
    let plain = retry(&operator, "docs", "merge two", "").await.json();
    assert_eq!(plain["retry_of"], json!(null));
}

#[tokio::test]
async fn form_names_only_jobs_that_ended_without_a_pull_request() {
    let app = TestApp::start().await;
    upstream_that_ends_jobs(&app).await;
    let operator = app.operator().await;
    for (prompt, is_retry) in
        [("failed one", true), ("completed two", true), ("merge three", false), ("active four", false)]
    {
        let job = operator.created(prompt).await;
        let id = job["id"].as_str().unwrap();
        let form = operator.get(&format!("/p/docs/jobs/new?from={id}")).await.text;
        assert!(form.contains(prompt), "{prompt}: {form}");
        let field = format!("name=\"retry_of\" value=\"{id}\"");
        assert_eq!(form.contains(&field), is_retry, "{prompt}: {form}");
    }
}
