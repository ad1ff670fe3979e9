//! The timeline of a job.

use leptos::prelude::*;

use crate::model::job::{DeliveryState, ReportedStatus, TimelineEntry, TimelineMark, TimelineState};
use crate::model::pull_request::PullRequestEvent;
use crate::ui::charts::number::counted;
use crate::ui::components::time::ago;

pub(super) fn timeline(entries: &[TimelineEntry]) -> AnyView {
    if entries.is_empty() {
        return ().into_any();
    }
    let lines = entries.iter().map(line).collect_view();
    view! {
        <details class="history">
            <summary>{format!("Timeline, {}", counted(entries.len() as u64, "entry", "entries"))}</summary>
            <ol>{lines}</ol>
        </details>
    }
    .into_any()
}

fn line(entry: &TimelineEntry) -> AnyView {
    let what = label(&entry.state);
    let what = match entry.message {
        0 => what.to_owned(),
        follow_up => format!("Follow-up {follow_up}: {what}"),
    };
    let detail = entry.detail.clone().map(|detail| view! { <span class="soft">{detail}</span> }.into_any());
    view! {
        <li>
            <span class="history-at">{ago(entry.at)}</span>
            <span>{what}</span>
            {detail}
        </li>
    }
    .into_any()
}

/// The label of a state; the upstream's own unknown statuses are shown unchanged.
fn label(state: &TimelineState) -> &str {
    match state {
        TimelineState::Delivery(DeliveryState::Queued) => "Saved, to be sent",
        TimelineState::Delivery(DeliveryState::Sending) => "Being sent",
        TimelineState::Delivery(DeliveryState::Accepted) => "Accepted by the agent",
        TimelineState::Delivery(DeliveryState::Rejected) => "Not accepted by the agent",
        TimelineState::Delivery(DeliveryState::Cancelled) => "Cancelled",
        TimelineState::Delivery(DeliveryState::Unknown) => "Sent, outcome unknown",
        TimelineState::Reported(ReportedStatus::Active) => "Running",
        TimelineState::Reported(ReportedStatus::Completed) => "The agent finished",
        TimelineState::Reported(ReportedStatus::Failed) => "The agent failed",
        TimelineState::Reported(ReportedStatus::Archived) => "Archived on the platform",
        TimelineState::NotFound => "No longer found on the platform",
        TimelineState::Mark(TimelineMark::Archived) => "Archived",
        TimelineState::Mark(TimelineMark::Restored) => "Restored",
        TimelineState::Mark(TimelineMark::Dismissed) => "Dismissed",
        TimelineState::Mark(TimelineMark::DismissalUndone) => "Dismissal undone",
        TimelineState::PullRequest(PullRequestEvent::Merged) => "Pull request merged",
        TimelineState::PullRequest(PullRequestEvent::Closed) => "Pull request closed",
        TimelineState::PullRequest(PullRequestEvent::Stale) => "Pull request has waited for days",
        TimelineState::NoEnd | TimelineState::Other(_) => state.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::JobState;

    #[test]
    fn every_state_has_a_label() {
        for state in JobState::ALL.into_iter().filter(|state| *state != JobState::Other) {
            assert_ne!(label(&TimelineState::from(state.as_str())), state.as_str());
        }
        assert_eq!(label(&TimelineState::from("paused")), "paused");
    }
}
