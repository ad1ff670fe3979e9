//! API tokens: users create them, scripts use them at `/api/v1`, and they never have more rights than their owner.

mod command;
mod managing;
mod notices;
mod requests;
mod rotation;

use std::time::Duration;

use base::clock::Clock;
use model::audit::Outcome;
use model::error::{CodeRow, ErrorCode, Retry};
use model::time::Timestamp;
use reqwest::Method;
use serde_json::Value;
use store::audit::AuditFilter;

use crate::helpers::{Browser, New, Settings, TestApp, TestResponse};

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
pub(crate) const PROJECTS: &str = "/api/v1/projects";
const DAY: Duration = Duration::from_secs(24 * 3_600);

async fn app() -> TestApp {
    TestApp::with(Settings { clock: Clock::frozen(NOON), ..Settings::default() }).await
}

/// Posts the form for a new token, with `more` fields.
async fn post_new(browser: &Browser, more: &[(&str, &str)]) -> TestResponse {
    let usual = New::token("jobs:read,analytics:read").with("name", "Nightly check");
    more.iter().fold(usual, |token, (name, value)| token.with(name, value)).post(browser).await
}

/// Creates a token, and returns it.
pub(crate) async fn create(browser: &Browser, more: &[(&str, &str)]) -> String {
    let response = post_new(browser, more).await;
    assert_eq!(response.status, 200, "{}", response.text);
    response.json()["secret"].as_str().unwrap().to_owned()
}

/// Sends a request with a token, without cookies.
pub(crate) async fn with_token(app: &TestApp, path: &str, token: &str) -> TestResponse {
    let client = app.anonymous();
    client.send(client.request(Method::GET, path).bearer_auth(token)).await
}

/// The ids of the projects of a token.
async fn project_ids(app: &TestApp, token: &str) -> Vec<String> {
    let response = with_token(app, PROJECTS, token).await;
    assert_eq!(response.status, 200, "{}", response.text);
    let projects = response.json()["projects"].as_array().unwrap().clone();
    projects.iter().map(|project| project["id"].as_str().unwrap().to_owned()).collect()
}

/// Checks that it is a problem of RFC 9457, and returns its detail.
#[track_caller]
pub(crate) fn problem(response: &TestResponse, status: u16, code: &str) -> String {
    assert_eq!(response.status, status, "{}", response.text);
    assert_eq!(response.header("content-type"), "application/problem+json");
    let body = response.json();
    assert_eq!((&body["status"], &body["code"]), (&Value::from(status), &Value::from(code)), "{body}");
    assert_eq!(body["type"], "about:blank");
    assert_is_in_the_table(response, code);
    assert!(!body["title"].as_str().unwrap().is_empty());
    let detail = body["detail"].as_str().unwrap().to_owned();
    assert!(detail.ends_with(['.', '…']) && detail.len() > 20, "not a sentence: {detail}");
    assert_is_for_scripts(&detail);
    detail
}

/// Checks that the code is one of the API, with this status, and that a temporary error has `Retry-After`.
#[track_caller]
fn assert_is_in_the_table(response: &TestResponse, code: &str) {
    let known = ErrorCode::of_api().find(|known| known.as_str() == code);
    let CodeRow { status, retry, .. } = known.unwrap_or_else(|| panic!("{code} is not in the table")).row();
    assert_eq!(status, response.status, "{code}");
    let seconds = response.header("retry-after").parse::<u32>();
    assert_eq!(retry == Retry::Never, seconds.is_err(), "{code}: {:?}", response.headers);
}

/// Checks that a message names nothing that only people with a page in front of them know.
#[track_caller]
pub(crate) fn assert_is_for_scripts(message: &str) {
    let lower = message.to_lowercase();
    for words in ["intent", "this form", "reload the page"] {
        assert!(!lower.contains(words), "“{words}” in a message for scripts: {message}");
    }
}

/// The newest token of a user, as their page lists it.
pub(crate) async fn listed(browser: &Browser) -> Value {
    browser.post_json("/api/tokens/list", &[]).await["tokens"][0].clone()
}

/// The audited events of an action, newest first: who, on what, and the detail.
pub(crate) async fn audited(app: &TestApp, action: &str, outcome: Outcome) -> Vec<(String, String, String)> {
    let filter = AuditFilter {
        action: Some(action.parse().unwrap()),
        outcome: Some(outcome),
        ..AuditFilter::default()
    };
    let records = app.state().store.audit_records(&filter, 100).await.unwrap();
    records.into_iter().map(|record| (record.actor, record.subject, record.detail)).collect()
}
