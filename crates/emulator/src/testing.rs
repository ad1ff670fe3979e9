//! A test harness: the emulator with a frozen clock, and requests that go directly to its router.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{CodeHostConfig, DEFAULT_PER_HOUR, DEFAULT_SEED, Emulator, EmulatorConfig};
use crate::clock::{Clock, Timestamp};

pub(super) const KEY: &str = "mint_test_key";
pub(super) const PROJECTS: &str = "docs,handbook,another";
/// The token of the code host.
pub(super) const TOKEN: &str = "github_pat_test";
/// 2026-11-21T09:30:00Z, a Saturday.
pub(super) const NOW: Timestamp = Timestamp::from_millis(1_795_253_400_000);

/// After this time, any job without `emulator:slow` has finished.
pub(super) const LONGEST_SECONDS: u64 = 15;

pub(super) struct Bench {
    pub(super) emulator: Emulator,
    pub(super) clock: FrozenClock,
}

/// A clock that only [`FrozenClock::advance`] moves.
#[derive(Clone)]
pub(super) struct FrozenClock(Arc<AtomicI64>);

impl FrozenClock {
    fn at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.as_millis())))
    }

    fn clock(&self) -> Clock {
        let millis = self.0.clone();
        Clock::new(move || millis.load(Ordering::SeqCst))
    }

    pub(super) fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_millis() as i64, Ordering::SeqCst);
    }
}

#[derive(Debug)]
pub(super) struct TestResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Bench {
    /// An emulator of a small site, so that tests are fast without optimization.
    pub(super) fn new() -> Self {
        Self::with(60, DEFAULT_SEED)
    }

    pub(super) fn with(pages: u32, seed: u64) -> Self {
        Self::of(EmulatorConfig {
            key: KEY.to_owned(),
            projects: PROJECTS.to_owned(),
            pages,
            per_hour: DEFAULT_PER_HOUR,
            seed,
            code_host: None,
        })
    }

    pub(super) fn with_code_host() -> Self {
        let code_host =
            CodeHostConfig { address: "http://127.0.0.1:4010".to_owned(), token: TOKEN.to_owned() };
        Self::of(EmulatorConfig {
            key: KEY.to_owned(),
            projects: PROJECTS.to_owned(),
            pages: 60,
            per_hour: DEFAULT_PER_HOUR,
            seed: DEFAULT_SEED,
            code_host: Some(code_host),
        })
    }

    fn of(config: EmulatorConfig) -> Self {
        let clock = FrozenClock::at(NOW);
        Self { emulator: Emulator::new(config, clock.clock()), clock }
    }

    pub(super) fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub(super) async fn create(&self, project: &str, prompt: &str) -> TestResponse {
        self.post(&format!("/v2/agent/{project}/job"), &json!({ "prompt": prompt }).to_string()).await
    }

    pub(super) async fn follow_up(&self, project: &str, id: &str, prompt: &str) -> TestResponse {
        let path = format!("/v2/agent/{project}/job/{id}/message");
        self.post(&path, &json!({ "prompt": prompt }).to_string()).await
    }

    pub(super) async fn job(&self, project: &str, id: &str) -> TestResponse {
        self.get(&format!("/v2/agent/{project}/job/{id}")).await
    }

    pub(super) async fn views(&self, project: &str, query: &str) -> TestResponse {
        self.get(&format!("/v1/analytics/{project}/views?{query}")).await
    }

    /// Advances the clock until the job has finished.
    pub(super) async fn seconds_at_work(&self, project: &str, id: &str) -> u64 {
        for second in 0..600 {
            if self.job(project, id).await.text("status") != "active" {
                return second;
            }
            self.wait(1);
        }
        panic!("{id} does not finish")
    }

    pub(super) async fn get(&self, path: &str) -> TestResponse {
        self.send(Method::GET, path, Some(KEY), "").await
    }

    pub(super) async fn post(&self, path: &str, body: &str) -> TestResponse {
        self.send(Method::POST, path, Some(KEY), body).await
    }

    /// A request with a body of this content type.
    pub(super) async fn post_as(&self, content_type: Option<&str>, path: &str, body: &str) -> TestResponse {
        let mut request = Request::builder().method(Method::POST).uri(path);
        request = request.header(AUTHORIZATION, format!("Bearer {KEY}"));
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        self.response(request, body).await
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: &str,
    ) -> TestResponse {
        let mut request =
            Request::builder().method(method).uri(path).header(CONTENT_TYPE, "application/json");
        if let Some(key) = key {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
        }
        self.response(request, body).await
    }

    async fn response(&self, request: axum::http::request::Builder, body: &str) -> TestResponse {
        let request = request.body(Body::from(body.to_owned())).expect("a request");
        let response = self.emulator.router().oneshot(request).await.expect("a response");
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.expect("a whole body");
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|error| {
            panic!("{error} in {:?}", String::from_utf8_lossy(&bytes));
        });
        TestResponse { status: parts.status, headers: parts.headers, body }
    }
}

impl TestResponse {
    /// The names of the body's fields, in alphabetical order.
    pub(super) fn fields(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.body.as_object().expect("an object").keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    pub(super) fn text(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap_or_else(|| panic!("no text {field} in {}", self.body))
    }

    /// The outcome of the job in this response.
    pub(super) fn ending(&self) -> &'static str {
        match (self.text("status"), self.body["prLink"].is_string()) {
            ("completed", true) => "pull request",
            ("completed", false) => "no changes",
            ("failed", false) => "failed",
            other => panic!("{other:?}"),
        }
    }
}
