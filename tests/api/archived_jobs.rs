//! Jobs that the platform archives, links that it takes back, and instants that look alike: each is shown as what it is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{Browser, New, Settings, TestApp, intent, job_with, json, remote_job, until};

const LINK: &str = "https://git.example/acme/docs/pull/7";

/// A platform that reports each job as the first word of its prompt, until it archives it.
struct Platform {
    app: TestApp,
    operator: Browser,
    /// The archived jobs, by their id.
    archived: Arc<Mutex<BTreeMap<String, Value>>>,
}

impl Platform {
    async fn start() -> Self {
        let settings = Settings { poll_interval: Duration::from_millis(1), ..Settings::default() };
        let app = TestApp::with(settings).await;
        app.upstream
            .on_create(|request: &Request| {
                let prompt = request.body_json::<Value>().unwrap()["prompt"].as_str().unwrap().to_owned();
                let status = prompt.split(' ').next().unwrap().to_owned();
                let id = format!("{status}-{}", uuid::Uuid::new_v4().simple());
                ResponseTemplate::new(201).set_body_json(remote_job(&id, "active"))
            })
            .await;
        let archived = Arc::<Mutex<BTreeMap<String, Value>>>::default();
        let known = archived.clone();
        let report = move |request: &Request| {
            let id = request.url.path_segments().unwrap().nth(4).unwrap().to_owned();
            let archived = known.lock().unwrap().get(&id).cloned();
            ResponseTemplate::new(200).set_body_json(archived.unwrap_or_else(|| ended(&id)))
        };
        app.upstream.on_read(report.clone()).await;
        app.upstream.on_follow_up(report).await;
        let operator = app.operator().await;
        Self { app, operator, archived }
    }

    /// Archives the job, with this link, and sends it a follow-up, whose answer says so.
    async fn archive(&self, job: &Value, link: &Value) -> Value {
        let id = job["remote"]["id"].as_str().unwrap();
        let mut remote = job_with(id, "archived", "prLink", link.clone());
        remote["archivedAt"] = json!("2026-11-21T10:00:00Z");
        self.archived.lock().unwrap().insert(id.to_owned(), remote);
        self.operator.follow_up(job, "More", &intent()).await;
        in_state(&self.operator, job, "archived").await
    }
}

fn ended(id: &str) -> Value {
    let status = id.split('-').next().unwrap();
    let link = if status == "completed" { json!(LINK) } else { Value::Null };
    let mut job = job_with(id, status, "prLink", link);
    job["error"] = json!("the disk is full");
    job
}

async fn in_state(operator: &Browser, job: &Value, state: &str) -> Value {
    until(state, async || Some(operator.job(job).await).filter(|job| job["state"] == state)).await
}

async fn page_of(operator: &Browser, job: &Value) -> String {
    page(operator, &format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await
}

/// A page without the marks of the renderer.
async fn page(operator: &Browser, path: &str) -> String {
    operator.get(path).await.text.replace("<!>", "")
}

/// The job as `/api/v1` has it.
async fn in_api(app: &TestApp, job: &Value) -> Value {
    let token = crate::api_tokens::create(&app.operator().await, &[("scopes", "jobs:read")]).await;
    let client = app.anonymous();
    let path = format!("/api/v1/projects/docs/jobs/{}", job["id"].as_str().unwrap());
    client.send(client.request(reqwest::Method::GET, &path).bearer_auth(token)).await.json()
}

/// The value of the fact with this name on the page of a job.
fn fact<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("<dt>{name}</dt>"))?;
    Some(rest.split_once("</div>")?.0)
}

#[tokio::test]
async fn outcome_stays_if_the_platform_archives_the_job() {
    let platform = Platform::start().await;
    let (app, operator) = (&platform.app, &platform.operator);
    for (outcome, words) in [
        ("completed", "The agent completed this job. It was archived on the platform later."),
        ("failed", "The agent failed. The job was archived on the platform later."),
        ("archived", "Docket saw no result before."),
    ] {
        let job = operator.created(&format!("{outcome} at once")).await;
        let before = in_state(operator, &job, outcome).await;
        let job = platform.archive(&before, &Value::Null).await;
        let earlier = if outcome == "archived" { Value::Null } else { json!(outcome) };
        assert_eq!(job["earlier_outcome"], earlier, "{outcome}");
        assert_eq!(job["remote"]["pr_link"], before["remote"]["pr_link"], "{outcome}");
        assert_eq!(job["reason"], if outcome == "failed" { json!("the disk is full") } else { Value::Null });
        let page = page_of(operator, &job).await;
        assert!(page.contains(words) && fact(&page, "Archived").is_some(), "{page}");
        let sent = in_api(app, &job).await;
        assert_eq!((&sent["state"], &sent["earlier_outcome"]), (&json!("archived"), &earlier), "{outcome}");
    }
}

#[tokio::test]
async fn archived_job_of_a_batch_counts_with_its_outcome() {
    let platform = Platform::start().await;
    let operator = &platform.operator;
    let batch = New::batch("{{page}} at once", "completed\nfailed\narchived").id(operator).await;
    let started = crate::helpers::with_batch(operator, "start", &batch).await.json();
    let jobs = started["jobs"].as_array().unwrap();
    for (job, state) in jobs.iter().zip(["completed", "failed", "archived"]) {
        let job = in_state(operator, job, state).await;
        platform.archive(&job, &Value::Null).await;
    }
    let progress =
        &operator.post_json("/api/batches/list", &[("project", "docs")]).await["batches"][0]["progress"];
    for (count, jobs) in
        [("completed", 1), ("failed", 1), ("archived", 1), ("pull_requests", 1), ("no_changes", 0)]
    {
        assert_eq!(progress[count], jobs, "{count}: {progress}");
    }
    let page = page(operator, &format!("/p/docs/batches/{batch}")).await;
    for (name, jobs) in [("Finished", 1), ("Failed", 1), ("Archived", 1)] {
        assert!(
            page.contains(&format!("<dt>{name}</dt><dd class=\"numeric\">{jobs}</dd>")),
            "{name}: {page}"
        );
    }
}

#[tokio::test]
async fn date_alone_does_not_make_a_job_archived() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let remote = job_with("job_1", "completed", "archivedAt", json!("2026-11-21T10:00:00Z"));
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote)).await;
    let job = operator.created("Fix typos").await;
    assert_eq!(job["remote"]["archived_at"], "2026-11-21T10:00:00Z");
    let page = page_of(&operator, &job).await;
    assert_eq!((fact(&page, "Archived"), page.contains("Archived on the platform")), (None, false), "{page}");
}

#[tokio::test]
async fn link_that_the_platform_takes_back_is_shown_as_earlier() {
    let platform = Platform::start().await;
    let (app, operator) = (&platform.app, &platform.operator);
    let job = operator.created("completed at once").await;
    let job = in_state(operator, &job, "completed").await;
    let page = page_of(operator, &job).await;
    assert_eq!((fact(&page, "Reported now"), page.contains("Earlier:")), (None, false), "{page}");
    assert_eq!(in_api(app, &job).await["platform_pull_request"], LINK);
    for (link, is_earlier) in [(Value::Null, true), (json!(LINK), false), (Value::Null, true)] {
        let job = platform.archive(&job, &link).await;
        let job = until("the link", async || {
            Some(operator.job(&job).await)
                .filter(|job| (job["remote"]["pr_link_is_earlier"] == true) == is_earlier)
        })
        .await;
        assert_eq!(job["remote"]["pr_link"], LINK);
        let page = page_of(operator, &job).await;
        let reported = fact(&page, "Reported now").is_some_and(|fact| fact.contains("No pull request"));
        assert_eq!((reported, page.contains("Earlier:")), (is_earlier, is_earlier), "{page}");
        let sent = in_api(app, &job).await;
        assert_eq!(sent["platform_pull_request"], link);
        assert_eq!(
            (&sent["pull_request"]["url"], &sent["pull_request_is_earlier"]),
            (&json!(LINK), &json!(is_earlier))
        );
        let list = operator.get("/p/docs/jobs").await.text;
        assert!(list.contains(LINK), "{list}");
        assert_eq!(list.contains("<span>earlier</span>"), is_earlier, "{list}");
    }
}

#[tokio::test]
async fn created_and_accepted_are_two_instants() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let created = "2020-02-29T12:00:00Z";
    let remote = job_with("job_1", "active", "createdAt", json!(created));
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote)).await;
    let job = operator.created("Fix typos").await;
    let job = operator.job(&job).await;
    let entries = job["history"].as_array().unwrap();
    let accepted = entries.iter().find(|entry| entry["state"] == "accepted").unwrap()["at"].as_str().unwrap();
    let page = page_of(&operator, &job).await;
    for (name, instant) in [
        ("Created", job["created_at"].as_str().unwrap()),
        ("Accepted", accepted),
        ("Created on the platform", created),
    ] {
        let shown = fact(&page, name).unwrap_or_else(|| panic!("no {name} in {page}"));
        assert!(shown.contains(&format!("datetime=\"{instant}\"")), "{name}: {shown}");
    }
    let sent = in_api(&app, &job).await;
    assert_eq!((&sent["created_at"], &sent["platform_created_at"]), (&job["created_at"], &json!(created)));
}
