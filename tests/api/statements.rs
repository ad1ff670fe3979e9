//! How many statements a request executes. Each one switches to the thread of a connection, which usually costs more than its
//! execution. A number here may fall; one that grows needs a reason.

use std::cell::Cell;

use wiremock::ResponseTemplate;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{Archive, Browser, TestApp, days, rows, statements_of, views_answer};
use crate::list::obedient_upstream;

/// How many statements the second of two equal requests executed: the first one fills the caches.
async fn statements(person: &Browser, request: impl Fn() -> reqwest::RequestBuilder) -> usize {
    person.send(request()).await;
    let response = person.send(request()).await;
    assert_eq!(response.status, 200, "{}", response.text);
    statements_of(response.header("x-request-id"))
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
    // The session with its user, the budgets, and the content of the page.
    assert_eq!(statements(&operator, page("/p/docs")).await, 4, "overview, with what is new");
    assert_eq!(statements(&operator, page("/p/docs/jobs")).await, 4, "jobs, with the saved views");
    assert_eq!(statements(&operator, page("/p/docs/jobs?status=active")).await, 4, "jobs of a state");
    assert_eq!(statements(&operator, page("/p/docs/analytics")).await, 4, "analytics, with the saved views");
    let admin = app.sign_in("ada").await;
    let range = [("project", "docs"), ("from", "2026-10-21"), ("to", "2026-11-17")];
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    admin.post_json("/api/analytics/compare", &range).await;
    let check = || admin.request(reqwest::Method::GET, "/p/docs/analytics/check");
    assert_eq!(statements(&admin, check).await, 3, "the comparison with the platform");
    let list = || operator.call("/api/jobs/list", &[("project", "docs")]);
    assert_eq!(statements(&operator, list).await, 2, "the list");
    let statuses = || operator.call("/api/jobs/statuses", &[("project", "docs"), ("jobs", "")]);
    assert_eq!(statements(&operator, statuses).await, 1, "the states of no jobs");
    let heartbeat =
        || operator.call("/api/jobs/statuses", &[("project", "docs"), ("jobs", ""), ("seen", "0")]);
    assert_eq!(statements(&operator, heartbeat).await, 2, "with the revision and the number at the bell");
}

// Users wait for each of these statements.
#[tokio::test]
async fn upstream_call_executes_few_statements() {
    let app = TestApp::with(at(NOON)).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let viewer = app.sign_in("vera").await;
    let count = Cell::new(0);
    // All queries differ, so that none is answered from the cache.
    let query = || {
        count.set(count.get() + 1);
        viewer.call("/api/analytics/views", &[("project", "docs"), ("offset", &count.get().to_string())])
    };
    // The session with its user, the count, and whether this success has to be written.
    assert_eq!(statements(&viewer, query).await, 3);
}
