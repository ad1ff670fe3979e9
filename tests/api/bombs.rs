//! Compressed responses that become very large: the limits of bodies apply after decompression.

use base::config::{ApiKey, CodeHostsConfig, GitHubAccess, GitHubConfig};
use reqwest::Method;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::helpers::{
    New, Settings, TestApp, detached_job, gzip_bomb, job_with, json, logged, single_sign_on, until,
};

/// A server that sends a bomb for each request.
async fn bomber() -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(gzip_bomb()).mount(&server).await;
    server
}

#[tokio::test]
async fn gzip_bomb_of_the_platform_ends_at_the_limit() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    app.upstream.on_create(gzip_bomb()).await;
    let job = operator.created("The platform sends a bomb").await;
    assert_eq!(job["state"], "unknown", "{job}");
    app.upstream.on_views(gzip_bomb()).await;
    operator.post("/api/analytics/views", &[("project", "docs")]).await.refused(502, "upstream_failed");
    assert!(!logged("more than 8388608 bytes").is_empty());
}

#[tokio::test]
async fn gzip_bomb_of_the_sign_in_provider_ends_at_the_limit() {
    let provider = bomber().await;
    let app =
        TestApp::with(Settings { identity: single_sign_on(&provider.uri()), ..Settings::default() }).await;
    let browser = app.anonymous();
    let response = browser.get("/login/sso").await;
    assert_eq!(response.status, 502, "{}", response.text);
    assert!(!logged("a response of the single sign-on provider is too large").is_empty());
}

#[tokio::test]
async fn gzip_bomb_of_a_webhook_target_is_not_decompressed() {
    let (app, target) = (TestApp::start().await, bomber().await);
    let admin = app.sign_in("ada").await;
    let webhook = New::webhook(&format!("{}/hook", target.uri())).id(&admin).await;
    let webhook = [("webhook", webhook.as_str())];
    admin.post_json("/api/webhooks/test", &webhook).await;
    let events = admin.post_json("/api/webhooks/deliveries", &webhook).await;
    assert_eq!(events[0]["status"], 200, "{events}");
    assert!(events[0]["note"].as_str().unwrap_or_default().chars().count() <= 300, "{events}");
}

#[tokio::test]
async fn gzip_bomb_of_a_code_host_ends_at_the_limit() {
    let host = bomber().await;
    let access = GitHubAccess::Token { token: ApiKey::parse("github_pat_1").unwrap(), file: None };
    let github = GitHubConfig { url: host.uri().parse().unwrap(), access };
    let code_hosts = CodeHostsConfig { github: Some(github), gitlab: None };
    let app = TestApp::with(Settings { code_hosts, ..Settings::default() }).await;
    let link = json!(format!("{}/acme/docs/pull/1", host.uri()));
    let job = job_with(&detached_job(), "completed", "prLink", link);
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(job)).await;
    app.operator().await.created("With a pull request").await;
    let admin = app.sign_in("ada").await;
    until("the code host is reported", async || {
        let status = admin.post_json("/api/upstream/status", &[]).await;
        status["code_hosts"][0]["failure"]["message"].as_str()?.contains("it is too large").then_some(())
    })
    .await;
    assert_eq!(admin.request(Method::GET, "/healthz").send().await.unwrap().status(), 200);
}
