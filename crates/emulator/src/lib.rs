//! An emulator of the platform's admin API, for `docket emulator`, `docket demo` and tests.
//!
//! It is a crate of its own, which cannot use Docket's types. As an independent implementation of the same specification, it reveals where the client
//! misreads it.

mod agent;
mod allowance;
mod analytics;
mod clock;
mod code_host;
mod compression;
mod faults;
mod key;
mod noise;
mod refusal;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::Request;
use parking_lot::{Mutex, MutexGuard};
use tower::service_fn;
use tower::util::BoxCloneService;

use self::agent::Ledger;
use self::allowance::Allowance;
use self::analytics::Site;
pub use self::clock::{Clock, Timestamp};
use self::code_host::CodeHost;
pub use self::code_host::CodeHostConfig;
use self::faults::Faults;
pub use self::faults::HungUp;
use self::key::KeyDigest;
use self::noise::Seed;
use self::refusal::Refusal;

/// The default number of pages of each project's emulated site.
pub const DEFAULT_PAGES: u32 = 620;
/// The default projects.
pub const DEFAULT_PROJECTS: &str = "docs,api,acme-docs,acme-api";
/// The default number of calls per hour that each limit allows.
pub const DEFAULT_PER_HOUR: usize = allowance::CALLS_PER_HOUR;
/// The default seed of the generated data.
pub const DEFAULT_SEED: u64 = 1;

/// The address of links to pull requests without a code host.
const NO_CODE_HOST: &str = "https://git.example";

/// The emulator's configuration. Not `Debug`, so that the key is not printed by accident.
#[derive(Clone)]
pub struct EmulatorConfig {
    /// The only bearer key it accepts.
    pub key: String,
    /// The ids of the projects, separated by commas. It refuses all others.
    pub projects: String,
    /// Pages of each project's site.
    pub pages: u32,
    /// Calls per hour that each of its limits allows.
    pub per_hour: usize,
    /// The same seed gives the same views, outcomes and durations.
    pub seed: u64,
    /// `None`: links of pull requests lead nowhere.
    pub code_host: Option<CodeHostConfig>,
}

/// A running emulator. Cloning it gives another handle on the same state.
#[derive(Clone)]
pub struct Emulator {
    state: Arc<EmulatorState>,
}

/// A job from before the emulator started.
#[derive(Debug, Clone)]
pub struct PastJob {
    pub id: String,
    pub created_at: Timestamp,
    pub outcome: Outcome,
    /// `active` until then; may be in the future.
    pub finishes_at: Timestamp,
    pub model: String,
    pub repository: String,
    pub git_ref: Option<String>,
    /// Shown once the job has finished, whatever its outcome. `None` with [`Outcome::PullRequest`]: a new link is generated.
    pub pr_link: Option<String>,
    /// The files that its pull request changes. Empty: those of some pages.
    pub files: Vec<String>,
}

/// How a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    PullRequest,
    NoChanges,
    Failed,
}

struct EmulatorState {
    key: KeyDigest,
    clock: Clock,
    seed: Seed,
    site: Site,
    ledger: Mutex<Ledger>,
    analytics_calls: Mutex<Allowance>,
    faults: Faults,
    code_host: Option<CodeHost>,
}

impl Emulator {
    pub fn new(config: EmulatorConfig, clock: Clock) -> Self {
        let seed = Seed::new(config.seed);
        let projects = config.projects.split(',').map(|id| id.trim().to_owned()).collect();
        let address = config.code_host.as_ref().map_or(NO_CODE_HOST, |host| &host.address);
        Self {
            state: Arc::new(EmulatorState {
                key: KeyDigest::of(&config.key),
                clock,
                seed,
                site: Site::with_pages(config.pages),
                ledger: Mutex::new(Ledger::new(seed, config.per_hour, address, projects)),
                analytics_calls: Mutex::new(Allowance::of(config.per_hour)),
                faults: Faults::default(),
                code_host: config.code_host.as_ref().map(|host| CodeHost::new(host, seed)),
            }),
        }
    }

    /// The service to listen with: the router behind the fault injection. An error of it closes the connection.
    pub fn service(&self) -> BoxCloneService<Request<Body>, Response, HungUp> {
        let (emulator, router) = (self.clone(), self.router());
        BoxCloneService::new(service_fn(move |request: Request<Body>| {
            let (emulator, router) = (emulator.clone(), router.clone());
            async move { emulator.state.faults.respond(request, router).await }
        }))
    }

    /// Every route of the interface, without faults.
    fn router(&self) -> Router {
        Router::new()
            .route(faults::PATH, faults::routes(self))
            .nest("/v2/agent", agent::routes(self))
            .nest("/v1/analytics", analytics::routes(self))
            .merge(code_host::routes(self))
            .fallback(|| async { Refusal::no_such_route().into_response() })
            .with_state(self.clone())
    }

    /// Adds a job as if it had been created earlier (the demo's sample jobs and those of an earlier run). It does not count against an allowance.
    /// Replaces a job with the same id.
    pub fn add_past_job(&self, project: &str, job: PastJob) {
        self.ledger().add_past_job(project, job);
    }

    fn now(&self) -> Timestamp {
        self.state.clock.now()
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.state.ledger.lock()
    }

    fn analytics_calls(&self) -> MutexGuard<'_, Allowance> {
        self.state.analytics_calls.lock()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use axum::http::{Method, StatusCode};
    use serde_json::json;

    use super::testing::{Bench, KEY};

    #[tokio::test]
    async fn unknown_path_returns_404_in_the_shape_of_its_area() {
        let bench = Bench::new();
        let agent = bench.get("/v2/agent/docs/jobs").await;
        assert_eq!(agent.status, StatusCode::NOT_FOUND);
        assert_eq!(agent.fields(), ["error"]);
        let analytics = bench.get("/v1/analytics/docs/visitors").await;
        assert_eq!(analytics.status, StatusCode::NOT_FOUND);
        assert_eq!(analytics.fields(), ["details", "error"]);
        let elsewhere = bench.get("/v3").await;
        assert_eq!(elsewhere.status, StatusCode::NOT_FOUND);
        assert_eq!(elsewhere.fields(), ["error"]);
    }

    #[tokio::test]
    async fn unsupported_method_returns_405_with_the_allowed_ones() {
        let bench = Bench::new();
        for (method, path, allowed) in [
            (Method::GET, "/v2/agent/docs/job", "POST"),
            (Method::DELETE, "/v2/agent/docs/job/job_1", "GET,HEAD"),
            (Method::GET, "/v2/agent/docs/job/job_1/message", "POST"),
            (Method::POST, "/v1/analytics/docs/views", "GET,HEAD"),
        ] {
            let response = bench.send(method, path, Some(KEY), "").await;
            assert_eq!(response.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
            assert_eq!(response.headers["allow"], allowed, "{path}");
            assert!(response.body["error"].is_string(), "{path}");
        }
    }

    #[tokio::test]
    async fn wrong_key_returns_401_without_data() {
        let bench = Bench::new();
        let job = bench.create("docs", "Fix typos").await.body["id"].as_str().unwrap().to_owned();
        for key in [None, Some("mint_wrong"), Some(""), Some("mint_test_key_and_more")] {
            for (method, path) in [
                (Method::POST, "/v2/agent/docs/job".to_owned()),
                (Method::POST, format!("/v2/agent/docs/job/{job}/message")),
                (Method::GET, format!("/v2/agent/docs/job/{job}")),
                (Method::GET, "/v1/analytics/docs/views".to_owned()),
            ] {
                let response = bench.send(method, &path, key, r#"{"prompt":"x"}"#).await;
                assert_eq!(response.status, StatusCode::UNAUTHORIZED, "{path} with {key:?}");
                assert_eq!(response.fields(), ["error"]);
            }
        }
    }

    #[tokio::test]
    async fn two_handles_share_one_state() {
        let bench = Bench::new();
        let id = bench.create("docs", "Fix typos").await.body["id"].as_str().unwrap().to_owned();
        let other = Bench { emulator: bench.emulator.clone(), clock: bench.clock.clone() };
        assert_eq!(other.job("docs", &id).await.body["id"], json!(id));
    }
}
