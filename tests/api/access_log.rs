//! The access log: one line for each request, without personal or secret data.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use crate::helpers::{Browser, Installation, PASSWORD, TestApp, TestResponse, logged_of, until};

/// The access log's line for a request. The server writes it after the response, so that a client may read the response first.
async fn line(response: &TestResponse) -> String {
    until("the line is there", async || {
        let of_request = logged_of(response.header("x-request-id"));
        of_request.iter().find(|line| line.contains("docket::access")).map(|line| line.to_string())
    })
    .await
}

#[tokio::test]
async fn request_is_logged_with_route_status_and_user() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let response = operator.get("/p/docs/jobs?q=merger").await;
    let logged = line(&response).await;
    assert!(logged.contains(" INFO request{"), "{logged}");
    let bytes = format!("bytes={} ", response.bytes.len());
    for part in [
        "path=\"/p/docs/jobs\"",
        "route=\"/p/{project}/jobs\"",
        "status=200",
        "milliseconds=",
        &bytes,
        "person=",
    ] {
        assert!(logged.contains(part), "no {part} in {logged}");
    }
    for secret in ["merger", "olga"] {
        assert!(!logged.contains(secret), "{logged}");
    }
    let logged = line(&app.anonymous().get("/p/docs/jobs").await).await;
    assert!(logged.contains("status=303") && !logged.contains("person="), "{logged}");
    let logged = line(&operator.get("/no/such/page").await).await;
    assert!(logged.contains("route=\"none\"") && logged.contains("status=404"), "{logged}");
}

#[tokio::test]
async fn background_requests_are_debug_lines_and_failures_are_warnings() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let statuses = operator.post("/api/jobs/statuses", &[("project", "docs"), ("jobs", "")]).await;
    for response in [statuses, operator.get("/readyz").await] {
        let logged = line(&response).await;
        assert!(logged.contains(" DEBUG request{"), "{logged}");
    }
    app.state().store.close().await;
    let logged = line(&operator.get("/p/docs/jobs").await).await;
    assert!(logged.contains(" WARN request{") && logged.contains("request failed"), "{logged}");
}

#[tokio::test]
async fn prefetch_header_hides_no_action_and_no_download() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for header in ["sec-purpose", "docket-refresh"] {
        let page = operator.request(Method::GET, "/p/docs/jobs").header(header, "prefetch");
        let logged = line(&operator.send(page).await).await;
        assert!(logged.contains(" DEBUG request{"), "{logged}");
        let pairs = [("project", "docs"), ("prompt", "Fix it"), ("intent", header)];
        for request in [
            operator.call("/api/jobs/create", &pairs),
            operator.request(Method::GET, "/p/docs/analytics/export.csv"),
            operator.request(Method::GET, "/no/such/page"),
        ] {
            let logged = line(&operator.send(request.header(header, "prefetch")).await).await;
            assert!(logged.contains(" INFO request{") && logged.contains("person="), "{logged}");
        }
    }
}

#[tokio::test]
async fn json_access_log_has_the_documented_fields() {
    let installation =
        Installation::with_administrator("http://127.0.0.1:9").set("DOCKET_LOG_FORMAT", "json");
    let server = installation.serve(&["serve"]);
    let address = until("it listens", async || {
        let of_json = |line: &str| serde_json::from_str::<Value>(line).ok();
        let lines: Vec<Value> = server.output().lines().filter_map(of_json).collect();
        let line = lines.into_iter().find(|line| line["fields"]["message"] == "listening")?;
        Some(format!("http://{}", line["fields"]["address"].as_str()?))
    })
    .await;
    let browser = Browser::at(&address);
    assert_eq!(browser.sign_in("admin", PASSWORD).await.status, 200);
    let response = browser.get("/p/docs/jobs").await;
    let id = response.header("x-request-id");
    let line: Value = until("the line is there", async || {
        let output = server.output();
        let line = output.lines().find(|line| line.contains(id) && line.contains("docket::access"))?;
        Some(serde_json::from_str(line).unwrap())
    })
    .await;
    let fields = &line["fields"];
    assert_eq!((&line["level"], &line["target"]), (&"INFO".into(), &"docket::access".into()), "{line}");
    assert_eq!((&fields["message"], &fields["route"]), (&"request".into(), &"/p/{project}/jobs".into()));
    assert_eq!((&fields["status"], &fields["bytes"]), (&200.into(), &response.bytes.len().into()), "{line}");
    assert!(fields["milliseconds"].is_u64(), "{line}");
    assert_eq!((&line["span"]["id"], &line["span"]["path"]), (&id.into(), &"/p/docs/jobs".into()), "{line}");
    let mut ledger = installation.ledger().connection().await;
    let admin: String =
        sqlx::query_scalar("SELECT id FROM users WHERE name = 'admin'").fetch_one(&mut ledger).await.unwrap();
    assert_eq!(fields["person"], admin.as_str());

    // Open pages and probes repeat their requests.
    let before = server.output().lines().count();
    for _ in 0..5 {
        assert_eq!(browser.get("/healthz").await.status, 200);
        let poll = browser.post("/api/jobs/statuses", &[("project", "docs"), ("jobs", "")]).await;
        assert_eq!(poll.status, 200, "{}", poll.text);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(server.output().lines().count(), before, "{}", server.output());
}
