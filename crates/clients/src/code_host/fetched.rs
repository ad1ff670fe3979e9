//! What a code host reported about several pull requests, what failed, and how its limit stands.

use std::time::Duration;

use super::exchange::HostError;
use super::github::Decoded;
use super::link::PullRequestLink;
use super::rate_limit::RateLimit;
use model::pull_request::{CheckFailure, Checks, Reported};

/// The result of fetching several pull requests.
#[derive(Debug)]
pub struct Batch {
    /// In the order of the links.
    pub found: Vec<Fetched>,
    pub(super) limit: Option<RateLimit>,
    /// How long to wait before the next request, if the limit requires it.
    pub pause: Option<Duration>,
    /// Why no request to this host can succeed for now.
    pub error: Option<HostError>,
    /// What failed alone, each with its reason: a pull request, or an owner of repositories. One of them is no evidence against the host.
    pub failed: Vec<(String, HostError)>,
    /// Whether any request for pull requests succeeded.
    pub has_success: bool,
}

/// The result for one pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// With its checks, if they were fetched.
    Reported(Box<Reported>, Option<Checks>),
    Failed(CheckFailure),
    /// The host failed before.
    Skipped,
    /// It, or its owner, gets no request for this time.
    Later(Duration),
}

impl Batch {
    pub(super) fn of(links: usize) -> Self {
        Self {
            found: vec![Fetched::Skipped; links],
            limit: None,
            pause: None,
            error: None,
            failed: Vec::new(),
            has_success: false,
        }
    }

    /// Records the limit of a response.
    pub(super) fn note(&mut self, limit: Option<RateLimit>) {
        let Some(limit) = limit else { return };
        self.pause = self.pause.max(limit.pause());
        self.limit = Some(limit);
    }

    /// Records the result for the pull request at `index`.
    pub(super) fn report(&mut self, index: usize, fetched: Fetched) {
        self.has_success |= matches!(fetched, Fetched::Reported(..));
        self.found[index] = fetched;
    }

    /// Records why the pull request at `index` was not fetched, which was requested alone.
    pub(super) fn fail(&mut self, index: usize, link: &PullRequestLink, error: HostError) {
        match error {
            // The host responded: it has no such pull request.
            HostError::Missing(_) => self.found[index] = Fetched::Failed(error.failure()),
            // The host is paused. After that the others are first, in case that only this pull request has such a response each time.
            error if error.is_of_host() => {
                self.fail_all(&[index], "", error);
                self.found[index] = Fetched::Later(Duration::ZERO);
            }
            error => self.fail_all(&[index], &link.to_string(), error),
        }
    }

    /// Records why nothing of a repository was fetched, whose pull requests are at `indexes`.
    pub(super) fn fail_repository(&mut self, indexes: &[usize], name: &str, error: HostError) {
        match error {
            // The host responded: it has no such repository, or hides it.
            HostError::Missing(_) => {
                indexes.iter().for_each(|index| self.found[*index] = Fetched::Failed(error.failure()));
            }
            error => self.fail_all(indexes, name, error),
        }
    }

    /// Records why the pull requests at `indexes` were not fetched. All are at `name`.
    pub(super) fn fail_all(&mut self, indexes: &[usize], name: &str, error: HostError) {
        match error {
            HostError::LimitReached(pause) | HostError::SecondaryLimit(pause) => {
                self.pause = self.pause.max(Some(pause));
            }
            HostError::OwnerLimit(pause) => {
                indexes.iter().for_each(|index| self.found[*index] = Fetched::Later(pause));
            }
            error if error.is_of_host() => self.error = Some(error),
            error => {
                indexes.iter().for_each(|index| self.found[*index] = Fetched::Failed(error.failure()));
                if !matches!(error, HostError::Installation { is_refused: true, .. }) {
                    self.failed.push((name.to_owned(), error));
                }
            }
        }
    }

    /// Whether the host must not get another request now.
    pub(super) const fn is_over(&self) -> bool {
        self.pause.is_some() || self.error.is_some()
    }
}

impl Fetched {
    pub(super) fn reported(reported: Reported, checks: Option<Checks>) -> Self {
        Self::Reported(Box::new(reported.limited()), checks)
    }

    pub(super) fn of(state: Decoded<Reported>, checks: Option<Checks>) -> Self {
        match state {
            Decoded::Usable(reported) => Self::reported(reported, checks),
            Decoded::Missing => Self::Failed(CheckFailure::Missing),
            Decoded::Unusable => Self::Failed(CheckFailure::Unusable),
        }
    }
}
