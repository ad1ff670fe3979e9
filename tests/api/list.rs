//! The list of jobs: its filters, its search, its pages and its counts.

use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{Browser, TestApp, detached_job, intent, json, remote_job};

async fn list(person: &Browser, pairs: &[(&str, &str)]) -> Value {
    let pairs: Vec<_> = [("project", "docs")].iter().chain(pairs).copied().collect();
    person.ask("/api/jobs/list", &pairs).await
}

/// The prompts on a page, in its order.
fn prompts(page: &Value) -> Vec<&str> {
    page["jobs"].as_array().unwrap().iter().map(|job| job["prompt"].as_str().unwrap()).collect()
}

/// An upstream that does what a prompt's first word says.
async fn obedient_upstream(app: &TestApp) {
    app.upstream
        .on_create(|request: &Request| {
            let prompt = request.body_json::<Value>().unwrap()["prompt"].as_str().unwrap().to_owned();
            match prompt.split(' ').next().unwrap() {
                "refuse" => ResponseTemplate::new(400),
                "break" => ResponseTemplate::new(500),
                status => ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), status)),
            }
        })
        .await;
}

#[tokio::test]
async fn jobs_are_listed_newest_first_and_counted_by_state() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    for prompt in ["active one", "completed two", "refuse three", "break four", "paused five", "active six"] {
        operator.created(prompt).await;
    }
    let all = list(&operator, &[]).await;
    assert_eq!(
        prompts(&all),
        ["active six", "paused five", "break four", "refuse three", "completed two", "active one"]
    );
    let counts = json!({"active": 2, "completed": 1, "rejected": 1, "unknown": 1, "other": 1});
    assert_eq!((&all["counts"], &all["next"]), (&counts, &json!(null)));

    for (status, expected) in [
        ("active", vec!["active six", "active one"]),
        ("other", vec!["paused five"]),
        ("rejected", vec!["refuse three"]),
        ("unknown", vec!["break four"]),
        ("archived", vec![]),
        ("", prompts(&all)),
    ] {
        let page = list(&operator, &[("status", status)]).await;
        assert_eq!(prompts(&page), expected, "{status}");
        assert_eq!(page["counts"], counts, "{status}");
    }
    let bad = [("project", "docs"), ("status", "paused")];
    operator.post("/api/jobs/list", &bad).await.refused(400, "bad_input");
}

#[tokio::test]
async fn the_search_takes_text_literally_whatever_its_case_and_finds_follow_ups() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    for prompt in
        ["active 100% of it", "active 100 of it", "active snake_case", "active snakeXcase", "active wow!"]
    {
        operator.created(prompt).await;
    }
    let umlaut = operator.created("active Überblick über Änderungen 概要").await;
    let taken = ResponseTemplate::new(200)
        .set_body_json(remote_job(umlaut["remote"]["id"].as_str().unwrap(), "active"));
    app.upstream.on_follow_up(taken).await;
    assert_eq!(operator.follow_up(&umlaut, "And the Glossary", &intent()).await.status, 200);
    for (text, found) in [
        ("100%", vec!["active 100% of it"]),
        ("snake_case", vec!["active snake_case"]),
        ("WOW!", vec!["active wow!"]),
        ("  of IT ", vec!["active 100 of it", "active 100% of it"]),
        ("glossary", vec!["active Überblick über Änderungen 概要"]),
        ("Überblick", vec!["active Überblick über Änderungen 概要"]),
        ("ÜBERBLICK", vec!["active Überblick über Änderungen 概要"]),
        ("概要", vec!["active Überblick über Änderungen 概要"]),
        ("' OR 1=1 --", vec![]),
        ("%", vec!["active 100% of it"]),
    ] {
        let page = list(&operator, &[("q", text)]).await;
        assert_eq!(prompts(&page), found, "{text}");
        let active = page["counts"]["active"].as_u64().unwrap_or(0);
        assert_eq!(active, found.len() as u64, "{text}");
    }
}

#[tokio::test]
async fn jobs_of_one_author_are_those_alone() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let (olga, otto) = (app.operator().await, app.sign_in("otto").await);
    olga.created("active hers").await;
    otto.created("completed his").await;
    let his = list(&olga, &[("author", "otto")]).await;
    assert_eq!((prompts(&his), &his["counts"]), (vec!["completed his"], &json!({"completed": 1})));
    assert_eq!(prompts(&list(&olga, &[("author", "ot")]).await), Vec::<&str>::new());
    assert_eq!(
        prompts(&list(&olga, &[("author", "olga"), ("q", "hers"), ("status", "active")]).await),
        ["active hers"]
    );
}

#[tokio::test]
async fn pages_follow_one_another_without_gap_or_repetition() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    let mut expected = Vec::new();
    for n in 0..105 {
        let status = if n % 2 == 0 { "active" } else { "completed" };
        expected.insert(0, format!("{status} {n}"));
        operator.created(&expected[0]).await;
    }
    let all = walk(&operator, &[], &[50, 50, 5]).await;
    assert_eq!(all, expected);
    let active = walk(&operator, &[("status", "active")], &[50, 3]).await;
    assert_eq!(active.len(), 53);
    let bad = [("project", "docs"), ("cursor", "51")];
    operator.post("/api/jobs/list", &bad).await.refused(400, "bad_input");
}

/// The prompts of all pages, which must be as long as `sizes` says.
async fn walk(operator: &Browser, filter: &[(&str, &str)], sizes: &[usize]) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor = String::new();
    for (n, size) in sizes.iter().enumerate() {
        let pairs: Vec<_> = filter.iter().copied().chain([("cursor", cursor.as_str())]).collect();
        let page = list(operator, &pairs).await;
        assert_eq!(page["jobs"].as_array().unwrap().len(), *size);
        assert_eq!(page["next"].is_null(), n + 1 == sizes.len());
        found.extend(prompts(&page).into_iter().map(str::to_owned));
        cursor = page["next"].as_str().unwrap_or_default().to_owned();
    }
    found
}

#[tokio::test]
async fn a_list_shows_excerpts_and_a_job_its_whole_text() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    let operator = app.operator().await;
    let long = "é".repeat(5_000);
    let job = operator.created(&long).await;
    let taken =
        ResponseTemplate::new(200).set_body_json(remote_job(job["remote"]["id"].as_str().unwrap(), "active"));
    app.upstream.on_follow_up(taken).await;
    operator.follow_up(&job, &long, &intent()).await;
    let page = list(&operator, &[]).await;
    for prompt in [&page["jobs"][0]["prompt"], &page["jobs"][0]["follow_ups"][0]["prompt"]] {
        assert!(prompt.as_str().unwrap().chars().count() < 400);
    }
    let whole = operator.job(&job).await;
    assert_eq!((&whole["prompt"], &whole["follow_ups"][0]["prompt"]), (&json!(long), &json!(long)));
}

#[tokio::test]
async fn a_job_that_is_not_there_is_not_found() {
    let app = TestApp::start().await;
    let viewer = app.sign_in("vera").await;
    let unknown = [("project", "docs"), ("job", "01930000-0000-7000-8000-000000000000")];
    viewer.post("/api/jobs/get", &unknown).await.refused(404, "not_found");
    viewer.post("/api/jobs/get", &[("project", "docs"), ("job", "1")]).await.refused(400, "bad_input");
    viewer.post("/api/jobs/get", &[("project", "nowhere"), ("job", "1")]).await.refused(404, "not_found");
    viewer.post("/api/jobs/list", &[("project", "nowhere")]).await.refused(404, "not_found");
}
