//! What happened to a job, line by line.

use leptos::prelude::*;

use crate::model::job::HistoryEntry;
use crate::ui::charts::number::counted;
use crate::ui::components::moment::exactly;
use crate::ui::erase::Erase;

pub(super) fn history(entries: &[HistoryEntry]) -> AnyView {
    if entries.is_empty() {
        return ().into_any();
    }
    let lines = entries.iter().map(line).collect_view();
    view! {
        <details class="history">
            <summary>{format!("History, {}", counted(entries.len() as u64, "entry", "entries"))}</summary>
            <ol>{lines}</ol>
        </details>
    }
    .erase()
}

fn line(entry: &HistoryEntry) -> AnyView {
    let what = match entry.message {
        0 => entry.state.clone(),
        follow_up => format!("Follow-up {follow_up}: {}", entry.state),
    };
    let detail = entry.detail.clone().map(|detail| view! { <span class="soft">{detail}</span> }.erase());
    view! {
        <li>
            <span class="history-at">{exactly(entry.at)}</span>
            <span>{what}</span>
            {detail}
        </li>
    }
    .erase()
}
