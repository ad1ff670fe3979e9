//! The timeline of a job.

use leptos::prelude::*;

use crate::model::job::TimelineEntry;
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
    let what = in_words(&entry.state);
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
fn in_words(state: &str) -> &str {
    match state {
        "queued" => "Saved, to be sent",
        "sending" => "Being sent",
        "accepted" => "Accepted by the agent",
        "rejected" => "Not accepted by the agent",
        "cancelled" => "Cancelled",
        "unknown" => "Sent, outcome unknown",
        "active" => "Running",
        "completed" => "The agent finished",
        "failed" => "The agent failed",
        "archived" => "Archived on the platform",
        "not found" => "No longer found on the platform",
        "archived here" => "Archived",
        "brought back here" => "Restored",
        "dismissed" => "Dismissed",
        "dismissal undone" => "Dismissal undone",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::JobState;

    #[test]
    fn every_state_has_a_label() {
        for state in JobState::ALL.into_iter().filter(|state| *state != JobState::Other) {
            assert_ne!(in_words(state.as_str()), state.as_str());
        }
        assert_eq!(in_words("paused"), "paused");
    }
}
