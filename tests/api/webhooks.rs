//! Outgoing webhooks: each finished job is reported at least once, signed, only to receivers that an administrator
//! configured.

mod administration;
mod attention;
mod delivery;
mod resend;

use std::time::Duration;

use base::clock::Clock;
use base::config::WebhookConfig;
use data_encoding::{BASE64, HEXLOWER};
use model::time::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::helpers::{
    Act, Browser, New, RawUpstream, Settings, TestApp, detached_job, intent, job_with, json, logged, picked,
    refusing_address, remote_job, steady, until,
};

const ENDPOINTS: [&str; 11] = [
    "list",
    "add",
    "events",
    "enable",
    "disable",
    "remove",
    "renew",
    "test",
    "deliveries",
    "retry",
    "retry-all",
];

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

/// HMAC-SHA-256 according to RFC 2104.
fn hmac(key: &[u8], message: &str) -> Vec<u8> {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let pad = |with: u8| block.map(|byte| byte ^ with).to_vec();
    let inner = Sha256::digest([pad(0x36), message.as_bytes().to_vec()].concat());
    let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    outer.to_vec()
}

fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.headers[name].to_str().unwrap()
}

/// The signatures of a request, according to Standard Webhooks.
fn signatures(request: &Request) -> Vec<&str> {
    header(request, "webhook-signature").split(' ').collect()
}

/// The signature of a request by this secret, according to Standard Webhooks.
fn signed(request: &Request, secret: &str) -> String {
    let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap().as_bytes()).unwrap();
    let body = str::from_utf8(&request.body).unwrap();
    let message =
        format!("{}.{}.{body}", header(request, "webhook-id"), header(request, "webhook-timestamp"));
    format!("v1,{}", BASE64.encode(&hmac(&key, &message)))
}

/// Whether `Docket-Signature` is that of this secret.
fn is_signed_as_before(request: &Request, secret: &str) -> bool {
    let message =
        format!("{}.{}", header(request, "docket-timestamp"), str::from_utf8(&request.body).unwrap());
    header(request, "docket-signature")
        == format!("v1={}", HEXLOWER.encode(&hmac(secret.as_bytes(), &message)))
}

/// Verifies a request as a receiver with the newest secret would, and returns the event.
fn verified(request: &Request, secret: &str) -> Value {
    assert_eq!(signatures(request)[0], signed(request, secret));
    assert!(is_signed_as_before(request, secret));
    let header = |name| header(request, name);
    assert_eq!(header("content-type"), "application/json");
    assert!(!request.headers.contains_key("authorization") && !request.headers.contains_key("cookie"));
    let event: Value = serde_json::from_slice(&request.body).unwrap();
    let ids = [header("docket-event"), header("docket-delivery"), header("webhook-id")];
    assert_eq!(ids, [event["type"].as_str().unwrap(), id(&event), id(&event)]);
    assert_eq!(header("webhook-timestamp"), header("docket-timestamp"));
    event
}

async fn admin_of(app: &TestApp) -> Browser {
    app.sign_in("ada").await
}
