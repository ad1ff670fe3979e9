//! The badge of a state: always a label, a shape and a color together. Those of a job's state are in `style/icons.css` and
//! `style/states.css`.

use leptos::either::Either;
use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use model::job::{DeliveryState, JobBadge, JobState, NO_END, NOT_FOUND};

/// The label of completed jobs without changes, and its parts: a narrow row shows only the second one.
pub const NO_CHANGES: &str = "Completed, no changes";
const COMPLETED: &str = "Completed, ";
const UNCHANGED: &str = "no changes";

/// The same for completed jobs of projects without pull requests.
pub const PUBLISHED_DIRECTLY: &str = "Completed, published directly";
const DIRECT: &str = "published directly";

/// The badge of a job's current state, which `islands::live` keeps current. `version`: see
/// [`super::job_status::StatusVersion`].
pub fn badge(status: &JobBadge, version: String) -> impl IntoView + use<> {
    shown_badge(status, Some((status.id.to_string(), version)))
}

/// The same without the job's id, for an option of the command palette: the page may contain the job's badge too.
pub fn option_badge(status: &JobBadge) -> impl IntoView + use<> {
    shown_badge(status, None)
}

/// `job`: its id and version.
fn shown_badge(status: &JobBadge, job: Option<(String, String)>) -> impl IntoView + use<> {
    let has_no_changes = status.has_no_changes();
    let (job, version) = job.unzip();
    let completed = match has_no_changes {
        true => Some(UNCHANGED),
        false => status.is_published_directly().then_some(DIRECT),
    };
    let label = match completed {
        Some(how) => Either::Left(view! { <span class="badge-rest">{COMPLETED}</span> {how} }),
        None => Either::Right(word(status)),
    };
    view! {
        <span
            class="badge"
            data-job=job
            data-status=status.state.as_str()
            data-no-changes=has_no_changes.then_some("")
            data-version=version
        >
            <span>{label}</span>
        </span>
    }
}

/// The badge of a prompt's delivery.
pub fn delivery_badge(state: DeliveryState) -> impl IntoView + use<> {
    let (outline, word) = delivery(state);
    view! {
        <span class="badge" data-delivery=state.as_str()>
            {icon(outline)}
            <span>{word}</span>
        </span>
    }
}

/// The icon and the label of a delivery state.
pub const fn delivery(state: DeliveryState) -> (&'static str, &'static str) {
    match state {
        DeliveryState::Queued => (icon::CLOCK, "Queued"),
        DeliveryState::Sending => (icon::SENDING, "Sending"),
        DeliveryState::Accepted => (icon::CHECK, "Accepted by the agent"),
        DeliveryState::Rejected => (icon::REJECTED, "Not accepted"),
        DeliveryState::Cancelled => (icon::CANCELLED, "Cancelled"),
        DeliveryState::Unknown => (icon::QUESTION, "Outcome unknown"),
    }
}

pub const fn shape(state: JobState) -> &'static str {
    match state {
        JobState::Queued => icon::CLOCK,
        JobState::Sending => icon::SENDING,
        JobState::Active => icon::ACTIVE,
        JobState::Completed => icon::CHECK,
        JobState::Archived => icon::ARCHIVED,
        JobState::Failed => icon::CROSS,
        JobState::Rejected => icon::REJECTED,
        JobState::Cancelled => icon::CANCELLED,
        JobState::Unknown => icon::QUESTION,
        JobState::Other => icon::OTHER,
    }
}

/// The label of a state in filters and headings.
pub const fn name(state: JobState) -> &'static str {
    match state {
        JobState::Queued => "Queued",
        JobState::Sending => "Sending",
        JobState::Active => "Running",
        JobState::Completed => "Completed",
        JobState::Archived => "Archived",
        JobState::Failed => "Failed",
        JobState::Rejected => "Rejected",
        JobState::Cancelled => "Cancelled",
        JobState::Unknown => "Outcome unknown",
        JobState::Other => "Other",
    }
}

/// The label of a job's badge: the state, with details that matter. One without changes has a label of its own.
fn word(badge: &JobBadge) -> String {
    match badge.state {
        JobState::Other if !badge.tracked && badge.status.as_deref() == Some(NOT_FOUND) => {
            "Not found".to_owned()
        }
        JobState::Other if !badge.tracked && badge.status.as_deref() == Some(NO_END) => {
            "No end after 3 days".to_owned()
        }
        JobState::Other => badge.status.clone().unwrap_or_else(|| "Other".to_owned()),
        state => name(state).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::pull_request::PullRequestState;
    use model::time::Timestamp;

    fn badge(state: JobState, status: &str, pr_link: Option<&str>) -> JobBadge {
        JobBadge {
            id: "01920000-0000-7000-8000-000000000000".parse().unwrap_or_else(|error| panic!("{error}")),
            state,
            status: Some(status.to_owned()),
            pr_link: pr_link.map(str::to_owned),
            pr_link_is_earlier: false,
            pr_state: pr_link.map(|_| PullRequestState::Unknown),
            changed_at: Timestamp::from_millis(0),
            tracked: true,
            is_direct: false,
        }
    }

    #[test]
    fn completed_job_without_changes_has_its_own_label() {
        assert_eq!([COMPLETED, UNCHANGED].concat(), NO_CHANGES);
        assert_eq!([COMPLETED, DIRECT].concat(), PUBLISHED_DIRECTLY);
        assert!(badge(JobState::Completed, "completed", None).has_no_changes());
        assert!(!badge(JobState::Failed, "failed", None).has_no_changes());
        assert_eq!(word(&badge(JobState::Completed, "completed", Some("https://x/1"))), "Completed");
    }

    #[test]
    fn undocumented_status_is_shown_unchanged() {
        assert_eq!(word(&badge(JobState::Other, "paused", None)), "paused");
    }

    #[test]
    fn label_of_an_untracked_job_has_the_reason() {
        let lost = |status| JobBadge { tracked: false, ..badge(JobState::Other, status, None) };
        assert_eq!(word(&lost(NOT_FOUND)), "Not found");
        assert_eq!(word(&lost(NO_END)), "No end after 3 days");
        assert_eq!(word(&badge(JobState::Other, NO_END, None)), "no end");
    }

    #[test]
    fn every_state_has_its_own_icon() {
        let mut shapes: std::collections::BTreeSet<_> = JobState::ALL.into_iter().map(shape).collect();
        shapes.insert(icon::NO_CHANGES);
        assert_eq!(shapes.len(), JobState::ALL.len() + 1);
        let style = include_str!("../../../style/icons.css");
        for state in JobState::ALL.into_iter().filter(|state| *state != JobState::Active) {
            let rule = format!(".icon-{},\n.badge[data-status=\"{}\"] {{", shape(state), state.as_str());
            assert!(style.contains(&rule), "{rule}");
        }
        assert!(style.contains(".icon-active,\n.badge[data-status=\"active\"] {"));
        assert!(style.contains(&format!(".icon-{},\n.badge[data-no-changes] {{", icon::NO_CHANGES)));
    }
}
