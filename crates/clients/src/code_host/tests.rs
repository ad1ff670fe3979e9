//! Fetching from a scripted host, without a database: responses that never end, with a short deadline.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use wiremock::matchers::{method, path, path_regex};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::Wanted;
use super::exchange::{Exchanges, HostError};
use super::fetched::{Batch, Fetched};
use super::github::GitHub;
use super::gitlab::GitLab;
use super::link::PullRequestLink;
use base::clock::Clock;
use base::config::ApiKey;
use model::pull_request::CheckFailure;

/// Longer than a good response takes on a busy machine, shorter than the delay of a bad one.
const DEADLINE: Duration = Duration::from_secs(4);
const NEVER: Duration = Duration::from_secs(3_600);

fn exchanges() -> Exchanges {
    Exchanges::with_deadline(DEADLINE, false, &[], Clock::system()).expect("a client")
}

fn links(count: u64) -> Vec<PullRequestLink> {
    (1..=count).map(|number| PullRequestLink { repository: "acme/docs".to_owned(), number }).collect()
}

fn token() -> ApiKey {
    ApiKey::parse("a-token-of-a-code-host").expect("a token")
}

#[track_caller]
fn assert_only_one_failed(batch: &Batch, bad: usize) {
    assert!(bad < batch.found.len(), "{batch:?}");
    for (index, found) in batch.found.iter().enumerate() {
        match index == bad {
            true => assert_eq!(*found, Fetched::Failed(CheckFailure::Unusable)),
            false => assert!(matches!(found, Fetched::Reported(..)), "{index}: {found:?}"),
        }
    }
    assert!(!batch.is_over() && batch.has_success, "{batch:?}");
    assert!(matches!(batch.failed[..], [(_, HostError::Interrupted(_))]), "{batch:?}");
}

#[tokio::test]
async fn query_without_a_response_is_halved() {
    let server = MockServer::start().await;
    let respond = |request: &Request| {
        let body: serde_json::Value = request.body_json().expect("JSON");
        let numbers = (0..).map_while(|index| body["variables"][format!("n{index}")].as_u64());
        let numbers: Vec<u64> = numbers.collect();
        if numbers.contains(&3) {
            return ResponseTemplate::new(200).set_delay(NEVER);
        }
        let found = serde_json::json!({ "pullRequest": { "state": "MERGED" } });
        let data: serde_json::Map<_, _> =
            (0..numbers.len()).map(|index| (format!("p{index}"), found.clone())).collect();
        ResponseTemplate::new(200).set_body_json(serde_json::json!({ "data": data }))
    };
    Mock::given(method("POST")).and(path("/api/graphql")).respond_with(respond).mount(&server).await;
    let url = format!("{}/api/graphql", server.uri()).parse().expect("a URL");
    let github = GitHub::with_token(url, exchanges(), token());
    let (links, stop) = (links(4), CancellationToken::new());
    let batch = github.fetch(&Wanted { links: &links, fresh: 4, stop: &stop }).await;
    assert_only_one_failed(&batch, 2);
    // One that failed before is requested apart from the others.
    let before = server.received_requests().await.expect("requests").len();
    let reordered = [&links[..2], &links[3..], &links[2..3]].concat();
    let batch = github.fetch(&Wanted { links: &reordered, fresh: 3, stop: &stop }).await;
    assert_only_one_failed(&batch, 3);
    assert_eq!(server.received_requests().await.expect("requests").len() - before, 2);
}

#[tokio::test]
async fn merge_request_without_a_response_stops_no_other() {
    let server = MockServer::start().await;
    let respond = |request: &Request| {
        let path = request.url.path();
        match (path.ends_with("/merge_requests/3"), path.ends_with("/diffs")) {
            (true, _) => ResponseTemplate::new(200).set_delay(NEVER),
            (_, true) => ResponseTemplate::new(200).set_body_string("[]"),
            _ => ResponseTemplate::new(200).set_body_string(r#"{"state": "merged"}"#),
        }
    };
    Mock::given(method("GET")).and(path_regex("^/api/v4/")).respond_with(respond).mount(&server).await;
    let url = format!("{}/api/v4/", server.uri()).parse().expect("a URL");
    let gitlab = GitLab::with_token(url, exchanges(), token());
    let (links, stop) = (links(10), CancellationToken::new());
    let batch = gitlab.fetch(&Wanted { links: &links, fresh: 10, stop: &stop }).await;
    assert_only_one_failed(&batch, 2);
}

#[tokio::test]
async fn stop_ends_it_before_the_next_request() {
    let stop = CancellationToken::new();
    stop.cancel();
    let github = GitHub::with_token("http://127.0.0.1:9/".parse().expect("a URL"), exchanges(), token());
    let links = links(2);
    let batch = github.fetch(&Wanted { links: &links, fresh: 2, stop: &stop }).await;
    assert_eq!(batch.found, [Fetched::Skipped, Fetched::Skipped]);
    assert!(batch.error.is_none());
}
