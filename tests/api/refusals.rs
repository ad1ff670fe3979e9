//! Refused requests: the first ones are recorded at once, and the others are counted, so that a flood of them costs less than other requests.

use std::time::Duration;

use model::audit::Outcome;
use reqwest::{Method, RequestBuilder};
use store::audit::AuditFilter;

use crate::api_tokens::create;
use crate::helpers::{Browser, TestApp, logged_of, statements_of, until};

/// How many refusals of one network are recorded at once.
const AT_ONCE: usize = 20;

/// A kind of refusal: its name, its status, how often it is sent, and the request.
type Kind<'a> = (&'a str, u16, usize, &'a dyn Fn(usize) -> RequestBuilder);

/// Sends a request `times` times, each refused with `status`. Returns the ids of the requests.
async fn refused(
    client: &Browser,
    status: u16,
    times: usize,
    request: impl Fn(usize) -> RequestBuilder,
) -> Vec<String> {
    let mut ids = Vec::new();
    for number in 0..times {
        let response = client.send(request(number)).await;
        assert_eq!(response.status, status, "{number}: {}", response.text);
        ids.push(response.header("x-request-id").to_owned());
    }
    ids
}

/// How many statements of a request wrote to the audit log or its counts.
fn records_of(id: &str) -> usize {
    let statements = logged_of(id);
    let writes = ["INSERT INTO audit", "UPDATE audit"];
    statements
        .iter()
        .filter(|line| writes.iter().any(|begin| line.contains(&format!("summary=\"{begin}"))))
        .count()
}

/// How many refusals are in the audit log: those with a record each, and the sum of the counts.
async fn recorded(app: &TestApp) -> (usize, u64) {
    let store = &app.state().store;
    let records = store.audit_records(&AuditFilter::default(), 10_000).await.unwrap();
    let records = records.iter().filter(|record| record.outcome == Outcome::Refused.as_str());
    let counts = store.audit_counts().await.unwrap();
    (records.count(), counts.iter().map(|count| count.count).sum())
}

#[tokio::test]
async fn flood_without_an_origin_writes_its_first_refusals_and_one_count() {
    let mut app = TestApp::start().await;
    let anonymous = app.anonymous();
    let delete = |_| anonymous.request(Method::DELETE, "/p/docs/jobs");
    let ids = refused(&anonymous, 403, 200, delete).await;
    let with_statements: Vec<bool> = ids.iter().map(|id| statements_of(id) > 0).collect();
    let first_ones: Vec<bool> = (0..200).map(|number| number < AT_ONCE).collect();
    assert_eq!(with_statements, first_ones);
    assert_eq!(recorded(&app).await, (AT_ONCE, 0));
    app.state().refusals.write().await.unwrap();
    assert_eq!(recorded(&app).await, (AT_ONCE, 180));
    refused(&anonymous, 403, 50, delete).await;
    drop(anonymous);
    // The end of the process writes the rest.
    app.restart().await;
    assert_eq!(recorded(&app).await, (AT_ONCE, 230));
}

#[tokio::test]
async fn every_kind_of_refusal_is_counted_after_the_first_ones() {
    let app = TestApp::start().await;
    app.state().refusals.write().await.unwrap();
    let (viewer, operator) = (app.sign_in("vera").await, app.operator().await);
    let token = create(&operator, &[("scopes", "jobs:read")]).await;
    let revoked = create(&operator, &[("scopes", "jobs:read"), ("name", "Revoked")]).await;
    let listed = operator.post_json("/api/tokens/list", &[]).await;
    let tokens = listed["tokens"].as_array().unwrap();
    let id = tokens.iter().find(|token| token["name"] == "Revoked").unwrap()["id"].as_str().unwrap();
    operator.post_json("/api/tokens/revoke", &[("token", id)]).await;
    let mut expected = recorded(&app).await;
    assert_eq!(expected, (0, 0));

    let cross_site =
        |_| viewer.form("/api/jobs/create", &[("project", "docs")]).header("sec-fetch-site", "cross-site");
    let of_role = |_| viewer.call("/api/users/list", &[]);
    let api = |token: &str, path: &str| viewer.request(Method::GET, path).bearer_auth(token);
    let scope = |_| api(&token, "/api/v1/projects/docs/page-views");
    let ended = |_| api(&revoked, "/api/v1/projects");
    let kinds: [Kind<'_>; 4] = [
        ("cross-site", 403, 50, &cross_site),
        ("role", 403, 50, &of_role),
        ("scope", 403, 30, &scope),
        ("revoked", 401, 30, &ended),
    ];
    let mut all_ids = Vec::new();
    for (kind, status, times, request) in kinds {
        let ids = refused(&viewer, status, times, request).await;
        let records: usize = ids.iter().map(|id| records_of(id)).sum();
        // All come from one network: the first kind uses up what is recorded at once.
        assert_eq!(records > 0, kind == "cross-site", "{kind}");
        all_ids.extend(ids);
    }
    app.state().refusals.write().await.unwrap();
    expected = (AT_ONCE, (all_ids.len() - AT_ONCE) as u64);
    assert_eq!(recorded(&app).await, expected);
    // Another network has its own records.
    let other = app.anonymous_from("127.0.0.9".parse().unwrap());
    let ids = refused(&other, 401, 1, |_| {
        other.call("/api/session/login", &[("username", "olga"), ("password", "a wrong password")])
    })
    .await;
    assert!(records_of(&ids[0]) > 0);
    assert_eq!(recorded(&app).await, (AT_ONCE + 1, expected.1));
}

#[tokio::test]
async fn refusal_whose_client_leaves_is_recorded() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let lock = app.ledger().lock().await;
    for _ in 0..3 {
        let delete = anonymous.request(Method::DELETE, "/p/docs/jobs").timeout(Duration::from_millis(200));
        assert!(delete.send().await.unwrap_err().is_timeout());
    }
    lock.release().await;
    until("all are recorded", async || (recorded(&app).await == (3, 0)).then_some(())).await;
    refused(&anonymous, 403, AT_ONCE, |_| anonymous.request(Method::DELETE, "/p/docs/jobs")).await;
    assert_eq!(recorded(&app).await, (AT_ONCE, 0));
}
