//! The week's readers: three figures and the most read pages.

use leptos::prelude::*;

use crate::model::views::{PageViews, Views};
use crate::ui::charts::number::grouped;
use crate::ui::charts::{bar, scale};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::pages::analytics::figures;

pub(super) fn week(project: &str, answer: Views) -> AnyView {
    if answer.views.is_empty() {
        return view! { <p class="none">"Nobody read a page in these days, or nothing is counted yet."</p> }
            .erase();
    }
    let longest = scale::longest(&answer.views);
    let rows = answer.views.iter().map(|page| row(page, longest)).collect_view();
    view! {
        {bar::patterns()}
        {figures::figures(answer.totals)}
        {bar::legend()}
        <ul class="week-pages">{rows}</ul>
        {figures::provenance(&answer)}
        <p class="more"><a href=links::analytics(project)>"All pages"</a></p>
    }
    .erase()
}

fn row(page: &PageViews, longest: u64) -> AnyView {
    view! {
        <li data-path=page.path.clone()>
            <span class="week-path">{page.path.clone()}</span>
            <span class="numeric">{grouped(page.total)}</span>
            {bar::stacked(page.counts(), longest)}
        </li>
    }
    .erase()
}
