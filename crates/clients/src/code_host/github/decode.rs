//! Decodes GitHub's responses. Unknown values are ignored, and an error affects only its own pull request.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::query::alias;
use crate::code_host::exchange::HostError;
use crate::upstream::decode::json::json;
use model::pull_request::{Checks, FILES_MAX, PullRequestState, REVIEWERS_MAX, Reported, Review};
use model::time::Timestamp;

/// The result for one pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decoded<T> {
    Usable(T),
    /// GitHub does not know it, or the token has no access to it.
    Missing,
    /// What GitHub reported is unusable.
    Unusable,
}

/// The response to a query, not yet divided into pull requests.
#[derive(Debug)]
pub(super) struct Response {
    data: Map<String, Value>,
    errors: Vec<Value>,
}

/// A list of GraphQL, which may contain nulls.
#[derive(Debug, Deserialize)]
struct Nodes<T> {
    nodes: Option<Vec<Option<T>>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    state: String,
    is_draft: Option<bool>,
    created_at: Option<String>,
    merged_at: Option<String>,
    closed_at: Option<String>,
    mergeable: Option<String>,
    review_decision: Option<String>,
    changed_files: Option<i64>,
    files: Option<Nodes<File>>,
    review_requests: Option<Nodes<ReviewRequest>>,
    latest_opinionated_reviews: Option<Nodes<OneReview>>,
}

#[derive(Debug, Deserialize)]
struct File {
    path: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReviewRequest {
    requested_reviewer: Option<Reviewer>,
}

/// A person has a login, a team has a name.
#[derive(Debug, Deserialize)]
struct Reviewer {
    login: Option<String>,
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct OneReview {
    state: Option<String>,
    author: Option<Reviewer>,
}

#[derive(Debug, Deserialize)]
struct WithCommits {
    commits: Option<Nodes<LastCommit>>,
}

#[derive(Debug, Deserialize)]
struct LastCommit {
    commit: Option<Commit>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Commit {
    status_check_rollup: Option<Rollup>,
}

#[derive(Debug, Deserialize)]
struct Rollup {
    state: Option<String>,
}

impl Response {
    /// Fails if nothing in the response is about any of the `count` pull requests of the query.
    pub(super) fn parse(body: &[u8], count: usize) -> Result<Self, HostError> {
        let Some(Value::Object(mut response)) = json(body) else {
            return Err(HostError::BadResponse("it is no JSON of GraphQL"));
        };
        let errors = match response.remove("errors") {
            Some(Value::Array(errors)) => errors,
            _ => Vec::new(),
        };
        if errors.iter().any(|error| kind(error) == Some("RATE_LIMITED")) {
            return Err(HostError::LimitReached(super::LIMIT_PAUSE));
        }
        let Some(Value::Object(data)) = response.remove("data") else {
            return Err(HostError::BadResponse("it has no data"));
        };
        let response = Self { data, errors };
        // The query failed as a whole, for example because it took too long.
        let is_empty = (0..count).all(|index| response.found(index).is_none());
        if is_empty && response.errors.iter().any(|error| !is_missing(error)) {
            return Err(HostError::BadResponse("it has no data"));
        }
        Ok(response)
    }

    /// The pull request at `index` of the query.
    fn found(&self, index: usize) -> Option<&Value> {
        self.data.get(&alias(index))?.get("pullRequest").filter(|found| !found.is_null())
    }

    /// The state of the pull request at `index` of the query.
    pub(super) fn state(&self, index: usize) -> Decoded<Reported> {
        self.decoded(index, State::reported)
    }

    /// The checks of the pull request at `index` of the query.
    pub(super) fn checks(&self, index: usize) -> Checks {
        match self.decoded(index, |pull_request: WithCommits| Some(pull_request)) {
            Decoded::Usable(pull_request) if self.errors_of(index).next().is_none() => pull_request.checks(),
            _ => Checks::Unreadable,
        }
    }

    fn decoded<T: for<'de> Deserialize<'de>, R>(
        &self,
        index: usize,
        read: impl FnOnce(T) -> Option<R>,
    ) -> Decoded<R> {
        match self.found(index) {
            None if self.errors_of(index).any(|error| !is_missing(error)) => Decoded::Unusable,
            None => Decoded::Missing,
            Some(value) => match T::deserialize(value).ok().and_then(read) {
                Some(decoded) => Decoded::Usable(decoded),
                None => Decoded::Unusable,
            },
        }
    }

    /// Why part of the pull request could not be read.
    fn errors_of(&self, index: usize) -> impl Iterator<Item = &Value> {
        let alias = alias(index);
        self.errors.iter().filter(move |error| error["path"][0].as_str() == Some(&alias))
    }
}

/// The kind of an error of GraphQL.
fn kind(error: &Value) -> Option<&str> {
    error["type"].as_str()
}

/// Whether the error means that there is no such pull request, or that the token has no access to it.
fn is_missing(error: &Value) -> bool {
    matches!(kind(error), Some("NOT_FOUND" | "FORBIDDEN"))
}

impl<T> Nodes<T> {
    fn existing(self) -> impl Iterator<Item = T> {
        self.nodes.unwrap_or_default().into_iter().flatten()
    }
}

impl Reviewer {
    fn into_name(self) -> Option<String> {
        self.login.or(self.name)
    }
}

impl State {
    /// `None` for an unknown state.
    fn reported(self) -> Option<Reported> {
        let instant = |text: Option<String>| text.and_then(|text| text.parse::<Timestamp>().ok());
        let state = match self.state.as_str() {
            "MERGED" => PullRequestState::Merged,
            "CLOSED" => PullRequestState::Closed,
            "OPEN" if self.is_draft == Some(true) => PullRequestState::Draft,
            "OPEN" => PullRequestState::Open,
            _ => return None,
        };
        let reviews: Vec<OneReview> =
            self.latest_opinionated_reviews.into_iter().flat_map(Nodes::existing).collect();
        let has = |decision: &str| reviews.iter().any(|review| review.state.as_deref() == Some(decision));
        let (is_rejected, is_approved) = (has("CHANGES_REQUESTED"), has("APPROVED"));
        let requested = self.review_requests.into_iter().flat_map(Nodes::existing);
        let requested: Vec<String> =
            requested.filter_map(|request| request.requested_reviewer?.into_name()).collect();
        let review = match self.review_decision.as_deref() {
            Some("APPROVED") => Review::Approved,
            Some("CHANGES_REQUESTED") => Review::ChangesRequested,
            Some("REVIEW_REQUIRED") => Review::Required,
            // A repository that requires no review has no decision.
            _ if is_rejected => Review::ChangesRequested,
            _ if is_approved => Review::Approved,
            _ if !requested.is_empty() => Review::Required,
            _ => Review::None,
        };
        let mut reviewers: Vec<String> =
            reviews.into_iter().filter_map(|review| review.author?.into_name()).chain(requested).collect();
        reviewers.sort_unstable();
        reviewers.dedup();
        reviewers.truncate(REVIEWERS_MAX);
        let files = self
            .files
            .map(|files| files.existing().map(|file| file.path).take(FILES_MAX).collect::<Vec<String>>());
        let total = self.changed_files.and_then(|total| u32::try_from(total).ok()).unwrap_or_default();
        Some(Reported {
            state,
            review: Some(review),
            reviewers,
            conflict: state.is_open() && self.mergeable.as_deref() == Some("CONFLICTING"),
            files_total: total.max(files.as_ref().map_or(0, Vec::len) as u32),
            files,
            opened_at: instant(self.created_at),
            merged_at: instant(self.merged_at).filter(|_| state == PullRequestState::Merged),
            closed_at: instant(self.closed_at).filter(|_| state.is_finished()),
        })
    }
}

impl WithCommits {
    fn checks(self) -> Checks {
        let last = self.commits.into_iter().flat_map(Nodes::existing).last();
        let rollup = last.and_then(|last| last.commit?.status_check_rollup);
        match rollup.and_then(|rollup| rollup.state).as_deref() {
            None => Checks::None,
            Some("SUCCESS") => Checks::Passing,
            Some("FAILURE" | "ERROR") => Checks::Failing,
            Some("PENDING" | "EXPECTED") => Checks::Pending,
            Some(_) => Checks::Unreadable,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn response(value: Value) -> Response {
        Response::parse(value.to_string().as_bytes(), 7).expect("a response")
    }

    fn state(pull_request: Value) -> Decoded<Reported> {
        response(json!({ "data": { "p0": { "pullRequest": pull_request } } })).state(0)
    }

    fn open() -> Value {
        json!({
            "state": "OPEN", "isDraft": false, "createdAt": "2026-11-20T10:00:00Z", "mergedAt": null, "closedAt": null,
            "mergeable": "MERGEABLE", "reviewDecision": "REVIEW_REQUIRED", "changedFiles": 2,
            "files": { "nodes": [{ "path": "docs/a.mdx" }, null, { "path": "docs/b.mdx" }] },
            "reviewRequests": { "nodes": [{ "requestedReviewer": { "name": "Docs team" } }, { "requestedReviewer": null }, null] },
            "latestOpinionatedReviews": { "nodes": [{ "state": "APPROVED", "author": { "login": "ada" } }, { "state": "APPROVED", "author": null }] },
        })
    }

    #[test]
    fn open_pull_request_has_its_files_and_reviewers() {
        let Decoded::Usable(reported) = state(open()) else { panic!("a pull request") };
        assert_eq!((reported.state, reported.review), (PullRequestState::Open, Some(Review::Required)));
        assert_eq!(reported.files.unwrap_or_default(), ["docs/a.mdx", "docs/b.mdx"]);
        assert_eq!(reported.reviewers, ["Docs team", "ada"]);
        assert_eq!(reported.files_total, 2);
        assert_eq!(reported.opened_at, "2026-11-20T10:00:00Z".parse().ok());
    }

    #[test]
    fn state_of_a_pull_request_is_consistent() {
        let with = |changes: Value| {
            let mut pull_request = open();
            for (name, value) in changes.as_object().expect("fields") {
                pull_request[name] = value.clone();
            }
            match state(pull_request) {
                Decoded::Usable(reported) => reported,
                other => panic!("{other:?}"),
            }
        };
        let merged = with(
            json!({ "state": "MERGED", "isDraft": true, "mergedAt": "2026-11-21T10:00:00Z", "mergeable": "CONFLICTING" }),
        );
        assert_eq!((merged.state, merged.conflict), (PullRequestState::Merged, false));
        assert!(merged.merged_at.is_some());
        let open = with(
            json!({ "mergedAt": "2026-11-21T10:00:00Z", "closedAt": "2026-11-21T10:00:00Z", "mergeable": "CONFLICTING" }),
        );
        assert_eq!((open.merged_at, open.closed_at, open.conflict), (None, None, true));
        assert_eq!(with(json!({ "isDraft": true })).state, PullRequestState::Draft);
        assert_eq!(with(json!({ "reviewDecision": null })).review, Some(Review::Approved));
        let none = json!({ "reviewDecision": null, "latestOpinionatedReviews": null });
        assert_eq!(with(none).review, Some(Review::Required));
        let none = json!({ "reviewDecision": null, "latestOpinionatedReviews": null, "reviewRequests": { "nodes": null } });
        assert_eq!(with(none).review, Some(Review::None));
        assert_eq!(with(json!({ "changedFiles": -1 })).files_total, 2);
        let unknown = with(json!({ "files": null }));
        assert_eq!((unknown.files, unknown.files_total), (None, 2));
    }

    #[test]
    fn missing_and_unusable_pull_requests_affect_no_other() {
        let response = response(json!({
            "data": { "p0": null, "p1": { "pullRequest": null }, "p2": { "pullRequest": { "state": 7 } }, "p3": { "pullRequest": open() } },
            "errors": [{ "type": "NOT_FOUND", "path": ["p0"] }, { "message": "odd" }],
        }));
        assert_eq!(response.state(0), Decoded::Missing);
        assert_eq!(response.state(1), Decoded::Missing);
        assert_eq!(response.state(2), Decoded::Unusable);
        assert!(matches!(response.state(3), Decoded::Usable(_)));
        assert_eq!(response.state(4), Decoded::Missing);
    }

    #[test]
    fn checks_without_permission_are_unreadable() {
        let commit = |rollup: Value| json!({ "pullRequest": { "commits": { "nodes": [{ "commit": { "statusCheckRollup": rollup } }] } } });
        let response = response(json!({
            "data": {
                "p0": commit(Value::Null), "p1": commit(Value::Null), "p2": commit(json!({ "state": "SUCCESS" })),
                "p3": commit(json!({ "state": "EXPECTED" })), "p4": commit(json!({ "state": "ERROR" })),
                "p5": { "pullRequest": { "commits": { "nodes": [] } } }, "p6": commit(json!({ "state": "LATER" })),
            },
            "errors": [{ "type": "FORBIDDEN", "path": ["p0", "pullRequest", "commits", "nodes", 0, "commit", "statusCheckRollup"] }],
        }));
        let expected = [
            Checks::Unreadable,
            Checks::None,
            Checks::Passing,
            Checks::Pending,
            Checks::Failing,
            Checks::None,
            Checks::Unreadable,
            Checks::Unreadable,
        ];
        for (index, checks) in expected.into_iter().enumerate() {
            assert_eq!(response.checks(index), checks, "{index}");
        }
    }

    #[test]
    fn response_without_data_is_an_error() {
        let parse = |text: &str| Response::parse(text.as_bytes(), 2).map(|_| ());
        assert!(matches!(parse("<html>"), Err(HostError::BadResponse(_))));
        assert!(matches!(parse("{}"), Err(HostError::BadResponse(_))));
        assert!(matches!(
            parse(r#"{"data": null, "errors": [{"type": "OTHER"}]}"#),
            Err(HostError::BadResponse(_))
        ));
        assert!(matches!(
            parse(r#"{"data": {"p0": null, "p1": null}, "errors": [{"message": "timeout"}]}"#),
            Err(HostError::BadResponse(_))
        ));
        let limited = parse(r#"{"data": null, "errors": [{"type": "RATE_LIMITED"}]}"#);
        assert!(matches!(limited, Err(HostError::LimitReached(_))));
    }

    #[test]
    fn odd_errors_and_texts_are_understood() {
        let found = |errors: &str, author: &str| {
            let mut body = json!({ "data": { "p0": { "pullRequest": open() } } }).to_string();
            body.insert_str(1, errors);
            let body = body.replacen("\"ada\"", author, 1);
            Response::parse(body.as_bytes(), 1).map(|response| response.state(0))
        };
        for errors in
            ["", "\"errors\":null,", "\"errors\":[],", "\"errors\":[null,7,{\"path\":7}],", "\"errors\":{},"]
        {
            for author in ["\"ada\"", "\"x\\ud83d\""] {
                assert!(matches!(found(errors, author), Ok(Decoded::Usable(_))), "{errors} {author}");
            }
        }
        let invalid = b"{\"data\":{\"p0\":{\"pullRequest\":{\"state\":\"OPEN\",\"title\":\"\xff\"}}}}";
        let response = Response::parse(invalid, 1).expect("a response");
        assert!(matches!(response.state(0), Decoded::Usable(_)));
    }

    #[test]
    fn error_of_one_pull_request_is_not_a_missing_one() {
        let response = response(json!({
            "data": { "p0": null, "p1": { "pullRequest": open() } },
            "errors": [{ "message": "Something went wrong", "path": ["p0"] }],
        }));
        assert_eq!(response.state(0), Decoded::Unusable);
        assert!(matches!(response.state(1), Decoded::Usable(_)));
    }
}
