//! The pages of a job: typed in the form or mentioned in the prompt, and stored with the job from the start.

use serde_json::Value;

use crate::helpers::{Browser, TestApp, intent, json, tags};

async fn create(operator: &Browser, prompt: &str, paths: &str) -> Value {
    let intent = intent();
    let fields = [("project", "docs"), ("prompt", prompt), ("intent", &intent), ("paths", paths)];
    operator.ask("/api/jobs/create", &fields).await
}

#[tokio::test]
async fn pages_named_in_the_prompt_are_tags_of_the_job() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    let operator = app.operator().await;
    let prompt =
        "Compare `/guides/quickstart/` with (/api/auth?x#y), see https://x.example/not/this and /typed.";
    let job = create(&operator, prompt, "/typed/, own").await;
    assert_eq!(job["paths"], json!(["/api/auth", "/guides/quickstart", "/own", "/typed"]));
    assert_eq!(job["prompt"], prompt, "the prompt stays as typed");
    let listed = operator.ask("/api/jobs/list", &[("project", "docs")]).await;
    assert_eq!(listed["jobs"][0]["paths"], job["paths"]);
}

#[tokio::test]
async fn a_job_that_is_not_accepted_has_its_pages_too() {
    let app = TestApp::start().await;
    let job = create(&app.operator().await, "Fix /a", "").await;
    assert_eq!((&job["state"], &job["paths"]), (&json!("rejected"), &json!(["/a"])));
}

#[tokio::test]
async fn too_many_pages_in_the_form_are_refused_and_in_the_prompt_are_left_out() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    let operator = app.operator().await;
    let many: String = (0..60).map(|n| format!("/page-{n}, ")).collect();
    let (intent, long) = (intent(), format!("/{}", "x".repeat(500)));
    for paths in [many.as_str(), &long, "/a\u{7}b"] {
        let fields = [("project", "docs"), ("prompt", "x"), ("intent", &intent), ("paths", paths)];
        operator.post("/api/jobs/create", &fields).await.refused(400, "bad_input");
    }
    let job = create(&operator, &many, "/typed").await;
    let paths = job["paths"].as_array().unwrap();
    assert!(paths.len() == 50 && paths.contains(&json!("/typed")));
}

#[tokio::test]
async fn a_page_leads_to_its_report() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    let operator = app.operator().await;
    let job = create(&operator, "Fix it", "/guides/a&b \"><script>alert(1)</script>").await;
    let page = operator.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await;
    let found = tags(&page.text);
    let link = found.iter().find(|tag| tag.attribute("href").contains("?path=")).unwrap();
    assert!(link.attribute("href").starts_with("/p/docs/analytics?path=/guides/a%26b%20%22%3E%3Cscript%3E"));
    assert!(!found.iter().any(|tag| tag.name == "script" && tag.text.starts_with("alert")));
}
