//! A pull request as part of its job.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::dialect::Dialect;
use model::pull_request::{CheckFailure, Checks, PullRequest, PullRequestState, Review, WaitingFor};
use model::time::Timestamp;

/// A pull request as parsed from JSON; [`pull_request_of`] gives one of these.
#[derive(Deserialize)]
pub(crate) struct StoredPullRequest {
    url: String,
    host: Option<String>,
    failure: Option<CheckFailure>,
    report: Option<Report>,
}

/// What its code host reported last.
#[derive(Deserialize)]
struct Report {
    state: PullRequestState,
    checks: Checks,
    review: Review,
    waiting_for: WaitingFor,
    waiting_since: Option<i64>,
    conflict: i64,
    #[serde(deserialize_with = "texts")]
    reviewers: Vec<String>,
    #[serde(deserialize_with = "texts")]
    files: Vec<String>,
    files_total: u32,
    opened_at: Option<i64>,
    merged_at: Option<i64>,
    closed_at: Option<i64>,
    checked_at: i64,
}

/// An expression for the pull request of the job whose id is `job`; NULL without one.
pub(crate) fn pull_request_of(dialect: Dialect, job: &str) -> String {
    let report = dialect.json_list(
        "p.state, p.checks, p.review, p.waiting_for, p.waiting_since, p.conflict, p.reviewers, p.files, p.files_total, p.opened_at, p.merged_at, \
         p.closed_at, p.checked_at",
    );
    // Without a connection to a code host, most pull requests have no report.
    let columns = dialect.json_list(&format!(
        "p.url, p.host, p.failure, CASE WHEN p.checked_at IS NOT NULL THEN {report} END"
    ));
    format!("(SELECT {columns} FROM pull_requests p WHERE p.job_id = {job})")
}

/// The state of that pull request alone.
pub(crate) fn state_of(job: &str) -> String {
    format!("(SELECT p.state FROM pull_requests p WHERE p.job_id = {job})")
}

/// A list of texts, stored as JSON.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    serde_json::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

impl From<StoredPullRequest> for PullRequest {
    fn from(stored: StoredPullRequest) -> Self {
        let StoredPullRequest { url, host, failure, report } = stored;
        let tracked = host.is_some_and(|host| !host.is_empty());
        let unreported = Self { tracked, failure, ..Self::unreported(url) };
        let Some(report) = report else { return unreported };
        let instant = |millis: Option<i64>| millis.map(Timestamp::from_millis);
        Self {
            state: report.state,
            checks: report.checks,
            review: report.review,
            waiting_for: report.waiting_for,
            waiting_since: instant(report.waiting_since),
            conflict: report.conflict == 1,
            reviewers: report.reviewers,
            files: report.files,
            files_total: report.files_total,
            opened_at: instant(report.opened_at),
            merged_at: instant(report.merged_at),
            closed_at: instant(report.closed_at),
            checked_at: instant(Some(report.checked_at)),
            ..unreported
        }
    }
}
