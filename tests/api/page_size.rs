//! The size of the list of jobs in bytes of HTML, uncompressed. It is mostly rows, so each byte of a row counts fifty times.

use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{New, TestApp, detached_job, job_with, json, tags};

/// May fall; a larger one needs a reason. It was 60,000 before badges and meters were islands, whose props are in the page, and
/// 62,000 before the tabs and the filter by date.
const LIST_MAX: usize = 63_000;

const PROMPTS: [&str; 10] = [
    "Rewrite the quickstart so that a newcomer sends a first request in under five minutes.",
    "Check the authentication guide against the current OAuth scopes and fix what is out of date.",
    "Document the new `Retry-After` header and how clients should back off.",
    "Fix the broken links in the migration guide",
    "Add a page about webhooks: signatures, retries and how to test them locally.\n\nUse the examples of the SDK.",
    "Explain the rate limits in one table, with an example for each plan & region.",
    "Replace the screenshots of the old dashboard in “Getting started”",
    "Describe pagination once and link to it from every endpoint that has a cursor.",
    "Update the changelog for 4.2 and mark the removed fields as deprecated in the reference",
    "Write an introduction to search for people who come from another product.",
];
const PAGES: [&str; 5] = [
    "/quickstart",
    "/guides/authentication",
    "/guides/rate-limits",
    "/guides/migration",
    "/integrations/slack",
];
const TAGS: [&str; 4] = ["release 4.2", "broken links", "style", "api reference"];

/// Five of ten jobs are completed with a pull request, the others have one outcome each.
fn outcome(request: &Request) -> ResponseTemplate {
    let prompt = request.body_json::<Value>().unwrap()["prompt"].as_str().unwrap().to_owned();
    let number = PROMPTS.iter().position(|known| *known == prompt).unwrap();
    let remote = |status, link| {
        ResponseTemplate::new(201).set_body_json(job_with(&detached_job(), status, "prLink", link))
    };
    match number {
        0..5 => remote("completed", json!(format!("https://github.com/acme/docs/pull/{}", 1240 + number))),
        5 => remote("failed", json!(null)),
        6 => remote("active", json!(null)),
        7 => remote("completed", json!(null)),
        8 => ResponseTemplate::new(400),
        _ => remote("active", json!("https://github.com/acme/docs/pull/1300")),
    }
}

#[tokio::test]
async fn list_of_fifty_jobs_is_small() {
    let app = TestApp::start().await;
    app.upstream.on_create(outcome).await;
    let people = [app.operator().await, app.sign_in("otto").await];
    for number in 0..60 {
        let person = &people[number % people.len()];
        let paths = if number % 4 == 3 { "" } else { PAGES[number % PAGES.len()] };
        let job = New::job(PROMPTS[number % PROMPTS.len()]).with("paths", paths).made(person).await;
        let id = job["id"].as_str().unwrap();
        if number % 4 == 3 || number % 10 == 0 {
            let pairs = [("project", "docs"), ("jobs", id), ("tag", TAGS[number % TAGS.len()])];
            person.post_json("/api/jobs/tag", &pairs).await;
        }
    }
    let page = people[0].get("/p/docs/jobs").await;
    assert_eq!(page.status, 200, "{}", page.text);
    let rows = tags(&page.text);
    let rows = rows.iter().filter(|tag| tag.name == "li" && tag.attribute("class") == "job-row").count();
    assert_eq!(rows, 50);
    let size = page.text.len();
    assert!(size <= LIST_MAX, "{size} bytes");
}
