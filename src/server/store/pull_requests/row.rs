//! A pull request as part of its job.

use serde::Deserialize;

use crate::model::pull_request::{
    CheckFailure, Checks, PullRequest, PullRequestState, Review, WaitingFor, number,
};
use crate::model::time::Timestamp;
use crate::server::store::dialect::Dialect;

/// A pull request as parsed from JSON; [`pull_request_of`] gives one of these.
#[derive(Deserialize)]
pub(crate) struct StoredPullRequest {
    url: String,
    state: PullRequestState,
    checks: Checks,
    review: Review,
    waiting_for: WaitingFor,
    waiting_since: Option<i64>,
    conflict: i64,
    reviewers: Vec<String>,
    files: Vec<String>,
    files_total: u32,
    opened_at: Option<i64>,
    merged_at: Option<i64>,
    closed_at: Option<i64>,
    checked_at: Option<i64>,
    host: Option<String>,
    failure: Option<CheckFailure>,
}

/// An expression for the pull request of the job whose id is `job`; NULL without one.
pub(crate) fn pull_request_of(dialect: Dialect, job: &str) -> String {
    let (reviewers, files) = (dialect.stored_json("p.reviewers"), dialect.stored_json("p.files"));
    let columns = dialect.json_list(&format!(
        "p.url, p.state, p.checks, p.review, p.waiting_for, p.waiting_since, p.conflict, {reviewers}, {files}, p.files_total, \
         p.opened_at, p.merged_at, p.closed_at, p.checked_at, p.host, p.failure"
    ));
    format!("(SELECT {columns} FROM pull_requests p WHERE p.job_id = {job})")
}

/// The state of that pull request alone.
pub(crate) fn state_of(job: &str) -> String {
    format!("(SELECT p.state FROM pull_requests p WHERE p.job_id = {job})")
}

impl From<StoredPullRequest> for PullRequest {
    fn from(stored: StoredPullRequest) -> Self {
        let instant = |millis: Option<i64>| millis.map(Timestamp::from_millis);
        Self {
            number: number(&stored.url),
            url: stored.url,
            state: stored.state,
            checks: stored.checks,
            review: stored.review,
            waiting_for: stored.waiting_for,
            waiting_since: instant(stored.waiting_since),
            conflict: stored.conflict == 1,
            reviewers: stored.reviewers,
            files: stored.files,
            files_total: stored.files_total,
            opened_at: instant(stored.opened_at),
            merged_at: instant(stored.merged_at),
            closed_at: instant(stored.closed_at),
            checked_at: instant(stored.checked_at),
            tracked: stored.host.is_some_and(|host| !host.is_empty()),
            failure: stored.failure,
        }
    }
}
