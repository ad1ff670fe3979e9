//! Batches: one prompt template and a list become many queued jobs, all or none, once.

use std::time::Duration;

use docket::model::time::Timestamp;
use docket::server::clock::Clock;
use docket::server::config::Budget;
use futures::future::join_all;
use serde_json::Value;

use crate::helpers::{Answer, Archive, Browser, Settings, TestApp, intent, json, until};

const PROMPT: &str = "Check {{page}} against the SDK.";

/// Four prompts per hour: one every quarter of an hour.
async fn app_and_operator() -> (TestApp, Browser) {
    let budget = Budget {
        agent_per_hour: 4,
        analytics_per_hour: 100,
        analytics_reserve: 0,
        history_days: 90,
        history_before: 0,
    };
    let clock = Clock::frozen("2025-03-10T10:15:00Z".parse::<Timestamp>().unwrap());
    let app = TestApp::with(Settings { budget, clock, ..Settings::default() }).await;
    app.upstream.takes_jobs().await;
    let operator = app.operator().await;
    (app, operator)
}

async fn prepare(person: &Browser, prompt: &str, values: &str, intent: &str) -> Answer {
    let pairs = [("project", "docs"), ("prompt", prompt), ("values", values), ("intent", intent)];
    person.post("/api/batches/prepare", &pairs).await
}

async fn prepared(person: &Browser, prompt: &str, values: &str) -> Value {
    let answer = prepare(person, prompt, values, &intent()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

async fn of(person: &Browser, verb: &str, batch: &Value) -> Answer {
    let pairs = [("project", "docs"), ("batch", batch["id"].as_str().unwrap())];
    person.post(&format!("/api/batches/{verb}"), &pairs).await
}

async fn jobs(person: &Browser) -> usize {
    person.ask("/api/jobs/list", &[("project", "docs")]).await["jobs"].as_array().unwrap().len()
}

#[tokio::test]
async fn nothing_is_queued_before_the_preview_was_confirmed() {
    let (app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a\r\n\r\n/b <i>\r\n").await;
    assert_eq!(batch["preview"], json!(["Check /a against the SDK.", "Check /b <i> against the SDK."]));
    assert_eq!((&batch["total"], &batch["sent"], &batch["started_at"]), (&json!(2), &json!(0), &json!(null)));
    assert_eq!(jobs(&operator).await, 0);
    assert!(app.upstream.requests().await.is_empty());
}

#[tokio::test]
async fn a_confirmed_batch_goes_through_the_queue_with_its_pages_as_tags() {
    let (app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a\n/b\n/c").await;
    let started = of(&operator, "start", &batch).await.json();
    assert_eq!((&started["total"], started["jobs"].as_array().unwrap().len()), (&json!(3), 3));
    // Two leave at once: then half of the budget of four is used.
    let first = until("two are sent", async || {
        let now = of(&operator, "get", &batch).await.json();
        (now["sent"] == 2 && now["jobs"][1]["state"] == "active").then_some(now)
    })
    .await;
    assert_eq!((&first["waiting"], &first["expected_end"]), (&json!(1), &json!("2025-03-10T10:30:00Z")));
    let job = &first["jobs"][0];
    assert_eq!(
        (&job["prompt"], &job["paths"], &job["batch"], &job["author"]),
        (&json!("Check /a against the SDK."), &json!(["/a"]), &batch["id"], &json!("olga"))
    );
    let queue = operator.ask("/api/queue/list", &[("project", "docs")]).await;
    assert_eq!((&queue["waiting"][0]["batch"], &queue["waiting"][0]["why"]), (&batch["id"], &json!("turn")));
    // An immediate submission still goes first.
    assert_eq!(operator.created("In a hurry").await["state"], "active");
    app.clock().advance(Duration::from_secs(900));
    until("the last is sent", async || {
        (of(&operator, "get", &batch).await.json()["sent"] == 3).then_some(())
    })
    .await;
    let done = of(&operator, "get", &batch).await.json();
    assert_eq!((&done["waiting"], &done["expected_end"]), (&json!(0), &json!(null)));
    assert_eq!(app.upstream.posts().await.len(), 4);
}

#[tokio::test]
async fn quoted_values_of_a_batch_are_one_value_and_its_front_page_is_a_page() {
    let (app, operator) = app_and_operator().await;
    Archive::of(&app).await.knows(&["/known"]).await;
    let list = "/,\"calm, kind\"\n\"/a, b\",\"see /known\nand \"\"/v3/regions\"\"\"";
    let batch = prepared(&operator, "{{page}}: {{tone}}", list).await;
    assert_eq!(batch["preview"], json!(["/: calm, kind", "/a, b: see /known\nand \"/v3/regions\""]));
    let started = of(&operator, "start", &batch).await.json();
    let paths: Vec<_> = started["jobs"].as_array().unwrap().iter().map(|job| &job["paths"]).collect();
    assert_eq!(paths, [&json!(["/"]), &json!(["/a, b", "/known"])]);
}

#[tokio::test]
async fn a_batch_is_prepared_and_started_once_however_often_its_forms_are_sent() {
    let (app, operator) = app_and_operator().await;
    let form = intent();
    let twice = join_all((0..2).map(|_| prepare(&operator, PROMPT, "/a\n/b", &form))).await;
    assert_eq!(twice[0].json()["id"], twice[1].json()["id"]);
    prepare(&operator, PROMPT, "/c", &form).await.refused(422, "intent_reused");
    let batch = twice[0].json();
    let colleague = app.sign_in("otto").await;
    let starts = [&operator, &operator, &colleague].map(|person| of(person, "start", &batch));
    for answer in join_all(starts).await {
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    assert_eq!(jobs(&operator).await, 2);
    of(&operator, "start", &batch).await;
    assert_eq!(jobs(&operator).await, 2);
}

#[tokio::test]
async fn a_mistake_names_its_line_and_the_texts_stay() {
    let (_app, operator) = app_and_operator().await;
    let long = format!("/a\n{}", "x".repeat(32_768));
    let many: String = (0..201).map(|n| format!("/{n}\n")).collect();
    let path = format!("/a\n/{}", "x".repeat(500));
    for (prompt, values, said) in [
        (PROMPT, "/a\n\n/a", "Line 3 repeats"),
        ("{{a}} {{b}}", "x,y\nz", "Line 2 has 1 value; expected 2"),
        (PROMPT, long.as_str(), "Line 2: The prompt has"),
        (PROMPT, path.as_str(), "Line 2: A page's path"),
        (PROMPT, many.as_str(), "Line 201"),
        (PROMPT, "", "empty"),
        ("No place", "/a", "{{page}}"),
        ("", "/a", "empty"),
    ] {
        let message = prepare(&operator, prompt, values, &intent()).await.refused(400, "bad_input");
        assert!(message.contains(said), "{message}");
        let form = operator.ask("/api/batches/form", &[("project", "docs")]).await;
        assert_eq!((&form["text"], &form["values"]), (&json!(prompt), &json!(values)), "{said}");
        assert_eq!(form["problem"], message.as_str());
    }
    prepare(&operator, PROMPT, "/a", "not an intent!").await.refused(400, "bad_input");
    assert_eq!(jobs(&operator).await, 0);
    prepared(&operator, PROMPT, "/a").await;
    let form = operator.ask("/api/batches/form", &[("project", "docs")]).await;
    assert_eq!((&form["text"], &form["problem"]), (&json!(""), &json!(null)));
}

#[tokio::test]
async fn what_is_not_sent_yet_can_be_cancelled() {
    let (app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a\n/b\n/c\n/d").await;
    of(&operator, "start", &batch).await;
    until("two are accepted", async || {
        (of(&operator, "get", &batch).await.json()["jobs"][1]["state"] == "active").then_some(())
    })
    .await;
    let other = prepared(&operator, PROMPT, "/other").await;
    of(&operator, "start", &other).await;
    let colleague = app.sign_in("otto").await;
    let left = of(&colleague, "cancel", &batch).await.json();
    assert_eq!((&left["sent"], &left["waiting"], &left["total"]), (&json!(2), &json!(0), &json!(4)));
    let states: Vec<_> = left["jobs"].as_array().unwrap().iter().map(|job| &job["state"]).collect();
    assert_eq!(states, ["active", "active", "cancelled", "cancelled"]);
    assert_eq!(left["jobs"][2]["reason"], "Cancelled by otto before it was sent.");
    assert_eq!(of(&operator, "get", &other).await.json()["waiting"], 1, "another batch goes on");
    assert_eq!(of(&operator, "cancel", &batch).await.status, 200);
}

#[tokio::test]
async fn a_batch_that_was_started_is_shown_whatever_a_prompt_may_be_by_now() {
    let (mut app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a\n/b").await;
    of(&operator, "start", &batch).await;
    app.restart_with(|settings| settings.prompt_max = 5).await;
    let shown = of(&app.operator().await, "cancel", &batch).await;
    assert_eq!(shown.status, 200, "{}", shown.text);
    assert_eq!(shown.json()["total"], 2);
}

#[tokio::test]
async fn viewers_start_nothing_and_batches_stay_in_their_project() {
    let (app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a").await;
    let viewer = app.sign_in("vera").await;
    prepare(&viewer, PROMPT, "/a", &intent()).await.refused(403, "forbidden");
    of(&viewer, "start", &batch).await.refused(403, "forbidden");
    of(&viewer, "cancel", &batch).await.refused(403, "forbidden");
    assert_eq!(of(&viewer, "get", &batch).await.status, 200);
    let id = batch["id"].as_str().unwrap();
    for verb in ["start", "cancel", "get"] {
        let endpoint = format!("/api/batches/{verb}");
        operator.post(&endpoint, &[("project", "api"), ("batch", id)]).await.refused(404, "not_found");
        operator.post(&endpoint, &[("project", "docs"), ("batch", "x")]).await.refused(400, "bad_input");
    }
    operator.post("/api/batches/form", &[("project", "api"), ("from", id)]).await.refused(404, "not_found");
    assert_eq!(jobs(&operator).await, 0);
}

#[tokio::test]
async fn a_batch_works_with_forms_alone() {
    let (app, operator) = app_and_operator().await;
    let form = format!("{}/p/docs/jobs/batch", app.origin());
    let page = operator.get("/p/docs/jobs/batch?prompt=Check%20%7B%7Bpage%7D%7D").await.text;
    assert!(page.contains("Check {{page}}"), "the text of the address is not in the form");
    let (sent, values) = (intent(), "/a\n/b");
    let pairs =
        [("project", "docs"), ("prompt", "No place <b>"), ("values", values), ("intent", sent.as_str())];
    let refused = operator.submit("/api/batches/prepare", &pairs, Some(&form)).await;
    let page = operator.get(refused.location().trim_start_matches(&app.origin())).await.text;
    for words in ["has no placeholder such as {{page}}", "No place &lt;b", "/a\n/b"] {
        assert!(page.contains(words), "{words} is not on the page");
    }
    let pairs = [("project", "docs"), ("prompt", PROMPT), ("values", values), ("intent", sent.as_str())];
    let answer = operator.submit("/api/batches/prepare", &pairs, Some(&form)).await;
    let path = answer.location().trim_start_matches(&app.origin()).to_owned();
    assert!(path.starts_with("/p/docs/batches/"), "{path}");
    let page = operator.get(&path).await.text;
    for words in
        ["Check /a against the SDK.", "Check /b against the SDK.", "/api/batches/start", "Queue 2 jobs"]
    {
        assert!(page.contains(words), "{words} is not on the page");
    }
    let batch = path.rsplit('/').next().unwrap();
    let pairs = [("project", "docs"), ("batch", batch)];
    let answer =
        operator.submit("/api/batches/start", &pairs, Some(&format!("{}{path}", app.origin()))).await;
    assert!(answer.location().ends_with(&path));
    let page = operator.get(&path).await.text;
    assert!(page.contains("of 2 sent") && page.contains("data-job="), "no progress on the page");
    assert!(
        operator.get("/p/docs/jobs").await.text.contains(&format!("href=\"{path}\"")),
        "the list shows no batch"
    );
}

/// The list folds what a filter leaves of a batch, and says of the whole batch how far it is.
#[tokio::test]
async fn a_filtered_list_folds_a_batch_too_and_counts_all_of_it() {
    let (_app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a\n/b\n/c").await;
    let started = of(&operator, "start", &batch).await.json();
    let ids: Vec<&str> =
        started["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect();
    let two = [("project", "docs"), ("jobs", &[ids[0], ids[1]].join(",")), ("tag", "sdk")];
    operator.ask("/api/jobs/tag", &two).await;
    let page = async |query: &str| operator.get(&format!("/p/docs/jobs?{query}")).await.text;
    let fold = |html: &str| {
        let summary = html.split("-summary\"").nth(1)?.split("</summary>").next()?;
        let texts = summary.split('<').filter_map(|part| Some(part.split_once('>')?.1));
        Some(texts.collect::<String>())
    };
    let link = format!("/p/docs/batches/{}", batch["id"].as_str().unwrap());
    let whole = page("").await;
    let said = fold(&whole).unwrap();
    assert!(said.contains("of 3") && !said.contains("on this page"), "{said}");
    let tagged = page("tag=sdk").await;
    let said = fold(&tagged).unwrap_or_else(|| panic!("no fold: {tagged}"));
    assert!(said.contains("of 3") && said.contains("2 on this page"), "{said}");
    assert!(tagged.contains(&link) && tagged.contains("with all "), "{tagged}");
    assert_eq!(fold(&page("tag=/c").await), None, "one row needs no fold");
    let found = page("q=SDK").await;
    assert!(found.contains("<details open") && fold(&found).is_some(), "what was found is in sight: {found}");
}
