//! The badge of a state: always a label, a shape and a color together. Those of a job's state are in `style/icons.css` and
//! `style/states.css`.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::components::job_status::ShownStatus;
use model::job::{DeliveryState, JobState, NO_END, NOT_FOUND};

/// The label of completed jobs without changes, and its parts: a narrow row shows only the second one.
pub const NO_CHANGES: &str = "Completed, no changes";
const COMPLETED: &str = "Completed, ";
const UNCHANGED: &str = "no changes";

/// The same for completed jobs of projects without pull requests.
pub const PUBLISHED_DIRECTLY: &str = "Completed, published directly";
const DIRECT: &str = "published directly";

/// The badge of a job's state, which changes with `status`. `job`: the id of the job, unless the page may contain another badge of it.
pub fn badge(
    status: impl Fn() -> ShownStatus + Clone + Send + Sync + 'static,
    job: Option<String>,
) -> impl IntoView {
    let of = |part: fn(&ShownStatus) -> String| {
        let status = status.clone();
        move || part(&status())
    };
    let unchanged = status.clone();
    view! {
        <span
            class="badge"
            data-job=job
            data-status=of(|status| status.state.as_str().to_owned())
            data-no-changes=move || unchanged().has_no_changes().then_some("")
        >
            <span>
                <span class="badge-rest">{of(|status| label(status).0.to_owned())}</span>
                {of(|status| label(status).1)}
            </span>
        </span>
    }
}

/// The same for a state that does not change on the page: shorter, because a list has fifty.
pub fn still_badge(status: &ShownStatus) -> impl IntoView + use<> {
    let (rest, label) = label(status);
    let rest = (!rest.is_empty()).then(|| view! { <span class="badge-rest">{rest}</span> });
    view! {
        <span
            class="badge"
            data-job=status.id.to_string()
            data-status=status.state.as_str()
            data-no-changes=status.has_no_changes().then_some("")
        >
            <span>{rest} {label}</span>
        </span>
    }
}

/// The label of a job's badge in two parts. A narrow row shows only the second one.
fn label(status: &ShownStatus) -> (&'static str, String) {
    if status.has_no_changes() {
        (COMPLETED, UNCHANGED.to_owned())
    } else if status.is_published_directly() {
        (COMPLETED, DIRECT.to_owned())
    } else {
        ("", word(status))
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

/// The name of a state, with details that matter.
fn word(status: &ShownStatus) -> String {
    match (status.state, status.raw.as_deref()) {
        (JobState::Other, Some(NOT_FOUND)) if status.is_untracked() => "Not found".to_owned(),
        (JobState::Other, Some(NO_END)) if status.is_untracked() => "No end after 3 days".to_owned(),
        (JobState::Other, Some(raw)) => raw.to_owned(),
        (state, _) => name(state).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::job::JobBadge;
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
        let shown = |state, link| label(&ShownStatus::of(&badge(state, state.as_str(), link)));
        assert_eq!(shown(JobState::Completed, None), (COMPLETED, UNCHANGED.to_owned()));
        assert_eq!(shown(JobState::Failed, None), ("", "Failed".to_owned()));
        assert_eq!(shown(JobState::Completed, Some("https://x/1")), ("", "Completed".to_owned()));
    }

    #[test]
    fn undocumented_status_is_shown_unchanged() {
        assert_eq!(word(&ShownStatus::of(&badge(JobState::Other, "paused", None))), "paused");
    }

    #[test]
    fn label_of_an_untracked_job_has_the_reason() {
        let shown = |tracked, status| {
            word(&ShownStatus::of(&JobBadge { tracked, ..badge(JobState::Other, status, None) }))
        };
        assert_eq!(shown(false, NOT_FOUND), "Not found");
        assert_eq!(shown(false, NO_END), "No end after 3 days");
        assert_eq!(shown(true, NO_END), "no end");
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
