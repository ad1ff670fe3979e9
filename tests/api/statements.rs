//! How many statements an answer takes: each is a turn of a connection's thread, which costs more than most of them do there.
//! A number here may fall; one that grows needs a reason.

use std::cell::Cell;

use wiremock::ResponseTemplate;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{Archive, Browser, TestApp, days, rows, statements_of, views_answer};
use crate::list::obedient_upstream;

/// How many statements the answer to the last of two equal requests took: the first one finds nothing known.
async fn statements(person: &Browser, request: impl Fn() -> reqwest::RequestBuilder) -> usize {
    person.send(request()).await;
    let answer = person.send(request()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    statements_of(answer.header("x-request-id"))
}

#[tokio::test]
async fn pages_and_lists_execute_few_statements() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-09-20", "2026-11-21") {
        archive.write(day, rows(&[("/quickstart", 40, 20), ("/guides/errors", 30, 10)])).await;
    }
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    for prompt in ["active one", "completed two", "break three"] {
        operator.created(prompt).await;
    }
    let page = |path: &'static str| {
        let operator = &operator;
        move || operator.request(reqwest::Method::GET, path)
    };
    // The session with its person, the budgets, and what the page shows.
    assert_eq!(statements(&operator, page("/p/docs")).await, 4, "overview, with what is new");
    assert_eq!(statements(&operator, page("/p/docs/jobs")).await, 4, "jobs, with the saved views");
    assert_eq!(statements(&operator, page("/p/docs/jobs?status=active")).await, 4, "jobs of a state");
    assert_eq!(statements(&operator, page("/p/docs/analytics")).await, 4, "analytics, with the saved views");
    let list = || operator.call("/api/jobs/list", &[("project", "docs")]);
    assert_eq!(statements(&operator, list).await, 2, "the list");
    let statuses = || operator.call("/api/jobs/statuses", &[("project", "docs"), ("jobs", "")]);
    assert_eq!(statements(&operator, statuses).await, 1, "the states of no jobs");
    let heartbeat =
        || operator.call("/api/jobs/statuses", &[("project", "docs"), ("jobs", ""), ("seen", "0")]);
    assert_eq!(statements(&operator, heartbeat).await, 2, "with the revision and the number at the bell");
}

// Its person waits for each of them.
#[tokio::test]
async fn upstream_call_executes_few_statements() {
    let app = TestApp::with(at(NOON)).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let viewer = app.sign_in("vera").await;
    let asked = Cell::new(0);
    // No two questions are the same, so that none is answered from memory.
    let question = || {
        asked.set(asked.get() + 1);
        viewer.call("/api/analytics/views", &[("project", "docs"), ("offset", &asked.get().to_string())])
    };
    // The session with its person, the count, and whether this success has to be written.
    assert_eq!(statements(&viewer, question).await, 3);
}
