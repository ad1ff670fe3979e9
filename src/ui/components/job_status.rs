//! The state of a job and, in a list, the link to its pull request. `islands::live` keeps it current.

use leptos::prelude::*;

use crate::model::job::{JobBadge, JobState};
use crate::model::time::Timestamp;
use crate::ui::components::badge::badge;
use crate::ui::components::pull_request::short_pull_request;

/// The attribute with the id of the job.
pub const LIVE: &str = "data-live";
/// The attribute with the displayed [`StatusVersion`].
pub const VERSION: &str = "data-version";
/// The attribute of a job whose state will still change.
pub const MOVING: &str = "data-moving";
/// The attribute of a status that shows the link to the pull request.
pub const LINKED: &str = "data-linked";

/// The words for the flags of a version in its attribute.
const TRACKED: &str = "tracked";
const LINK: &str = "link";

/// The version of a displayed status. Differs between any two statuses of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusVersion {
    state: JobState,
    changed_at: Timestamp,
    is_tracked: bool,
    has_link: bool,
}

/// `has_link`: whether the pull request is shown beside the state.
pub fn job_status(status: &JobBadge, has_link: bool) -> impl IntoView + use<> {
    let link = status.pr_link.as_deref().map(|link| short_pull_request(link, "row-link"));
    let link = has_link.then(|| view! { <span class="job-link">{link}</span> });
    view! {
        <span
            class="job-status"
            data-live=status.id.to_string()
            data-version=StatusVersion::of(status).to_attribute()
            data-moving=status.is_moving().then_some("")
            data-linked=has_link.then_some("")
        >
            {badge(status)}
            {link}
        </span>
    }
}

impl StatusVersion {
    pub fn of(status: &JobBadge) -> Self {
        Self {
            state: status.state,
            changed_at: status.changed_at,
            is_tracked: status.tracked,
            has_link: status.pr_link.is_some(),
        }
    }

    /// The value of the attribute, such as `active 1764000000000 tracked`.
    pub fn to_attribute(&self) -> String {
        let tracked = if self.is_tracked { TRACKED } else { "" };
        let link = if self.has_link { LINK } else { "" };
        [self.state.as_str(), " ", &self.changed_at.as_millis().to_string(), " ", tracked, link].concat()
    }

    /// Parses the value of the attribute; `None` if it is invalid.
    pub fn parse(attribute: &str) -> Option<Self> {
        let (state, rest) = attribute.split_once(' ')?;
        let (changed_at, flags) = rest.split_once(' ')?;
        let (is_tracked, flags) = match flags.strip_prefix(TRACKED) {
            Some(flags) => (true, flags),
            None => (false, flags),
        };
        let has_link = match flags {
            "" => false,
            LINK => true,
            _ => return None,
        };
        let changed_at = Timestamp::from_millis(changed_at.parse().ok()?);
        Some(Self { state: state.parse().ok()?, changed_at, is_tracked, has_link })
    }

    /// Whether Docket stopped polling the job before its end.
    pub fn is_untracked(&self) -> bool {
        self.state == JobState::Other && !self.is_tracked
    }

    /// Whether the job has a pull request.
    pub const fn has_link(&self) -> bool {
        self.has_link
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_parsed_from_its_attribute() {
        for (state, is_tracked, has_link, attribute) in [
            (JobState::Active, true, true, "active 1764000000000 trackedlink"),
            (JobState::Other, true, false, "other 1764000000000 tracked"),
            (JobState::Completed, false, true, "completed 1764000000000 link"),
            (JobState::Other, false, false, "other 1764000000000 "),
        ] {
            let changed_at = Timestamp::from_millis(1_764_000_000_000);
            let version = StatusVersion { state, changed_at, is_tracked, has_link };
            assert_eq!(version.to_attribute(), attribute);
            assert_eq!(StatusVersion::parse(attribute), Some(version.clone()));
            assert_eq!(version.is_untracked(), attribute.ends_with(' '));
        }
        for invalid in ["", "active", "active 1", "active x tracked", "paused 1 ", "active 1 linktracked"] {
            assert_eq!(StatusVersion::parse(invalid), None, "{invalid}");
        }
    }
}
