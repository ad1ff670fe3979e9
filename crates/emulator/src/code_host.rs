//! An emulated code host with the interface of a GitHub Enterprise server: the pages of pull requests, and their state by GraphQL.
//!
//! The agent's jobs open its pull requests. What happens to them afterwards is computed from the clock when they are read.

mod graphql;
mod life;
mod page;

use std::collections::HashMap;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use self::life::Life;
use super::Emulator;
use super::clock::Timestamp;
use super::key::KeyDigest;
use super::noise::Seed;

/// The configuration of the code host.
#[derive(Clone)]
pub struct CodeHostConfig {
    /// The web address of the emulator, which the links of pull requests begin with.
    pub address: String,
    /// The only token that its API accepts.
    pub token: String,
}

/// The emulated code host.
pub(crate) struct CodeHost {
    token: KeyDigest,
    seed: Seed,
}

/// A pull request that the agent opened.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) repository: String,
    pub(crate) number: u64,
    pub(crate) branch: String,
    pub(crate) at: Timestamp,
    /// Whether it is a sample, whose life takes days instead of minutes.
    pub(crate) is_past: bool,
    /// The changed files. Empty: those of some pages.
    pub(crate) files: Vec<String>,
}

/// Points per hour, as on GitHub.
const LIMIT: u64 = 5_000;
/// The most pages that one pull request changes.
const PAGES_MAX: u64 = 3;
/// How many pull requests a page lists.
const LISTED_MAX: usize = 100;
const LARGEST_QUERY: usize = 256 * 1024;

impl CodeHost {
    pub(crate) fn new(config: &CodeHostConfig, seed: Seed) -> Self {
        Self { token: KeyDigest::of(&config.token), seed: seed.named("pull requests") }
    }
}

/// The pages of pull requests, and the API.
pub(crate) fn routes(emulator: &Emulator) -> Router<Emulator> {
    match emulator.state.code_host {
        Some(_) => Router::new()
            .route("/api/graphql", post(query).layer(DefaultBodyLimit::max(LARGEST_QUERY)))
            .route("/{owner}/{repository}/pull/{number}", get(show))
            .route("/{owner}/{repository}/pulls", get(list)),
        None => Router::new(),
    }
}

async fn query(State(emulator): State<Emulator>, headers: HeaderMap, body: Bytes) -> Response {
    let Some(host) = &emulator.state.code_host else { return StatusCode::NOT_FOUND.into_response() };
    if !host.token.opens_for(&headers) {
        return (StatusCode::UNAUTHORIZED, Json(json!({ "message": "Bad credentials" }))).into_response();
    }
    let now = emulator.now();
    let opened: HashMap<(String, u64), Opened> = emulator
        .ledger()
        .pull_requests(now)
        .into_iter()
        .map(|opened| ((opened.repository.clone(), opened.number), opened))
        .collect();
    let pull_request = |repository: &str, number: u64| {
        let opened = opened.get(&(repository.to_owned(), number))?;
        Some(emulator.pull_request(host, opened, now))
    };
    let response = graphql::run(&body, pull_request);
    let reset = (now.as_millis() / 3_600_000 + 1) * 3_600;
    let limits = [
        ("x-ratelimit-limit", LIMIT.to_string()),
        ("x-ratelimit-remaining", (LIMIT - 1).to_string()),
        ("x-ratelimit-reset", reset.to_string()),
    ];
    (limits, [(CONTENT_TYPE, "application/json")], response.to_string()).into_response()
}

async fn show(
    State(emulator): State<Emulator>,
    Path((owner, repository, number)): Path<(String, String, u64)>,
) -> Response {
    match emulator.page(&format!("{owner}/{repository}"), number) {
        Some(page) => Html(page).into_response(),
        None => (StatusCode::NOT_FOUND, Html(page::not_found())).into_response(),
    }
}

async fn list(
    State(emulator): State<Emulator>,
    Path((owner, repository)): Path<(String, String)>,
) -> Html<String> {
    Html(emulator.list(&format!("{owner}/{repository}")))
}

impl Emulator {
    /// The page with the pull requests of a repository, the newest first.
    fn list(&self, repository: &str) -> String {
        let mut opened = self.ledger().pull_requests(self.now());
        opened.retain(|opened| opened.repository == repository);
        opened.sort_unstable_by_key(|opened| std::cmp::Reverse(opened.number));
        opened.truncate(LISTED_MAX);
        page::list(repository, &opened)
    }

    /// The page of a pull request.
    fn page(&self, repository: &str, number: u64) -> Option<String> {
        let (host, now) = (self.state.code_host.as_ref()?, self.now());
        let mut opened = self.ledger().pull_requests(now).into_iter();
        let opened = opened.find(|opened| opened.repository == repository && opened.number == number)?;
        Some(page::page(&opened, &self.pull_request(host, &opened, now)))
    }

    /// A pull request as an object of GitHub's schema.
    fn pull_request(&self, host: &CodeHost, opened: &Opened, now: Timestamp) -> Value {
        let seed = host.seed.named(&opened.repository).nth(opened.number);
        let files = if opened.files.is_empty() { &self.files_of_pages(seed) } else { &opened.files };
        Life::of(seed, opened).at(now).object(files)
    }

    /// The files of one to three pages of the site.
    fn files_of_pages(&self, seed: Seed) -> Vec<String> {
        let pages = self.state.site.paths();
        let count = 1 + (seed.nth(1).unit() * PAGES_MAX as f64) as u64;
        let mut files: Vec<String> = (0..count)
            .filter_map(|nth| {
                let at = (seed.nth(10 + nth).unit() * pages.len().min(60) as f64) as usize;
                let page = pages.get(at)?.trim_matches('/');
                Some(format!("docs/{}.mdx", if page.is_empty() { "index" } else { page }))
            })
            .collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use axum::http::{Method, StatusCode};
    use serde_json::{Value, json};

    use super::super::testing::{Bench, LONGEST_SECONDS, TOKEN};

    const QUERY: &str = "query($o: String!, $r: String!, $n: Int!) { \
        a: repository(owner: $o, name: $r) { pullRequest(number: $n) { ...fields } } \
        b: repository(owner: $o, name: $r) { pullRequest(number: 9999) { ...fields } } } \
        fragment fields on PullRequest { state isDraft files(first: 100) { nodes { path } } \
        reviewRequests(first: 20) { nodes { requestedReviewer { ... on User { login } ... on Team { name } } } } \
        commits(last: 1) { nodes { commit { statusCheckRollup { state } } } } }";

    async fn queried(bench: &Bench, token: Option<&str>, query: &str) -> (StatusCode, Value) {
        let body = json!({ "query": query, "variables": { "o": "acme", "r": "docs-docs", "n": 101 } });
        let response = bench.send(Method::POST, "/api/graphql", token, &body.to_string()).await;
        (response.status, response.body)
    }

    #[tokio::test]
    async fn pull_request_of_a_job_has_a_state() {
        let bench = Bench::with_code_host();
        let id = bench.create("docs", "emulator:pull-request").await.text("id").to_owned();
        bench.wait(LONGEST_SECONDS);
        let link = bench.job("docs", &id).await.text("prLink").to_owned();
        assert!(link.ends_with("/acme/docs-docs/pull/101"), "{link}");
        let (status, body) = queried(&bench, Some(TOKEN), QUERY).await;
        assert_eq!(status, StatusCode::OK);
        let pull_request = &body["data"]["a"]["pullRequest"];
        assert_eq!(pull_request["state"], "OPEN", "{body}");
        let path = pull_request["files"]["nodes"][0]["path"].as_str().unwrap();
        assert!(path.starts_with("docs/") && path.ends_with(".mdx"), "{path}");
        assert_eq!(pull_request["commits"]["nodes"][0]["commit"]["statusCheckRollup"]["state"], "PENDING");
        assert_eq!(body["data"]["b"]["pullRequest"], Value::Null);
        assert_eq!(body["errors"][0]["path"], json!(["b", "pullRequest"]));
    }

    #[tokio::test]
    async fn query_needs_the_token_and_known_fields() {
        let bench = Bench::with_code_host();
        assert_eq!(queried(&bench, None, QUERY).await.0, StatusCode::UNAUTHORIZED);
        assert_eq!(queried(&bench, Some("other"), QUERY).await.0, StatusCode::UNAUTHORIZED);
        for query in ["{", "{ viewer { login } }", "mutation { a }"] {
            let (status, body) = queried(&bench, Some(TOKEN), query).await;
            assert_eq!((status, body["data"].is_null()), (StatusCode::OK, true), "{query}: {body}");
            assert!(body["errors"][0]["message"].is_string(), "{query}: {body}");
        }
    }

    #[tokio::test]
    async fn pull_request_has_a_page() {
        let bench = Bench::with_code_host();
        bench.create("docs", "emulator:pull-request").await;
        assert_eq!(bench.emulator.page("acme/docs-docs", 101), None);
        bench.wait(LONGEST_SECONDS);
        let page = bench.emulator.page("acme/docs-docs", 101).unwrap();
        assert!(page.contains("<h1>acme/docs-docs #101</h1>"), "{page}");
        assert_eq!(bench.emulator.page("acme/docs-docs", 102), None);
        let list = bench.emulator.list("acme/docs-docs");
        assert!(list.contains("<a href=\"pull/101\">#101</a>"), "{list}");
        assert!(bench.emulator.list("acme/other").contains("No pull requests"));
        assert_eq!(Bench::new().emulator.page("acme/docs-docs", 101), None);
    }
}
