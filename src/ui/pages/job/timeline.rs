//! The timeline of a job.

use std::ops::Range;

use leptos::prelude::*;

use crate::ui::charts::number::counted;
use crate::ui::components::page_room::{Room, escaped_len};
use crate::ui::components::time::ago;
use model::job::{
    DeliveryState, Job, NO_CHANGES, ReportedStatus, TimelineEntry, TimelineMark, TimelineState,
};
use model::pull_request::PullRequestEvent;

/// The room of the timeline in its page, in bytes of HTML.
const ROOM: usize = 96 * 1024;

/// The size of an entry without its texts.
const ENTRY: usize = 400;

/// The entries of the job and of its first prompt, and those of the shown follow-ups; the last ones if they are many.
pub(super) fn timeline(job: &Job, shown: Range<usize>) -> AnyView {
    let entries = &job.history;
    let is_shown = |entry: &&TimelineEntry| {
        entry.message.checked_sub(1).is_none_or(|index| shown.contains(&(index as usize)))
    };
    let entries: Vec<&TimelineEntry> = entries.iter().filter(is_shown).collect();
    if entries.is_empty() {
        return ().into_any();
    }
    let mut room = Room::new(ROOM);
    let fitting = entries.iter().rev().take_while(|entry| room.take(size(entry))).count();
    let note = (fitting < entries.len()).then(|| {
        let last = counted(fitting as u64, "entry is", "entries are");
        view! { <p class="hint">{format!("Only the last {last} shown.")}</p> }
    });
    let lines =
        entries[entries.len() - fitting..].iter().map(|entry| line(entry, job.is_direct)).collect_view();
    view! {
        <details class="history">
            <summary>{format!("Timeline, {}", counted(entries.len() as u64, "entry", "entries"))}</summary>
            {note}
            <ol>{lines}</ol>
        </details>
    }
    .into_any()
}

/// The size of an entry as HTML.
fn size(entry: &TimelineEntry) -> usize {
    ENTRY + escaped_len(entry.state.as_str()) + entry.detail.as_deref().map_or(0, escaped_len)
}

/// `is_direct`: the platform names no pull requests of the project.
fn line(entry: &TimelineEntry, is_direct: bool) -> AnyView {
    let what = label(&entry.state);
    let what = match entry.message {
        0 => what.to_owned(),
        follow_up => format!("Follow-up {follow_up}: {what}"),
    };
    let detail = entry.detail.as_deref().map(|detail| match detail {
        NO_CHANGES if is_direct => "published directly".to_owned(),
        detail => detail.to_owned(),
    });
    let detail = detail.map(|detail| view! { <span class="soft">{detail}</span> });
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
    use model::job::JobState;

    #[test]
    fn every_state_has_a_label() {
        for state in JobState::ALL.into_iter().filter(|state| *state != JobState::Other) {
            assert_ne!(label(&TimelineState::from(state.as_str())), state.as_str());
        }
        assert_eq!(label(&TimelineState::from("paused")), "paused");
    }
}
