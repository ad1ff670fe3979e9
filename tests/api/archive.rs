//! Archiving, restoring and dismissing jobs, in Docket only.

use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{Browser, TestApp, intent, json, remote_job};
use crate::list::{list, prompts};

fn id(job: &Value) -> &str {
    job["id"].as_str().unwrap()
}

async fn file(person: &Browser, verb: &str, jobs: &str) -> Value {
    person.post_json(&format!("/api/jobs/{verb}"), &[("project", "docs"), ("jobs", jobs)]).await
}

#[tokio::test]
async fn archived_job_leaves_the_list_until_restored() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Put me away").await;
    operator.created("Leave me here").await;
    let before = operator.job(&job).await;
    let posts = app.upstream.requests().await.len();

    assert_eq!(file(&operator, "archive", id(&job)).await, json!({"jobs": [id(&job)]}));
    assert_eq!(file(&operator, "archive", id(&job)).await, json!({"jobs": []}));
    let shown = list(&operator, &[]).await;
    assert_eq!((prompts(&shown), &shown["total"]), (vec!["Leave me here"], &json!(1)));
    let away = list(&operator, &[("archived", "yes")]).await;
    assert_eq!((prompts(&away), &away["counts"]), (vec!["Put me away"], &json!({"active": 1})));
    let archived = operator.job(&job).await;
    assert_eq!(archived["archived_here"]["by"], "olga");
    assert_eq!((&archived["state"], &archived["changed_at"]), (&json!("active"), &before["changed_at"]));
    let last = archived["history"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["state"], &last["detail"]), (&json!("archived here"), &json!("by olga")));

    assert_eq!(file(&operator, "unarchive", id(&job)).await, json!({"jobs": [id(&job)]}));
    let mut after = operator.job(&job).await;
    after["history"] = before["history"].clone();
    assert_eq!(after, before);
    assert_eq!(prompts(&list(&operator, &[]).await).len(), 2);
    assert_eq!(app.upstream.requests().await.len(), posts, "the upstream received a request");
}

#[tokio::test]
async fn search_names_the_archived_jobs_that_match() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let [first, second, _] = [
        operator.created("Fix the quotas").await,
        operator.created("Explain the quotas").await,
        operator.created("Shown quotas").await,
    ];
    let page = async |query: &str| operator.page(&format!("/p/docs/jobs?{query}")).await;
    let link = "href=\"/p/docs/jobs?q=quotas&amp;archived=yes\"";
    assert!(!page("q=quotas").await.contains("archived job"));
    file(&operator, "archive", id(&first)).await;
    let found = page("q=quotas").await;
    assert!(found.contains("1 archived job matches.") && found.contains(link), "{found}");
    file(&operator, "archive", id(&second)).await;
    assert!(page("q=quotas").await.contains("2 archived jobs match."));
    // Also beside no other match, but not without a search, with other words, or among archived jobs.
    assert!(page("q=fix").await.contains("1 archived job matches."));
    for query in ["", "q=other", "q=quotas&archived=yes", "tag=/quotas"] {
        assert!(!page(query).await.contains("archived job"), "{query}");
    }
    assert!(page("q=quotas&author=otto").await.contains("No jobs match your filters"));
}

#[tokio::test]
async fn archiving_and_tagging_require_role_project_and_jobs() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let viewer = app.sign_in("vera").await;
    for verb in ["archive", "unarchive", "tag", "untag"] {
        let endpoint = format!("/api/jobs/{verb}");
        let fields = [("project", "docs"), ("jobs", id(&job)), ("tag", "sdk")];
        viewer.post(&endpoint, &fields).await.refused(403, "forbidden");
        let elsewhere = [("project", "api"), ("jobs", id(&job)), ("tag", "sdk")];
        assert_eq!(operator.post_json(&endpoint, &elsewhere).await, json!({"jobs": []}), "{verb}");
        let nowhere = [("project", "nowhere"), ("jobs", id(&job)), ("tag", "sdk")];
        operator.post(&endpoint, &nowhere).await.refused(404, "not_found");
        let many = vec![id(&job); 1_001].join(",");
        for jobs in ["", " , ", "1", "' OR 1=1 --", &many] {
            let bad = [("project", "docs"), ("jobs", jobs), ("tag", "sdk")];
            operator.post(&endpoint, &bad).await.refused(400, "bad_input");
        }
        operator.post(&endpoint, &[("project", "docs"), ("tag", "sdk")]).await.refused(400, "bad_input");
    }
    let untouched = operator.job(&job).await;
    assert_eq!((&untouched["archived_here"], &untouched["tags"]), (&json!(null), &json!([])));
}

#[tokio::test]
async fn viewer_sees_archive_and_tags_without_forms() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    operator.post_json("/api/jobs/tag", &[("project", "docs"), ("jobs", id(&job)), ("tag", "sdk")]).await;
    let viewer = app.sign_in("vera").await;
    for path in ["/p/docs/jobs".to_owned(), format!("/p/docs/jobs/{}", id(&job))] {
        let page = viewer.get(&path).await.text;
        assert!(page.contains("href=\"/p/docs/jobs?tag=sdk\""), "{path}");
        for verb in ["archive", "unarchive", "tag", "untag"] {
            assert!(!page.contains(&format!("action=\"/api/jobs/{verb}\"")), "{path}: {verb}");
        }
        let page = operator.get(&path).await.text;
        assert!(
            page.contains("action=\"/api/jobs/tag\"") && page.contains("action=\"/api/jobs/archive\""),
            "{path}"
        );
    }
}

#[tokio::test]
async fn archived_job_is_still_tracked_and_accepts_follow_ups() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    file(&operator, "archive", id(&job)).await;
    let accepted = crate::helpers::remote_job(job["remote"]["id"].as_str().unwrap(), "active");
    app.upstream.on_follow_up(wiremock::ResponseTemplate::new(200).set_body_json(accepted)).await;
    assert_eq!(operator.follow_up(&job, "And more", &intent()).await.status, 200);
    assert_eq!(prompts(&list(&operator, &[("archived", "yes"), ("q", "more")]).await), ["Fix typos"]);
}

#[tokio::test]
async fn dismissed_attention_returns_with_the_next_event() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "failed"))).await;
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "failed"))).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let id = job["id"].as_str().unwrap().to_owned();
    let fields = [("project", "docs"), ("jobs", id.as_str())];
    let attention = async || operator.post_json("/api/jobs/list", &fields[..1]).await["attention"].clone();
    assert_eq!((attention().await, &operator.job(&job).await["needs_attention"]), (json!(1), &json!(true)));
    app.sign_in("vera").await.post("/api/jobs/dismiss", &fields).await.refused(403, "forbidden");

    let colleague = app.sign_in("otto").await;
    assert_eq!(colleague.post_json("/api/jobs/dismiss", &fields).await["jobs"], json!([id]));
    assert_eq!(attention().await, 0);
    let dismissed = operator.job(&job).await;
    assert_eq!((&dismissed["dismissed"]["by"], &dismissed["state"]), (&json!("otto"), &json!("failed")));
    let last = dismissed["history"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["state"], &last["detail"]), (&json!("dismissed"), &json!("by otto")));
    assert_eq!(
        colleague.post_json("/api/jobs/dismiss", &fields).await["jobs"],
        json!([]),
        "it needs none any more"
    );
    assert_eq!(operator.post_json("/api/jobs/undismiss", &fields).await["jobs"], json!([id]));
    assert_eq!(attention().await, 1);

    colleague.post_json("/api/jobs/dismiss", &fields).await;
    assert_eq!(operator.follow_up(&job, "Try again", &intent()).await.status, 200);
    assert_eq!((attention().await, &operator.job(&job).await["dismissed"]), (json!(1), &json!(null)));
    let elsewhere = [("project", "api"), ("jobs", id.as_str())];
    assert_eq!(
        operator.post_json("/api/jobs/dismiss", &elsewhere).await["jobs"],
        json!([]),
        "another project"
    );
}
