//! The active filters, as links that remove them.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::components::localized;
use crate::ui::pages::analytics::AnalyticsPage;
use crate::ui::pages::analytics::range::ALL_TIME;
use model::analytics::choice::Compare;
use model::analytics::days::{Days, Span};
use model::analytics::query::AnalyticsQuery;
use model::preset::Preset;

pub(super) fn chips(context: &AnalyticsPage) -> Option<AnyView> {
    let chips = applied(context);
    let are_any = !chips.is_empty();
    let items = chips.into_iter().map(|(id, name, without)| {
        view! {
            <li>
                <a id=id class="chip" href=without.href(&context.project) title="Remove">
                    <span class="visually-hidden">"Remove filter: "</span>
                    <span class="chip-text">{name}</span>
                    {icon(icon::CLOSE)}
                </a>
            </li>
        }
    });
    are_any.then(|| view! { <ul class="chips" aria-label="Filters">{items.collect_view()}</ul> }.into_any())
}

/// The id and the name of each active filter, and the query without it.
fn applied(context: &AnalyticsPage) -> Vec<(&'static str, AnyView, AnalyticsQuery)> {
    let AnalyticsPage { query, today, .. } = context;
    let mut chips = Vec::new();
    if let Some(name) = days(context) {
        chips.push(("chip-days", name, query.over(Days::of(Preset::DEFAULT, *today))));
    }
    let by_default = query.days.default_compare();
    if query.compare != by_default && !query.is_of_all_time() {
        let name = match query.compare {
            Compare::None => "Not compared".to_owned(),
            compare => format!("Compared: {}", compare.label().to_lowercase()),
        };
        chips.push(("chip-compare", name.into_any(), query.compared_with(by_default)));
    }
    if let Some(path) = &query.path {
        chips.push(("chip-path", format!("Page: {path}").into_any(), query.about(None)));
    }
    if let Some(folder) = query.open_folder() {
        chips.push(("chip-folder", format!("Folder: {folder}").into_any(), query.in_folder(None)));
    }
    if let Some(search) = &query.q {
        chips.push(("chip-search", format!("Search: {search}").into_any(), query.unsearched()));
    }
    chips
}

/// The days, unless they are the default ones.
fn days(context: &AnalyticsPage) -> Option<AnyView> {
    let Span::Days(days) = context.query.days else { return Some(ALL_TIME.into_any()) };
    match (days.preset(), context.range()) {
        (Some(Preset::DEFAULT), _) | (None, None) => None,
        (Some(preset), _) => Some(preset.label().into_any()),
        (None, Some(range)) if range.days() == 1 => Some(localized::day(range.from()).into_any()),
        (None, Some(range)) => Some(localized::days(range.from(), range.to()).into_any()),
    }
}
