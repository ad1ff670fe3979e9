//! What the upstream answers right now, page by page: it neither sorts nor searches, and knows of totals only.

use leptos::prelude::*;

use crate::model::views::Views;
use crate::ui::charts::bar;
use crate::ui::components::failure;
use crate::ui::erase::Erase;
use crate::ui::pages::analytics::query::AnalyticsQuery;
use crate::ui::pages::analytics::{figures, no_views, table};
use crate::ui::state::post::Post;

pub(super) fn report(
    project: &str,
    query: &AnalyticsQuery,
    answer: Views,
    may_start: bool,
    refresh: Post,
) -> AnyView {
    if answer.views.is_empty() && !answer.corrected && query.page == 1 {
        return no_views(project);
    }
    let pager = table::pager(project, query, answer.views.len(), answer.has_more, None);
    view! {
        {figures::figures(answer.totals)}
        <div class="above-table">
            {bar::legend()}
            <div class="source">
                {figures::provenance(&answer)}
                {refresh_form(project, query, refresh)}
            </div>
        </div>
        {table::table(project, query, &answer, may_start)}
        <div inner_html=pager.into_html()></div>
    }
    .erase()
}

/// Asks the upstream anew, whatever is in memory, and says what that costs.
fn refresh_form(project: &str, query: &AnalyticsQuery, refresh: Post) -> AnyView {
    let hidden = |name: &'static str, value: Option<String>| {
        value.map(|value| view! { <input type="hidden" name=name value=value /> }.erase())
    };
    view! {
        {move || failure::of_form(refresh.problem())}
        <form class="refresh" method="post" action=refresh.url on:submit=refresh.submitting()>
            {hidden("project", Some(project.to_owned()))}
            {hidden("from", query.from.clone())}
            {hidden("to", query.to.clone())}
            {hidden("limit", Some(query.limit.to_string()))}
            {hidden("offset", Some(query.offset().to_string()))}
            {hidden("refresh", Some("true".to_owned()))}
            <button class="quiet-link" type="submit" disabled=move || refresh.is_pending()>
                {move || if refresh.is_pending() { "Asking…" } else { "Refresh (uses 1 question)" }}
            </button>
        </form>
    }
    .erase()
}
