//! A scripted GitHub Enterprise server, whose pull requests a test defines. It records every query.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::clock::Clock;
use base::config::{ApiKey, CodeHostsConfig, GitHubAccess, GitHubConfig};
use model::time::Timestamp;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use wiremock::matchers::{method, path, path_regex};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// The token that the server accepts.
pub(crate) use super::secrets::CODE_HOST_TOKEN as TOKEN;

pub(crate) struct CodeHost {
    server: MockServer,
    script: Script,
}

#[derive(Clone, Default)]
struct Script(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// By repository and number.
    pull_requests: BTreeMap<(String, u64), Value>,
    /// Errors of the response to the next queries.
    errors: Vec<Value>,
    /// The response to every query, if it is not the usual one.
    instead: Option<ResponseTemplate>,
    /// The responses to every query that contains the pull request of `acme/docs` with this number.
    bad: BTreeMap<u64, ResponseTemplate>,
    /// The responses to every query that contains a pull request of this repository.
    of_repository: BTreeMap<String, ResponseTemplate>,
    /// How many queries get the usual response; `None`: all.
    allowed: Option<u64>,
    /// The same for queries of checks.
    bad_checks: BTreeMap<u64, ResponseTemplate>,
    /// Headers of usual responses.
    headers: Vec<(String, String)>,
    /// How long usual responses take.
    delay: Duration,
    /// A clock, and by how many seconds that of the server is ahead of it; `None`: the clock of this machine.
    clock: Option<(Clock, i64)>,
}

/// An open pull request with every field of both queries.
pub(crate) fn open_pull_request() -> Value {
    json!({
        "state": "OPEN",
        "isDraft": false,
        "createdAt": "2026-11-21T09:30:00Z",
        "mergedAt": null,
        "closedAt": null,
        "mergeable": "MERGEABLE",
        "reviewDecision": "REVIEW_REQUIRED",
        "changedFiles": 2,
        "files": { "nodes": [{ "path": "docs/quickstart.mdx" }, { "path": "docs/images/a.png" }] },
        "reviewRequests": { "nodes": [{ "requestedReviewer": { "login": "mira" } }] },
        "latestOpinionatedReviews": { "nodes": [] },
        "commits": { "nodes": [{ "commit": { "statusCheckRollup": { "state": "SUCCESS" } } }] },
    })
}

impl CodeHost {
    pub(crate) async fn start() -> Self {
        // Not one that other tests use again: a test may stop it.
        let (server, script) = (MockServer::builder().start().await, Script::default());
        Mock::given(method("POST"))
            .and(path("/api/graphql"))
            .respond_with(script.clone())
            .mount(&server)
            .await;
        Self { server, script }
    }

    /// The connection to it, with a token.
    pub(crate) fn connection(&self) -> CodeHostsConfig {
        let token = ApiKey::parse(TOKEN).unwrap();
        let access = GitHubAccess::Token { token, file: None };
        CodeHostsConfig {
            github: Some(GitHubConfig { url: self.server.uri().parse().unwrap(), access }),
            gitlab: None,
        }
    }

    pub(crate) fn url(&self) -> String {
        self.server.uri()
    }

    /// The link to a pull request of `acme/docs`.
    pub(crate) fn link(&self, number: u64) -> String {
        format!("{}/acme/docs/pull/{number}", self.server.uri())
    }

    /// Sets the pull request of `acme/docs` with this number.
    pub(crate) fn set(&self, number: u64, pull_request: Value) {
        self.script.0.lock().pull_requests.insert(("acme/docs".to_owned(), number), pull_request);
    }

    /// Sets the first pull request of another repository.
    pub(crate) fn set_in(&self, repository: &str, pull_request: Value) {
        self.script.0.lock().pull_requests.insert((repository.to_owned(), 1), pull_request);
    }

    /// Responds with this to every query that contains a pull request of this repository, or as usual.
    pub(crate) fn respond_in(&self, repository: &str, response: Option<ResponseTemplate>) {
        let mut state = self.script.0.lock();
        match response {
            Some(response) => state.of_repository.insert(repository.to_owned(), response),
            None => state.of_repository.remove(repository),
        };
    }

    /// From now on, responds as usual to `queries` queries only, and then as if there were too many.
    pub(crate) fn allow(&self, queries: u64) {
        self.script.0.lock().allowed = Some(queries);
    }

    /// Delays usual responses from now on.
    pub(crate) fn set_delay(&self, delay: Duration) {
        self.script.0.lock().delay = delay;
    }

    /// Changes fields of a pull request.
    pub(crate) fn change(&self, number: u64, changes: &Value) {
        let mut state = self.script.0.lock();
        let pull_request = state.pull_requests.get_mut(&("acme/docs".to_owned(), number)).unwrap();
        for (name, value) in changes.as_object().unwrap() {
            pull_request[name] = value.clone();
        }
    }

    pub(crate) fn remove(&self, number: u64) {
        self.script.0.lock().pull_requests.remove(&("acme/docs".to_owned(), number));
    }

    /// Adds errors to the next responses.
    pub(crate) fn set_errors(&self, errors: Vec<Value>) {
        self.script.0.lock().errors = errors;
    }

    /// Responds to every query with this, or as usual.
    pub(crate) fn respond_instead(&self, instead: Option<ResponseTemplate>) {
        self.script.0.lock().instead = instead;
    }

    /// Responds with this to every query that contains this pull request of `acme/docs`, or as usual.
    pub(crate) fn spoil(&self, number: u64, response: Option<ResponseTemplate>) {
        let mut state = self.script.0.lock();
        match response {
            Some(response) => state.bad.insert(number, response),
            None => state.bad.remove(&number),
        };
    }

    /// As [`Self::spoil`], for queries of checks only.
    pub(crate) fn spoil_checks(&self, number: u64, response: ResponseTemplate) {
        self.script.0.lock().bad_checks.insert(number, response);
    }

    pub(crate) fn set_headers(&self, headers: &[(&str, String)]) {
        self.script.0.lock().headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    }

    pub(crate) async fn queries(&self) -> Vec<Request> {
        self.server.received_requests().await.unwrap()
    }

    /// The clock of the server is `ahead` seconds ahead of `clock`.
    pub(crate) fn set_clock(&self, clock: Clock, ahead: i64) {
        self.script.0.lock().clock = Some((clock, ahead));
    }

    /// Defines the requests whose paths match.
    pub(crate) async fn on_each(&self, verb: &str, pattern: &str, response: impl Respond + 'static) {
        let matching = Mock::given(method(verb)).and(path_regex(pattern));
        matching.respond_with(response).mount(&self.server).await;
    }

    /// Defines another request.
    pub(crate) async fn on(&self, verb: &str, at: &str, response: impl Respond + 'static) {
        Mock::given(method(verb)).and(path(at)).respond_with(response).mount(&self.server).await;
    }
}

impl Respond for Script {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut state = self.0.lock();
        if let Some(allowed) = state.allowed {
            if allowed == 0 {
                return ResponseTemplate::new(403).insert_header("retry-after", "60");
            }
            state.allowed = Some(allowed - 1);
        }
        if let Some(instead) = &state.instead {
            return instead.clone();
        }
        if request.headers.get("authorization").and_then(|value| value.to_str().ok())
            != Some(&format!("Bearer {TOKEN}"))
        {
            return ResponseTemplate::new(401).set_body_json(json!({ "message": "Bad credentials" }));
        }
        let body: Value = request.body_json().unwrap();
        let variable = |name: &str, index: usize| body["variables"][format!("{name}{index}")].clone();
        let is_about_checks = body["query"].as_str().unwrap().contains("statusCheckRollup");
        let (mut data, mut errors) = (Map::new(), state.errors.clone());
        for index in (0..).take_while(|index| !variable("n", *index).is_null()) {
            let repository = [variable("o", index), variable("r", index)]
                .map(|part| part.as_str().unwrap().to_owned())
                .join("/");
            let number = variable("n", index).as_u64().unwrap();
            let of_checks = state.bad_checks.get(&number).filter(|_| is_about_checks);
            if let Some(bad) = state.bad.get(&number).or(of_checks).filter(|_| repository == "acme/docs") {
                return bad.clone();
            }
            if let Some(response) = state.of_repository.get(&repository) {
                return response.clone();
            }
            let found = state.pull_requests.get(&(repository, number));
            if found.is_none() {
                errors.push(json!({ "type": "NOT_FOUND", "path": [format!("p{index}"), "pullRequest"], "message": "Could not resolve" }));
            }
            data.insert(format!("p{index}"), json!({ "pullRequest": found }));
        }
        let mut response = ResponseTemplate::new(200).set_body_json(match errors.is_empty() {
            true => json!({ "data": data }),
            false => json!({ "data": data, "errors": errors }),
        });
        if let Some((clock, ahead)) = &state.clock {
            response = dated(response, clock.now().plus_seconds(*ahead));
        }
        response = response.set_delay(state.delay);
        for (name, value) in &state.headers {
            response = response.insert_header(name.as_str(), value.as_str());
        }
        response
    }
}

/// A response at this time by the clock of the server.
pub(crate) fn dated(response: ResponseTemplate, at: Timestamp) -> ResponseTemplate {
    let at = std::time::UNIX_EPOCH + Duration::from_millis(at.as_millis().unsigned_abs());
    response.insert_header("date", httpdate::fmt_http_date(at).as_str())
}
