//! The state of a job and, in a list, the link to its pull request. `islands::live` keeps it current.

use leptos::prelude::*;

use crate::model::job::{JobBadge, JobState};
use crate::ui::components::badge::badge;
use crate::ui::components::pull_request::short_pull_request;

/// The attribute with the id of the job.
pub const LIVE: &str = "data-live";
/// The attribute with the displayed version: see [`version`].
pub const VERSION: &str = "data-version";
/// The attribute of a job whose state will still change.
pub const MOVING: &str = "data-moving";
/// The attribute of a status that shows the link to the pull request.
pub const LINKED: &str = "data-linked";

/// Part of the version of a tracked job.
const TRACKED: &str = "tracked";

/// `has_link`: whether the pull request is shown beside the state.
pub fn job_status(status: &JobBadge, has_link: bool) -> impl IntoView + use<> {
    let link = status.pr_link.as_deref().map(|link| short_pull_request(link, "row-link"));
    let link = has_link.then(|| view! { <span class="job-link">{link}</span> });
    view! {
        <span
            class="job-status"
            data-live=status.id.to_string()
            data-version=version(status)
            data-moving=status.is_moving().then_some("")
            data-linked=has_link.then_some("")
        >
            {badge(status)}
            {link}
        </span>
    }
}

/// Differs between any two statuses of a job.
pub fn version(status: &JobBadge) -> String {
    let tracked = if status.tracked { TRACKED } else { "" };
    let link = if status.pr_link.is_some() { "link" } else { "" };
    [status.state.as_str(), " ", &status.changed_at.as_millis().to_string(), " ", tracked, link].concat()
}

/// Whether Docket had stopped polling the job in this version.
pub fn is_untracked(version: &str) -> bool {
    version.starts_with(JobState::Other.as_str()) && !version.contains(TRACKED)
}

/// Whether a job had a pull request in this version.
pub fn has_link(version: &str) -> bool {
    version.ends_with("link")
}
