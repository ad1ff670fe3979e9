//! What counts as AI, and a warning where days are compared that are counted differently.

use leptos::prelude::*;

use crate::ui::components::localized;
use crate::ui::components::notice::{Tone, notice};
use model::analytics::ai::{AI_CHANGES, AiChange, ai_changes};
use model::day::Day;

/// The explanation, folded.
pub fn what_is_ai() -> AnyView {
    let changes = list(&AI_CHANGES);
    view! {
        <details class="what-is-ai">
            <summary>"What counts as AI?"</summary>
            <p>
                "Answers by AI assistants, and pages that agents fetch, also as Markdown. Search engines and bots that collect training data are in neither number. Each view counts once, as a person or as AI."
            </p>
            {changes}
        </details>
    }
    .into_any()
}

/// The warning if the platform counted AI differently on the last of the compared days than on the first.
pub fn ai_warning(first: Day, last: Day) -> Option<AnyView> {
    let changes: Vec<_> = ai_changes(first, last).collect();
    (!changes.is_empty()).then(|| {
        let text = view! {
            <p>"What counts as AI changed within the compared days. Part of the difference between people and AI may come from that."</p>
            {list(&changes)}
        };
        notice(Tone::Warning, text).into_any()
    })
}

/// The warning beside figures of all time.
pub fn changes_warning() -> AnyView {
    let text = view! {
        <p>"What counts as AI changed meanwhile. These figures add up views that were counted differently."</p>
        {list(&AI_CHANGES)}
    };
    notice(Tone::Warning, text).into_any()
}

fn list(changes: &[AiChange]) -> AnyView {
    let items = changes.iter().map(|change| {
        view! { <li>{localized::day(change.day)} ": " {change.what} "."</li> }
    });
    view! { <ul>{items.collect_view()}</ul> }.into_any()
}
