//! The scripted upstream and its responses.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use serde_json::Value;
pub(crate) use serde_json::json;
use wiremock::matchers::{method, path_regex};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// A server whose responses a test defines, and which records every request.
///
/// A request without a defined response gets a 404, and Docket waits a minute after a poll with a 404. A test that
/// polls often therefore defines that response before there is a job, and changes it without [`Upstream::reset`].
pub(crate) struct Upstream {
    server: MockServer,
    /// The priority of the next response: of several responses for one request, the lowest priority is used.
    priority: AtomicU8,
}

const CREATE: &str = "^/v2/agent/[^/]+/job$";
const FOLLOW_UP: &str = "^/v2/agent/[^/]+/job/[^/]+/message$";
const READ: &str = "^/v2/agent/[^/]+/job/[^/]+$";
const VIEWS: &str = "^/v1/analytics/[^/]+/views$";

/// A job with every field, as the upstream writes it.
pub(crate) fn remote_job(id: &str, status: &str) -> Value {
    json!({
        "id": id,
        "status": status,
        "source": {"repository": "acme/docs", "ref": "main"},
        "model": "claude-sonnet",
        "prLink": null,
        "createdAt": "2026-11-21T09:30:00.000Z",
        "archivedAt": null,
    })
}

/// [`remote_job`] with one field changed.
pub(crate) fn job_with(id: &str, status: &str, field: &str, value: Value) -> Value {
    let mut job = remote_job(id, status);
    job[field] = value;
    job
}

/// A job id that is used only once, and in no test literally.
pub(crate) fn detached_job() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    format!("job_made_up_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Page views of two pages.
pub(crate) fn views_answer() -> Value {
    json!({
        "totals": {"human": 30, "ai": 12, "total": 42},
        "views": [
            {"path": "/quickstart", "human": 20, "ai": 10, "total": 30},
            {"path": "/api/authentication", "human": 10, "ai": 2, "total": 12},
        ],
        "hasMore": false,
    })
}

/// A response to a call that has what the specification requires of each.
struct OfCompleteCall<R>(R);

impl<R: Respond> Respond for OfCompleteCall<R> {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
        let has_key = header("authorization")
            .and_then(|value| value.strip_prefix("Bearer "))
            .is_some_and(|key| !key.trim().is_empty());
        let is_json = header("content-type") == Some("application/json");
        match (has_key, is_json || request.method.as_str() != "POST") {
            (false, _) => ResponseTemplate::new(401),
            (true, false) => ResponseTemplate::new(415),
            (true, true) => self.0.respond(request),
        }
    }
}

impl Upstream {
    pub(super) async fn start() -> Self {
        Self { server: MockServer::start().await, priority: AtomicU8::new(u8::MAX) }
    }

    pub(crate) fn url(&self) -> String {
        self.server.uri()
    }

    /// Accepts every new job as active, each under its own id.
    pub(crate) async fn accepts_jobs(&self) {
        let fresh =
            |_: &Request| ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), "active"));
        self.on_create(fresh).await;
    }

    /// Accepts every follow-up: its job is active.
    pub(crate) async fn accepts_follow_ups(&self) {
        let continued = |request: &Request| {
            let job = request.url.path_segments().unwrap().nth_back(1).unwrap();
            ResponseTemplate::new(200).set_body_json(remote_job(job, "active"))
        };
        self.on_follow_up(continued).await;
    }

    pub(crate) async fn on_create(&self, response: impl Respond + 'static) {
        self.on("POST", CREATE, response).await;
    }

    pub(crate) async fn on_follow_up(&self, response: impl Respond + 'static) {
        self.on("POST", FOLLOW_UP, response).await;
    }

    pub(crate) async fn on_read(&self, response: impl Respond + 'static) {
        self.on("GET", READ, response).await;
    }

    pub(crate) async fn on_views(&self, response: impl Respond + 'static) {
        self.on("GET", VIEWS, response).await;
    }

    /// Replaces the response that was defined before.
    async fn on(&self, verb: &str, path: &str, response: impl Respond + 'static) {
        let priority = self.priority.fetch_sub(1, Ordering::Relaxed);
        let mock = Mock::given(method(verb)).and(path_regex(path)).respond_with(OfCompleteCall(response));
        mock.with_priority(priority).mount(&self.server).await;
    }

    /// Removes all responses and recorded requests.
    pub(crate) async fn reset(&self) {
        self.server.reset().await;
        self.priority.store(u8::MAX, Ordering::Relaxed);
    }

    pub(crate) async fn requests(&self) -> Vec<Request> {
        self.server.received_requests().await.unwrap()
    }

    /// Requests that could start something.
    pub(crate) async fn posts(&self) -> Vec<Request> {
        let mut requests = self.requests().await;
        requests.retain(|request| request.method.as_str() == "POST");
        requests
    }

    /// The number of polls.
    pub(crate) async fn reads(&self) -> usize {
        let requests = self.requests().await;
        requests
            .iter()
            .filter(|request| request.method.as_str() == "GET" && request.url.path().starts_with("/v2/"))
            .count()
    }
}
