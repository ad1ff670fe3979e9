//! The upstream under test, and the calls to it. It must not print the key.

use std::cell::Cell;
use std::time::Duration;

use base::clock::Clock;
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use url::Url;

/// The upstream allows about a hundred calls an hour; Docket may be running meanwhile.
pub(crate) const MOST_CALLS: usize = 32;

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Upstream {
    http: Client,
    base_url: Url,
    key: String,
    pub(crate) project: String,
    /// A job that is known to exist.
    pub(crate) job: Option<String>,
    pub(crate) writes: bool,
    /// For the emulator, whose clock can be moved.
    pub(crate) clock: Option<Clock>,
    calls: Cell<usize>,
}

/// A complete response.
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// `None` if it is not JSON.
    pub(crate) body: Option<Value>,
}

impl Upstream {
    pub(crate) fn new(base_url: &str, key: &str, project: &str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let base_url = Url::parse(&format!("{}/", base_url.trim_end_matches('/'))).expect("a base address");
        let mut http = Client::builder().timeout(PATIENCE).redirect(reqwest::redirect::Policy::none());
        match base_url.host_str() {
            Some("127.0.0.1" | "localhost" | "[::1]") => http = http.no_proxy(),
            _ => assert!(
                base_url.scheme() == "https",
                "plain http would show the key to the network: use https"
            ),
        }
        Self {
            http: http.build().unwrap(),
            base_url,
            key: key.to_owned(),
            project: project.to_owned(),
            job: None,
            writes: false,
            clock: None,
            calls: Cell::default(),
        }
    }

    /// The upstream in the environment; `None` means the emulator.
    pub(crate) fn from_environment() -> Option<Self> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let url = variable("CONFORMANCE_URL")?;
        let key = variable("CONFORMANCE_KEY").expect("CONFORMANCE_KEY");
        let project = variable("CONFORMANCE_PROJECT").expect("CONFORMANCE_PROJECT");
        let job = variable("CONFORMANCE_JOB");
        let writes = variable("CONFORMANCE_WRITES").is_some_and(|value| value == "1");
        Some(Self { job, writes, ..Self::new(&url, &key, &project) })
    }

    pub(crate) fn name(&self) -> String {
        match self.clock {
            Some(_) => "the emulator".to_owned(),
            None => self.base_url.to_string(),
        }
    }

    /// The UTC day `days` days ago, as YYYY-MM-DD.
    pub(crate) fn days_ago(&self, days: i64) -> String {
        let now = self.clock.clone().unwrap_or_default().now().to_datetime();
        (now - time::Duration::days(days)).date().to_string()
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.get()
    }

    pub(crate) async fn create(&self, body: &Value) -> TestResponse {
        self.post(&["v2", "agent", &self.project, "job"], body).await
    }

    pub(crate) async fn follow_up(&self, job: &str, body: &Value) -> TestResponse {
        self.post(&["v2", "agent", &self.project, "job", job, "message"], body).await
    }

    pub(crate) async fn job(&self, job: &str) -> TestResponse {
        self.get(&["v2", "agent", &self.project, "job", job], &[]).await
    }

    pub(crate) async fn views(&self, query: &[(&str, &str)]) -> TestResponse {
        self.get(&["v1", "analytics", &self.project, "views"], query).await
    }

    /// A prompt in a body of another content type.
    pub(crate) async fn create_as(&self, content_type: &str, body: &str) -> TestResponse {
        assert!(self.writes, "a write that was not allowed");
        let address = self.address(&["v2", "agent", &self.project, "job"]);
        let request = self.http.post(address).bearer_auth(&self.key);
        self.send(request.header("content-type", content_type).body(body.to_owned())).await
    }

    /// The answers about a job and the page views of a project that does not exist.
    pub(crate) async fn of_unknown_project(&self) -> (TestResponse, TestResponse) {
        let project = "docket-conformance-no-such-project";
        let job = self.get(&["v2", "agent", project, "job", "any"], &[]).await;
        (job, self.get(&["v1", "analytics", project, "views"], &[]).await)
    }

    /// A page-view request with another key, or none.
    pub(crate) async fn views_as(&self, key: Option<&str>) -> TestResponse {
        self.get_as(key, &["v1", "analytics", &self.project, "views"]).await
    }

    /// As [`Upstream::views_as`], fetching a job.
    pub(crate) async fn job_as(&self, key: Option<&str>) -> TestResponse {
        let job = self.job.as_deref().unwrap_or("any");
        self.get_as(key, &["v2", "agent", &self.project, "job", job]).await
    }

    async fn get_as(&self, key: Option<&str>, segments: &[&str]) -> TestResponse {
        let request = self.http.get(self.address(segments));
        self.send(match key {
            Some(key) => request.bearer_auth(key),
            None => request,
        })
        .await
    }

    async fn get(&self, segments: &[&str], query: &[(&str, &str)]) -> TestResponse {
        let mut address = self.address(segments);
        if !query.is_empty() {
            address.query_pairs_mut().extend_pairs(query);
        }
        self.send(self.http.request(Method::GET, address).bearer_auth(&self.key)).await
    }

    async fn post(&self, segments: &[&str], body: &Value) -> TestResponse {
        assert!(self.writes, "a write that was not allowed");
        self.send(self.http.post(self.address(segments)).bearer_auth(&self.key).json(body)).await
    }

    async fn send(&self, request: RequestBuilder) -> TestResponse {
        self.calls.set(self.calls.get() + 1);
        assert!(self.calls.get() <= MOST_CALLS, "these checks have become too many calls");
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => panic!("no response from {}: {}", self.name(), error.without_url()),
        };
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.expect("a whole body");
        TestResponse { status, headers, body: serde_json::from_slice(&body).ok() }
    }

    fn address(&self, segments: &[&str]) -> Url {
        let mut address = self.base_url.clone();
        address.path_segments_mut().unwrap().pop_if_empty().extend(segments);
        address
    }
}

impl TestResponse {
    /// The body; `null` if it is not JSON.
    pub(crate) fn json(&self) -> Value {
        self.body.clone().unwrap_or(json!(null))
    }
}
