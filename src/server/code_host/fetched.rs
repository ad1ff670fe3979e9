//! What a code host reported about several pull requests, and how its limit stands.

use std::time::Duration;

use super::exchange::HostError;
use super::github::Decoded;
use super::rate_limit::RateLimit;
use crate::model::pull_request::{CheckFailure, Checks, Reported};

/// The result of fetching several pull requests.
#[derive(Debug)]
pub(super) struct Batch {
    /// In the order of the links.
    pub(super) found: Vec<Fetched>,
    pub(super) limit: Option<RateLimit>,
    /// How long to wait before the next request, if the limit requires it.
    pub(super) pause: Option<Duration>,
    /// Why part of the pull requests was not fetched.
    pub(super) error: Option<HostError>,
}

/// The result for one pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fetched {
    /// With its checks, if they were fetched.
    Reported(Box<Reported>, Option<Checks>),
    Failed(CheckFailure),
    /// The host failed before.
    Skipped,
}

impl Batch {
    pub(super) fn of(links: usize) -> Self {
        Self { found: vec![Fetched::Skipped; links], limit: None, pause: None, error: None }
    }

    /// Records the limit of a response.
    pub(super) fn note(&mut self, limit: Option<RateLimit>) {
        let Some(limit) = limit else { return };
        self.pause = self.pause.max(limit.pause());
        self.limit = Some(limit);
    }

    /// Records why the pull requests at `indexes` were not fetched.
    pub(super) fn fail(&mut self, indexes: &[usize], error: HostError) {
        match error {
            HostError::Missing(_) => {
                indexes.iter().for_each(|index| self.found[*index] = Fetched::Failed(CheckFailure::Missing));
            }
            HostError::LimitReached(pause) => self.pause = self.pause.max(Some(pause)),
            error => self.error = Some(error),
        }
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
