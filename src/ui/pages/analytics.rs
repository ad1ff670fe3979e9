//! `/p/{project}/analytics`: who reads which page, people and AI agents side by side. Range, page and page size stand in
//! the address; the figures come live from the upstream, which neither sorts nor searches.

pub mod figures;
mod query;
mod range;
mod table;

use leptos::prelude::*;

use crate::api::analytics::GetViews;
use crate::api::call::call;
use crate::model::views::Views;
use crate::ui::charts::bar;
use crate::ui::components::empty::empty;
use crate::ui::components::failure;
use crate::ui::components::loading::{self, loaded};
use crate::ui::components::page_head::page_head;
use crate::ui::erase::{Erase, effect};
use crate::ui::links;
use crate::ui::state::address;
use crate::ui::state::asked::Asked;
use crate::ui::state::clock::Clock;
use crate::ui::state::post::Post;
use crate::ui::state::project;
use crate::ui::state::session::{self, can_start_jobs};
use query::AnalyticsQuery;

#[component]
pub fn Analytics() -> impl IntoView {
    let project = project::current();
    let today = Clock::get().today();
    let query = address::query();
    let query = Memo::new(move |_| AnalyticsQuery::read(&query.read()));
    let answer = {
        let project = project.clone();
        Asked::on(
            move || query.with(|_| ()),
            move || {
                let query = query.get_untracked();
                let (limit, offset) = (Some(query.limit), Some(query.offset()));
                let (from, to, refresh) = (query.from, query.to, None);
                call(GetViews { project: project.clone(), from, to, limit, offset, refresh })
            },
        )
    };
    let session = session::get();
    let refresh = Post::to::<GetViews>("These figures cannot be asked for.");
    effect(move || {
        if let Some(Ok(_)) = refresh.outcome::<Views>() {
            answer.again();
        }
    });
    let shown = {
        let project = project.clone();
        move |answer| report(&project, &query.get_untracked(), answer, can_start_jobs(session), refresh)
    };
    let ranges = {
        let project = project.clone();
        move || range::ranges(&project, &query.read(), today)
    };
    view! {
        {page_head("Analytics", view! { {move || range::described(&query.read(), today)} }.into_any(), ().into_any())}
        {bar::patterns()}
        {move || ranges()}
        {loaded(answer, loading::figures, shown)}
    }
    .erase()
}

fn report(project: &str, query: &AnalyticsQuery, answer: Views, may_start: bool, refresh: Post) -> AnyView {
    if answer.views.is_empty() && !answer.corrected && query.page == 1 {
        let longer =
            view! { <a class="button" href=links::analytics(project)>"Show the last 28 days"</a> }.erase();
        return empty(
            "No views in these days",
            "Nobody read a page, or nothing is counted yet. A longer range may show more.",
            longer,
        );
    }
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
        {table::pager(project, query, &answer)}
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
