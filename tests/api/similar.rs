//! Similar jobs are shown before a prompt is sent: at most five, and they never prevent sending.

use model::page_path::Pages;
use std::time::Duration;

use base::clock::Clock;
use model::time::Timestamp;
use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{Archive, Browser, Settings, TestApp, detached_job, intent, job_with, json, remote_job};

const NOON: Timestamp = Timestamp::from_millis(1_795_000_000_000);
const TEXT: &str = "Rewrite the quickstart so that a newcomer sends a first request in five minutes";

async fn similar(person: &Browser, prompt: &str, paths: &str) -> Vec<Value> {
    let fields = [("project", "docs"), ("prompt", prompt), ("paths", paths)];
    person.post_json("/api/jobs/similar", &fields).await.as_array().unwrap().clone()
}

/// An upstream in which a prompt's last word determines the outcome at once.
async fn obedient(app: &TestApp) {
    let response = |request: &Request| {
        let prompt = request.body_json::<Value>().unwrap()["prompt"].as_str().unwrap().to_owned();
        let link = json!("https://git.example/pull/1");
        match prompt.rsplit(' ').next().unwrap() {
            "request" => ResponseTemplate::new(201).set_body_json(job_with(
                &detached_job(),
                "completed",
                "prLink",
                link,
            )),
            "break" => ResponseTemplate::new(500),
            "refuse" => ResponseTemplate::new(400),
            "nothing" => ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), "completed")),
            "fail" => ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), "failed")),
            _ => ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), "active")),
        }
    };
    app.upstream.on_create(response).await;
}

#[tokio::test]
async fn similar_active_job_is_listed_with_its_author() {
    let app = TestApp::start().await;
    obedient(&app).await;
    let job = app.operator().await.created(TEXT).await;
    let colleague = app.sign_in("otto").await;
    let found = similar(&colleague, &TEXT.to_uppercase().replace(' ', "\n "), "").await;
    assert_eq!(
        found,
        [json!({
            "id": job["id"], "title": TEXT, "author": "olga", "state": "active", "created_at": job["created_at"],
            "same_text": true, "page": null,
        })]
    );
    assert_eq!(similar(&colleague, "Sort the glossary", "").await, [json!(null); 0]);
    assert_eq!(similar(&colleague, "", "").await, [json!(null); 0]);
    let elsewhere = [("project", "api"), ("prompt", TEXT)];
    assert_eq!(colleague.post_json("/api/jobs/similar", &elsewhere).await, json!([]), "another project");
}

#[tokio::test]
async fn job_about_the_same_page_is_similar() {
    let app = TestApp::start().await;
    obedient(&app).await;
    let operator = app.operator().await;
    Archive::of(&app).await.add_pages(&["/guides/a"]).await;
    operator.created("Fix the links in /guides/a").await;
    for (prompt, paths) in
        [("Something else about `/guides/a`", ""), ("Something else", "/guides/a/"), ("", "/guides/a")]
    {
        let found = similar(&operator, prompt, paths).await;
        assert_eq!((&found[0]["same_text"], &found[0]["page"]), (&json!(false), &json!("/guides/a")));
    }
    assert!(
        similar(&operator, "Fix the links in /guides/b", "").await.is_empty(),
        "the same about another page"
    );
}

#[tokio::test]
async fn only_running_jobs_and_open_results_are_similar() {
    let app = TestApp::with(Settings { clock: Clock::frozen(NOON), ..Settings::default() }).await;
    obedient(&app).await;
    let operator = app.operator().await;
    for end in ["request", "break", "refuse", "nothing", "fail", "go"] {
        operator.created(&format!("{TEXT} {end}")).await;
    }
    let states = async |operator: &Browser| {
        let found = similar(operator, TEXT, "").await;
        found.iter().map(|job| job["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(states(&operator).await, ["active", "unknown", "completed"]);
    for (days, expected) in [(14, 3), (15, 1)] {
        let state =
            app.idle_state(Clock::frozen(NOON.plus_seconds(days * 86_400)), Duration::from_secs(3)).await;
        let permit = state.query_permits.acquire("olga").await.unwrap();
        let found =
            state.jobs.similar(&permit, &"docs".parse().unwrap(), TEXT, Pages::default()).await.unwrap();
        assert_eq!(found.len(), expected, "after {days} days");
        state.store.close().await;
    }
}

#[tokio::test]
async fn at_most_five_similar_jobs_are_listed_running_ones_first() {
    let app = TestApp::start().await;
    obedient(&app).await;
    let operator = app.operator().await;
    operator.created(TEXT).await;
    Archive::of(&app).await.add_pages(&["/a"]).await;
    for n in 0..7 {
        operator.created(&format!("Task {n} for /a")).await;
    }
    let found = similar(&operator, TEXT, "/a").await;
    assert_eq!(found.len(), 5);
    assert_eq!(found[0]["same_text"], true);
}

#[tokio::test]
async fn similar_jobs_without_fields_use_the_draft() {
    let app = TestApp::start().await;
    obedient(&app).await;
    let operator = app.operator().await;
    let job = operator.created(TEXT).await;
    let of_draft =
        async |person: &Browser| person.post_json("/api/jobs/similar", &[("project", "docs")]).await;
    assert_eq!(of_draft(&operator).await, json!([]));
    operator.post_json("/api/jobs/draft", &[("project", "docs"), ("text", TEXT)]).await;
    assert_eq!(of_draft(&operator).await[0]["id"], job["id"]);
    assert_eq!(of_draft(&app.sign_in("otto").await).await, json!([]), "another user's draft");
}

#[tokio::test]
async fn similar_job_does_not_prevent_sending() {
    let app = TestApp::start().await;
    obedient(&app).await;
    let operator = app.operator().await;
    operator.created(TEXT).await;
    assert_eq!(operator.create(TEXT, &intent()).await.status, 200);
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn longest_and_hostile_prompts_are_compared() {
    let app = TestApp::start().await;
    obedient(&app).await;
    let operator = app.operator().await;
    let long: String = (0..32_768).map(|n| char::from(b'a' + (n % 7) as u8)).collect();
    // Two signs without a letter are too little to compare.
    for (prompt, found) in [
        (long.as_str(), 1),
        ("</textarea><script>alert(1)</script>", 1),
        ("\u{202E}\u{1F4DA}", 0),
        ("' OR 1=1 --", 1),
    ] {
        operator.created(prompt).await;
        assert_eq!(similar(&operator, prompt, "/x,\u{7}").await.len(), found, "{prompt:.30}");
    }
    app.anonymous()
        .post("/api/jobs/similar", &[("project", "docs"), ("prompt", "x")])
        .await
        .refused(401, "unauthenticated");
}

/// Posts the form for a new job without JavaScript, and returns the redirect's path.
async fn submitted(app: &TestApp, person: &Browser, prompt: &str, sent: &str, asks: bool) -> String {
    let mut pairs = vec![("project", "docs"), ("prompt", prompt), ("intent", sent), ("paths", "")];
    pairs.extend(asks.then_some(("similar", "ask")));
    let form = format!("{}/p/docs/jobs/new", app.origin());
    let response = person.submit("/api/jobs/create", &pairs, Some(&form)).await;
    let path = response.location().trim_start_matches(&app.origin()).to_owned();
    let status = if path == "/p/docs/jobs/new" { 303 } else { 302 };
    assert_eq!(response.status, status, "{}", response.text);
    path
}

#[tokio::test]
async fn form_similar_to_a_job_is_returned_once_for_confirmation() {
    let app = TestApp::start().await;
    obedient(&app).await;
    let job = app.sign_in("otto").await.created(TEXT).await;
    let operator = app.operator().await;
    let form = operator.get("/p/docs/jobs/new").await.text;
    assert!(form.contains("name=\"similar\" value=\"ask\""), "the form needs no confirmation");

    let (prompt, sent) = (format!("{TEXT}, please"), intent());
    let back = submitted(&app, &operator, &prompt, &sent, true).await;
    assert_eq!(back, "/p/docs/jobs/new");
    assert_eq!(app.upstream.posts().await.len(), 1, "it was sent unasked");
    let page = operator.get(&back).await.text;
    let link = format!("href=\"/p/docs/jobs/{}\"", job["id"].as_str().unwrap());
    for part in ["Nothing was sent: a similar job", "Similar jobs", &link, "otto", &prompt] {
        assert!(page.contains(part), "{part} is not on the page");
    }
    assert!(!page.contains("name=\"similar\" value=\"ask\""), "it would need another confirmation");
    assert!(page.contains("Start another"), "the confirmation has no button of its own");

    // The refused intent was never used: it may be submitted again, and so may the one of the new page.
    let started = submitted(&app, &operator, &prompt, &sent, false).await;
    assert!(started.starts_with("/p/docs/jobs/") && !started.contains("new"), "{started}");
    assert_eq!(submitted(&app, &operator, &prompt, &sent, true).await, started, "it was answered before");
    assert_eq!(app.upstream.posts().await.len(), 2);
    assert_eq!(operator.draft(None).await, "");
}

#[tokio::test]
async fn double_submitted_form_is_not_similar_to_itself() {
    let app = TestApp::start().await;
    obedient(&app).await;
    let operator = app.operator().await;
    for round in 0..10 {
        let (prompt, sent) = (format!("{round} {round} {round} {round}"), intent());
        let click = || submitted(&app, &operator, &prompt, &sent, true);
        let (first, second) = futures::join!(click(), click());
        assert_eq!(first, second);
        assert!(!first.contains("new"), "{first}");
    }
    assert_eq!(app.upstream.posts().await.len(), 10);
}

#[tokio::test]
async fn form_script_is_warned_of_same_text_in_progress_only() {
    let app = TestApp::start().await;
    obedient(&app).await;
    let operator = app.operator().await;
    Archive::of(&app).await.add_pages(&["/a"]).await;
    operator.created(&format!("{TEXT} in /a")).await;
    let create = async |prompt: &str, sent: &str, similar: &str| {
        let pairs = [("project", "docs"), ("prompt", prompt), ("intent", sent), ("similar", similar)];
        operator.post("/api/jobs/create", &pairs).await
    };
    let (same, page) = (intent(), intent());
    let message = create(TEXT, &same, "ask").await.refused(409, "similar_job");
    assert!(message.contains("a similar job is running"), "{message}");
    create(TEXT, &same, "ask").await.refused(409, "similar_job");
    assert_eq!(app.upstream.posts().await.len(), 1);
    assert_eq!(create("Sort the glossary of /a", &page, "ask").await.status, 200, "only the page is shared");
    let confirmed = create(TEXT, &same, "on").await.json();
    assert_eq!(confirmed["state"], "active");
    assert_eq!(create(TEXT, &same, "ask").await.json()["id"], confirmed["id"], "it was answered before");
}

#[tokio::test]
async fn script_requests_need_no_confirmation_of_similar_jobs() {
    let app = TestApp::start().await;
    obedient(&app).await;
    let operator = app.operator().await;
    operator.created(TEXT).await;
    let (first, second) = (intent(), intent());
    let pairs = [("project", "docs"), ("prompt", TEXT), ("intent", first.as_str())];
    assert_eq!(operator.post("/api/jobs/create", &pairs).await.json()["state"], "active");
    // A plain form without the field may come from a program.
    assert!(!submitted(&app, &operator, TEXT, &second, false).await.contains("new"));
    assert_eq!(app.upstream.posts().await.len(), 3);
}
