//! The state of a job and, in a list, the link to its pull request. `islands::live` keeps it current.

use leptos::prelude::*;
use strum::VariantArray;

use crate::ui::components::badge::badge;
use crate::ui::components::pull_request::short_pull_request;
use model::job::{JobBadge, JobState, moves};
use model::pull_request::PullRequestState;
use model::time::Timestamp;

/// The attribute of a badge with the id of the job.
pub const JOB: &str = "data-job";
/// The attribute of a badge with the state of the job.
pub const STATE: &str = "data-status";
/// The attribute of a badge with the rest of the displayed [`StatusVersion`]. Only badges that are kept current have it.
pub const VERSION: &str = "data-version";
/// The class of the link beside a badge.
pub const LINK_CLASS: &str = "job-link";

/// The flag of a version in its attribute for a tracked job.
const TRACKED: &str = "t";
/// The same for a job whose changes are published directly.
const DIRECT: &str = "p";

/// The version of a displayed status. Differs between any two statuses of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusVersion {
    state: JobState,
    changed_at: Timestamp,
    is_tracked: bool,
    is_direct: bool,
    /// `None` without a pull request.
    pull_request: Option<PullRequestState>,
}

pub fn job_status(status: &JobBadge) -> impl IntoView + use<> {
    badge(status, StatusVersion::of(status).to_attribute())
}

/// A badge, and beside it the link to the pull request: an empty element if there is none.
pub fn linked_job_status(status: &JobBadge) -> impl IntoView + use<> {
    view! {
        {job_status(status)}
        {short_pull_request(status.pr_link.as_deref(), status.pr_state, status.pr_link_is_earlier, LINK_CLASS)}
    }
}

impl StatusVersion {
    pub fn of(status: &JobBadge) -> Self {
        Self {
            state: status.state,
            changed_at: status.changed_at,
            is_tracked: status.tracked,
            is_direct: status.is_direct,
            pull_request: status
                .pr_link
                .as_ref()
                .map(|_| status.pr_state.unwrap_or(PullRequestState::Unknown)),
        }
    }

    /// The value of the attribute [`VERSION`], such as `1764000000000tm`: the state has an attribute of its own. The last letter is the state of the
    /// pull request.
    pub fn to_attribute(&self) -> String {
        let tracked = if self.is_tracked { TRACKED } else { "" };
        let pull_request = self.pull_request.map_or("", letter);
        let direct = if self.is_direct { DIRECT } else { "" };
        [&self.changed_at.as_millis().to_string(), tracked, direct, pull_request].concat()
    }

    /// Parses the values of the attributes [`STATE`] and [`VERSION`]; `None` if they are invalid.
    pub fn parse(state: &str, attribute: &str) -> Option<Self> {
        let flags = attribute.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let changed_at = attribute.strip_suffix(flags)?;
        let (is_tracked, flags) = match flags.strip_prefix(TRACKED) {
            Some(flags) => (true, flags),
            None => (false, flags),
        };
        let (is_direct, flags) = match flags.strip_prefix(DIRECT) {
            Some(flags) => (true, flags),
            None => (false, flags),
        };
        let pull_request = match flags {
            "" => None,
            flag => Some(PullRequestState::VARIANTS.iter().copied().find(|state| letter(*state) == flag)?),
        };
        let changed_at = Timestamp::from_millis(changed_at.parse().ok()?);
        Some(Self { state: state.parse().ok()?, changed_at, is_tracked, is_direct, pull_request })
    }

    /// Whether the state can still change without a person.
    pub const fn is_moving(&self) -> bool {
        moves(self.state, self.is_tracked)
    }

    /// Whether Docket stopped polling the job before its end.
    pub fn is_untracked(&self) -> bool {
        self.state == JobState::Other && !self.is_tracked
    }

    /// Whether the job has a pull request.
    pub const fn has_link(&self) -> bool {
        self.pull_request.is_some()
    }
}

/// The first letter of a state.
fn letter(state: PullRequestState) -> &'static str {
    state.as_str().get(..1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_parsed_from_its_attribute() {
        for (state, is_tracked, is_direct, pull_request, attribute) in [
            (JobState::Active, true, false, Some(PullRequestState::Unknown), "1764000000000tu"),
            (JobState::Other, true, false, None, "1764000000000t"),
            (JobState::Completed, false, false, Some(PullRequestState::Merged), "1764000000000m"),
            (JobState::Completed, false, true, Some(PullRequestState::Draft), "1764000000000pd"),
            (JobState::Completed, true, true, None, "1764000000000tp"),
            (JobState::Other, false, false, None, "1764000000000"),
        ] {
            let changed_at = Timestamp::from_millis(1_764_000_000_000);
            let version = StatusVersion { state, changed_at, is_tracked, is_direct, pull_request };
            assert_eq!(version.to_attribute(), attribute);
            assert_eq!(StatusVersion::parse(state.as_str(), attribute), Some(version.clone()));
            assert_eq!(version.is_untracked(), attribute.ends_with('0'));
        }
        for (state, attribute) in
            [("active", ""), ("active", "t"), ("active", "1 t"), ("paused", "1"), ("active", "1ut")]
        {
            assert_eq!(StatusVersion::parse(state, attribute), None, "{state} {attribute}");
        }
    }
}
