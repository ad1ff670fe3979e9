//! Outgoing webhooks: each finished job is reported at least once, signed, only to receivers that an administrator
//! configured.

mod administration;
mod attention;
mod delivery;
mod resend;

use std::time::Duration;

use base::clock::Clock;
use base::config::WebhookConfig;
use data_encoding::HEXLOWER;
use model::time::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::helpers::{
    Act, Browser, New, RawUpstream, Settings, TestApp, detached_job, intent, job_with, json, logged, picked,
    refusing_address, remote_job, steady, until,
};

const ENDPOINTS: [&str; 10] =
    ["list", "add", "enable", "disable", "remove", "renew", "test", "deliveries", "retry", "retry-all"];

fn frozen() -> Settings {
    let clock = Clock::frozen("2025-03-10T10:00:00Z".parse::<Timestamp>().unwrap());
    Settings { clock, ..Settings::default() }
}

/// A receiver that always sends this response.
async fn receiver(response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path("/hook")).respond_with(response).mount(&server).await;
    server
}

async fn heard(receiver: &MockServer) -> Vec<Request> {
    receiver.received_requests().await.unwrap()
}

async fn add(admin: &Browser, kind: &str, address: &str) -> Value {
    New::webhook(address).with("kind", kind).made(admin).await
}

async fn hooked(admin: &Browser, receiver: &MockServer) -> Value {
    add(admin, "json", &format!("{}/hook", receiver.uri())).await
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

async fn log(admin: &Browser, webhook: &Value) -> Vec<Value> {
    let log = admin.post_json("/api/webhooks/deliveries", &[("webhook", id(webhook))]).await;
    log.as_array().unwrap().clone()
}

/// The newest event of a webhook, once it satisfies `fits`.
async fn logged_once(admin: &Browser, webhook: &Value, fits: impl Fn(&Value) -> bool) -> Value {
    until("the log of the webhook", async || {
        log(admin, webhook).await.first().filter(|event| fits(event)).cloned()
    })
    .await
}

async fn test(admin: &Browser, webhook: &Value) -> Value {
    admin.post_json("/api/webhooks/test", &[("webhook", id(webhook))]).await
}

/// A job that ends at once, because the upstream rejects it.
async fn rejected_job(app: &TestApp) -> Value {
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    app.operator().await.created("Fix typos").await
}

/// HMAC-SHA-256 according to RFC 2104, in hexadecimal.
fn hmac(key: &str, message: &str) -> String {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key.as_bytes());
    let pad = |with: u8| block.map(|byte| byte ^ with).to_vec();
    let inner = Sha256::digest([pad(0x36), message.as_bytes().to_vec()].concat());
    let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    HEXLOWER.encode(&outer)
}

/// The signatures of a request.
fn signatures(request: &Request) -> Vec<String> {
    let signatures = request.headers["docket-signature"].to_str().unwrap();
    signatures.split(',').map(str::to_owned).collect()
}

/// The signature of a request by this secret.
fn signed(request: &Request, secret: &str) -> String {
    let body = String::from_utf8(request.body.clone()).unwrap();
    let timestamp = request.headers["docket-timestamp"].to_str().unwrap();
    format!("v1={}", hmac(secret, &format!("{timestamp}.{body}")))
}

/// Verifies a request as its receiver would, and returns the event.
fn verified(request: &Request, secret: &str) -> Value {
    let header = |name: &str| request.headers[name].to_str().unwrap().to_owned();
    let body = String::from_utf8(request.body.clone()).unwrap();
    assert!(signatures(request).contains(&signed(request, secret)), "{}", header("docket-signature"));
    assert_eq!(header("content-type"), "application/json");
    assert!(!request.headers.contains_key("authorization") && !request.headers.contains_key("cookie"));
    let event: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (header("docket-event"), header("docket-delivery")),
        (event["type"].as_str().unwrap().to_owned(), id(&event).to_owned())
    );
    event
}

async fn admin_of(app: &TestApp) -> Browser {
    app.sign_in("ada").await
}
