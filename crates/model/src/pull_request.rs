//! Pull requests: their state at the code host, and who acts next. Pure. A merge request of GitLab is a pull request too.

pub mod files;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::id::JobId;
use crate::time::Timestamp;

/// The state of a pull request.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub enum PullRequestState {
    Open,
    Draft,
    Merged,
    Closed,
    /// The code host has not reported it yet, or Docket has no connection to that host.
    Unknown,
}

/// The checks of its last commit.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub enum Checks {
    Passing,
    Failing,
    Pending,
    None,
    /// The connection lacks the permission, or the code host has not reported them yet.
    Unreadable,
}

/// The decision of its reviewers.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub enum Review {
    Approved,
    ChangesRequested,
    /// Somebody is requested to review it, or the repository requires a review.
    Required,
    None,
}

/// Who acts next.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub enum WaitingFor {
    Reviewer,
    Author,
    Merge,
    Checks,
    Nobody,
}

/// A filter of the list of jobs by their pull requests.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum PullRequestFilter {
    Open,
    Draft,
    Merged,
    Closed,
    /// Open, and it waits for a reviewer.
    Waiting,
    /// Open, and it cannot be merged because of conflicts.
    Conflict,
}

/// A pull request as last reported by its code host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    pub url: String,
    /// `None` if the URL of an unknown code host has none.
    pub number: Option<u64>,
    pub state: PullRequestState,
    pub checks: Checks,
    pub review: Review,
    pub waiting_for: WaitingFor,
    /// Since when.
    pub waiting_since: Option<Timestamp>,
    /// Whether it cannot be merged because of conflicts.
    pub conflict: bool,
    /// The names of the people and teams that reviewed it or are requested to, at most [`REVIEWERS_MAX`].
    pub reviewers: Vec<String>,
    /// The paths of changed files in the repository, at most [`FILES_MAX`].
    pub files: Vec<String>,
    /// The number of changed files.
    pub files_total: u32,
    pub opened_at: Option<Timestamp>,
    pub merged_at: Option<Timestamp>,
    pub closed_at: Option<Timestamp>,
    /// When the code host last reported it; `None`: not yet.
    pub checked_at: Option<Timestamp>,
    /// Whether Docket has a connection to its code host.
    pub tracked: bool,
    /// Why its state could not be updated since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<CheckFailure>,
}

/// How many changed files are stored.
pub const FILES_MAX: usize = 100;
/// The maximum length of a path, in bytes. Longer ones are only counted.
pub const PATH_MAX_BYTES: usize = 1_000;
/// How many reviewers are stored.
pub const REVIEWERS_MAX: usize = 20;
/// The maximum length of a reviewer's name, in characters.
pub const NAME_MAX_CHARS: usize = 100;

/// The pull requests of a project that wait for somebody, grouped by who acts next, and those merged lately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviews {
    /// Without empty groups, in the order of [`WaitingFor`].
    pub groups: Vec<ReviewGroup>,
    /// The last ones first; at most 50.
    pub merged: Vec<ReviewedJob>,
    /// How many were merged.
    pub merged_total: u64,
    /// After how many days of waiting a pull request is stale.
    pub stale_days: u32,
    /// Whether Docket has a connection to a code host.
    pub connected: bool,
    /// The `cursor` of the rest; `None` if this is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewGroup {
    pub waiting_for: WaitingFor,
    /// How many there are; `jobs` has the first ones.
    pub total: u64,
    /// The one that has waited longest first.
    pub jobs: Vec<ReviewedJob>,
}

/// A job with its pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewedJob {
    pub job: JobId,
    /// The first line of its prompt.
    pub title: String,
    pub author: String,
    pub pull_request: PullRequest,
}

/// Why the state of a pull request could not be updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum CheckFailure {
    /// The code host does not know it, or the connection has no access to it.
    Missing,
    /// What the code host reported could not be used.
    Unusable,
}

/// An event of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub enum PullRequestEvent {
    #[strum(serialize = "pull_request.merged")]
    Merged,
    #[strum(serialize = "pull_request.closed")]
    Closed,
    /// It is open and has waited too long.
    #[strum(serialize = "pull_request.stale")]
    Stale,
}

/// What a code host reports about a pull request, apart from its checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    pub state: PullRequestState,
    /// `None`: not known, because this part of the response failed. The last known one remains.
    pub review: Option<Review>,
    pub reviewers: Vec<String>,
    pub conflict: bool,
    /// `None`: not known. The last known ones remain.
    pub files: Option<Vec<String>>,
    pub files_total: u32,
    pub opened_at: Option<Timestamp>,
    pub merged_at: Option<Timestamp>,
    pub closed_at: Option<Timestamp>,
}

impl PullRequestState {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    /// Whether it can still be merged.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Draft)
    }

    /// Whether it is merged or closed.
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Merged | Self::Closed)
    }
}

impl Checks {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl Review {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl WaitingFor {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl PullRequest {
    /// A pull request that its code host has not reported yet.
    pub fn unreported(url: String) -> Self {
        Self {
            number: number(&url),
            url,
            state: PullRequestState::Unknown,
            checks: Checks::Unreadable,
            review: Review::None,
            waiting_for: WaitingFor::Nobody,
            waiting_since: None,
            conflict: false,
            reviewers: Vec::new(),
            files: Vec::new(),
            files_total: 0,
            opened_at: None,
            merged_at: None,
            closed_at: None,
            checked_at: None,
            tracked: false,
            failure: None,
        }
    }

    /// Whether it has waited for the same person for `stale_days` or longer.
    pub fn is_stale(&self, stale_days: u32, now: Timestamp) -> bool {
        let seconds = i64::from(stale_days) * 24 * 3_600;
        self.waiting_since.is_some_and(|since| now.seconds_since(since) >= seconds)
    }
}

impl PullRequestFilter {
    pub const ALL: [Self; Self::VARIANTS.len()] =
        *Self::VARIANTS.first_chunk().expect("the length is its own");

    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

/// The number of a pull request, if its URL ends in one.
pub fn number(url: &str) -> Option<u64> {
    let plain = url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/');
    let number = plain.rsplit('/').next().unwrap_or_default();
    let is_number =
        !number.is_empty() && number.len() < 10 && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|_| is_number)
}

impl PullRequestEvent {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl CheckFailure {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl Reported {
    /// With texts of limited number and length: a code host may send any.
    pub fn limited(mut self) -> Self {
        if let Some(files) = &mut self.files {
            files.retain(|file| file.len() <= PATH_MAX_BYTES);
            files.truncate(FILES_MAX);
        }
        self.reviewers.truncate(REVIEWERS_MAX);
        for name in &mut self.reviewers {
            if let Some((end, _)) = name.char_indices().nth(NAME_MAX_CHARS) {
                name.truncate(end);
            }
        }
        self
    }

    /// Who acts next. An author has to finish a draft, resolve conflicts and answer a review before anybody else can act. A reviewer does
    /// not have to wait for checks, but a merge does.
    pub fn waiting_for(&self, review: Review, checks: Checks) -> WaitingFor {
        match (self.state, review) {
            (PullRequestState::Merged | PullRequestState::Closed | PullRequestState::Unknown, _) => {
                WaitingFor::Nobody
            }
            (PullRequestState::Draft, _) | (_, Review::ChangesRequested) => WaitingFor::Author,
            _ if self.conflict || checks == Checks::Failing => WaitingFor::Author,
            (_, Review::Required | Review::None) => WaitingFor::Reviewer,
            (_, Review::Approved) if checks == Checks::Pending => WaitingFor::Checks,
            (_, Review::Approved) => WaitingFor::Merge,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(state: PullRequestState, review: Review, conflict: bool) -> Reported {
        Reported {
            state,
            review: Some(review),
            reviewers: Vec::new(),
            conflict,
            files: Some(Vec::new()),
            files_total: 0,
            opened_at: None,
            merged_at: None,
            closed_at: None,
        }
    }

    #[test]
    fn next_person_follows_from_state_review_and_checks() {
        use PullRequestState::{Closed, Draft, Merged, Open, Unknown};
        for (state, review, conflict, checks, next) in [
            (Open, Review::Required, false, Checks::Passing, WaitingFor::Reviewer),
            (Open, Review::None, false, Checks::Pending, WaitingFor::Reviewer),
            (Open, Review::None, false, Checks::Unreadable, WaitingFor::Reviewer),
            (Open, Review::None, false, Checks::Failing, WaitingFor::Author),
            (Open, Review::Approved, true, Checks::Passing, WaitingFor::Author),
            (Open, Review::ChangesRequested, false, Checks::Passing, WaitingFor::Author),
            (Open, Review::Approved, false, Checks::Pending, WaitingFor::Checks),
            (Open, Review::Approved, false, Checks::Passing, WaitingFor::Merge),
            (Open, Review::Approved, false, Checks::None, WaitingFor::Merge),
            (Open, Review::Approved, false, Checks::Unreadable, WaitingFor::Merge),
            (Draft, Review::Approved, false, Checks::Passing, WaitingFor::Author),
            (Merged, Review::ChangesRequested, true, Checks::Failing, WaitingFor::Nobody),
            (Closed, Review::Required, false, Checks::Pending, WaitingFor::Nobody),
            (Unknown, Review::None, false, Checks::Unreadable, WaitingFor::Nobody),
        ] {
            let reported = reported(state, review, conflict);
            assert_eq!(reported.waiting_for(review, checks), next, "{reported:?} {checks:?}");
        }
    }

    #[test]
    fn texts_have_limits() {
        let mut long = reported(PullRequestState::Open, Review::None, false);
        let mut files = vec!["docs/a.mdx".to_owned(), "x".repeat(PATH_MAX_BYTES + 1)];
        files.extend((0..FILES_MAX).map(|n| format!("{n}.md")));
        long.files = Some(files);
        long.reviewers = vec!["é".repeat(10_000); 50];
        let limited = long.limited();
        let files = limited.files.unwrap_or_default();
        assert_eq!((files.len(), files[1].as_str()), (FILES_MAX, "0.md"));
        assert_eq!(limited.reviewers.len(), REVIEWERS_MAX);
        assert!(limited.reviewers.iter().all(|name| name.chars().count() == NAME_MAX_CHARS));
    }

    #[test]
    fn only_an_open_pull_request_waits_for_somebody() {
        for state in PullRequestState::VARIANTS {
            for review in Review::VARIANTS {
                for checks in Checks::VARIANTS {
                    for conflict in [false, true] {
                        let next = reported(*state, *review, conflict).waiting_for(*review, *checks);
                        assert_eq!(
                            next != WaitingFor::Nobody,
                            state.is_open(),
                            "{state:?} {review:?} {checks:?}"
                        );
                    }
                }
            }
        }
    }
}
