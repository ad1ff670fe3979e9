//! The three figures of a range, with their change. Also used by the overview.

use leptos::prelude::*;

use crate::model::history::Comparison;
use crate::model::page_views::ViewCounts;
use crate::ui::charts::number::{ai_share, change_in_words, grouped};

/// `comparison`: with the previous period.
pub(in crate::ui::pages) fn figures(totals: ViewCounts, comparison: Option<&Comparison>) -> AnyView {
    compared(totals, comparison.map(|comparison| (comparison.current, comparison.previous)))
}

/// With the change from the second to the first of two comparable counts.
pub(super) fn compared(totals: ViewCounts, change: Option<(ViewCounts, ViewCounts)>) -> AnyView {
    let ai = format!("{} ({})", grouped(totals.ai), ai_share(totals));
    let figure = |class: &'static str, name: &'static str, value: String, of: fn(ViewCounts) -> u64| {
        let change = change
            .map(|(now, before)| view! { <dd class="change">{change_in_words(of(now), of(before))}</dd> });
        view! { <div class=class><dt>{name}</dt><dd>{value}</dd>{change}</div> }
    };
    view! {
        <dl class="figures">
            {figure("figure", "Views", grouped(totals.total), |counts| counts.total)}
            {figure("figure figure-human", "By people", grouped(totals.human), |counts| counts.human)}
            {figure("figure figure-ai", "By AI agents", ai, |counts| counts.ai)}
        </dl>
    }
    .into_any()
}
