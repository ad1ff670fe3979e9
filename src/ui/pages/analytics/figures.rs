//! The three figures over a range, and where they come from. Also used by the overview.

use leptos::prelude::*;

use crate::model::views::{ViewCounts, Views};
use crate::ui::charts::number::{ai_share, grouped};
use crate::ui::components::moment::ago;
use crate::ui::erase::Erase;

pub fn figures(totals: ViewCounts) -> AnyView {
    view! {
        <dl class="figures">
            {figure("Views", grouped(totals.total), "figure")}
            {figure("By people", grouped(totals.human), "figure figure-human")}
            {figure("By AI agents", format!("{} ({})", grouped(totals.ai), ai_share(totals)), "figure figure-ai")}
        </dl>
    }
    .erase()
}

fn figure(name: &'static str, value: String, class: &'static str) -> AnyView {
    view! { <div class=class><dt>{name}</dt> <dd>{value}</dd></div> }.erase()
}

/// How old the figures are and where they come from.
pub fn provenance(answer: &Views) -> AnyView {
    let warning = answer.stale.then(|| {
        view! { <strong>"Older figures: newer ones are asked for, or cannot be had. "</strong> }.erase()
    });
    let note = answer
        .corrected
        .then_some(". Some figures came in an impossible form and were corrected or left out.");
    view! {
        <p class="provenance">
            {warning} "Live from the upstream, fetched " {ago(answer.fetched_at)} {note}
        </p>
    }
    .erase()
}
