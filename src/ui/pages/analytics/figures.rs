//! The four figures of a range on one line, with their change. Also used by the overview.

use leptos::prelude::*;

use crate::ui::charts::number::{ai_share, change, share_change};
use crate::ui::components::localized::{number, short_day};
use crate::ui::components::what_is_ai::what_is_ai;
use model::analytics::pages::{Comparison, Earlier};
use model::page_views::ViewCounts;

/// The counts that a range is compared with.
#[derive(Clone, Copy)]
pub(super) enum Against {
    Nothing,
    /// The compared part of the range, and the same part of the compared period.
    Period(ViewCounts, ViewCounts),
    /// Earlier whole days, because today is incomplete.
    WholeDays(Earlier),
}

/// `comparison`: the previous period.
pub(crate) fn figures(totals: ViewCounts, comparison: Option<&Comparison>) -> AnyView {
    let against = comparison.map(|comparison| Against::Period(comparison.current, comparison.previous));
    compared(totals, against.unwrap_or(Against::Nothing))
}

/// With the change, or with earlier whole days.
pub(super) fn compared(totals: ViewCounts, against: Against) -> AnyView {
    let count = |of: fn(ViewCounts) -> u64| {
        let beside = match against {
            Against::Nothing => None,
            Against::Period(now, before) => Some(change(of(now), of(before)).into_any()),
            Against::WholeDays(earlier) => Some(whole_day(earlier, number(of(earlier.counts)))),
        };
        (number(of(totals)).into_any(), beside)
    };
    let share = match against {
        Against::Nothing => None,
        Against::Period(now, before) => share_change(now, before).map(IntoAny::into_any),
        Against::WholeDays(earlier) => Some(whole_day(earlier, ai_share(earlier.counts))),
    };
    let beside_class = if matches!(against, Against::WholeDays(_)) { "change whole-day" } else { "change" };
    let figure = |class: &'static str, name: &'static str, (value, beside): (AnyView, Option<AnyView>)| {
        let beside = beside.map(|beside| view! { <dd class=beside_class>{beside}</dd> });
        view! { <div class=class><dt>{name}</dt><dd>{value}</dd>{beside}</div> }
    };
    view! {
        <div class="figures-and-note">
        <dl class="figures">
            {figure("figure", "Views", count(|counts| counts.total))}
            {figure("figure figure-human", "People", count(|counts| counts.human))}
            {figure("figure figure-ai", "AI", count(|counts| counts.ai))}
            {figure("figure", "AI share", (ai_share(totals).into_any(), share))}
        </dl>
        {what_is_ai()}
        </div>
    }
    .into_any()
}

/// `Nov 20: 4,210`.
fn whole_day(earlier: Earlier, value: impl IntoView) -> AnyView {
    view! { {short_day(earlier.from)} ": " {value.into_view()} }.into_any()
}
