//! What happened to a job, line by line.

use leptos::prelude::*;

use crate::model::job::HistoryEntry;
use crate::ui::charts::number::counted;
use crate::ui::components::moment::exactly;

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
    .into_any()
}

fn line(entry: &HistoryEntry) -> AnyView {
    let about = (entry.message > 0).then(|| format!("Follow-up {}: ", entry.message));
    let detail = entry.detail.clone().map(|detail| view! { <span class="soft">{detail}</span> });
    view! {
        <li>
            <span class="history-at">{exactly(entry.at)}</span>
            <span>{about} {entry.state.clone()}</span>
            {detail}
        </li>
    }
    .into_any()
}
