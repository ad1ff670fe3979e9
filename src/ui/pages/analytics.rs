//! `/p/{project}/analytics`: who reads which page, people and AI agents side by side. All that is asked for stands in the
//! address. Where the daily history holds the whole range it answers; else the figures come live from the upstream.

mod daily;
pub mod figures;
mod live;
mod notice;
mod query;
mod range;
pub mod reading;
mod table;

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::api::analytics::GetViews;
use crate::api::annotations::{RemoveAnnotation, SaveAnnotation};
use crate::api::history::FetchDays;
use crate::model::day::DayRange;
use crate::model::views::Views;
use crate::ui::charts::bar;
use crate::ui::components::empty::empty;
use crate::ui::components::failure;
use crate::ui::components::loading::{self, loaded, nothing, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::erase::{Erase, effect};
use crate::ui::links;
use crate::ui::state::asked::Asked;
use crate::ui::state::clock::Clock;
use crate::ui::state::post::Post;
use crate::ui::state::session::{self, can_start_jobs};
use crate::ui::state::{browser, project};
use query::AnalyticsQuery;
use reading::{Progress, Question, Reading};

/// Milliseconds between two looks at how far the history is, while it lacks days of the range.
const HISTORY: u32 = 10_000;

/// What a person can have done wrong with a note.
const NOTE: &str = "A note is a day, written as 2026-11-21, and a sentence that is not too long.";

#[component]
pub fn Analytics() -> impl IntoView {
    let project = project::current();
    let today = Clock::get().today();
    let query = use_query_map();
    let query = Memo::new(move |_| AnalyticsQuery::read(&query.read()));
    let answer = {
        let project = project.clone();
        let question =
            move || query.with_untracked(|query| question(&project, query, range::meant(query, today)));
        Asked::on(move || query.with(|_| ()), move || reading::reading(question()))
    };
    let progress = {
        let project = project.clone();
        let range = move || range::meant(&query.read_untracked(), today);
        Asked::on(move || query.with(|_| ()), move || reading::progress(project.clone(), range()))
    };
    look_again(progress);
    let session = session::get();
    let refresh = Post::to::<GetViews>("These figures cannot be asked for.");
    effect(move || {
        if let Some(Ok(_)) = refresh.outcome::<Views>() {
            answer.again();
        }
    });
    // Plain forms, which come back to this page.
    let refused = [
        Post::to::<SaveAnnotation>(NOTE),
        Post::to::<RemoveAnnotation>(NOTE),
        Post::to::<FetchDays>("These days cannot be fetched."),
    ];
    let shown = {
        let project = project.clone();
        move |reading: Reading| match reading.views {
            Some(views) => {
                live::report(&project, &query.read_untracked(), views, can_start_jobs(session), refresh)
            }
            None => daily::report(&project, &query.read_untracked(), reading, session.get(), today),
        }
    };
    let notice = {
        let project = project.clone();
        let clock = Clock::get();
        move || match (answer.get(), progress.get()) {
            (Some(Ok(Reading { views: Some(_), .. })), Some(Ok(progress))) => {
                let range = range::meant(&query.read_untracked(), today);
                notice::notice(&project, range, &progress, can_start_jobs(session), clock.now())
            }
            _ => nothing(),
        }
    };
    let ranges = {
        let project = project.clone();
        move || range::ranges(&project, &query.read(), today)
    };
    view! {
        {page_head("Analytics", view! { {move || range::described(&query.read(), today)} }.into_any(), ().into_any())}
        {bar::patterns()}
        {move || ranges()}
        {move || failure::of_form(refused.iter().find_map(|post| post.problem()))}
        {suspended(nothing, Arc::new(notice))}
        {loaded(answer, loading::report, shown)}
    }
    .erase()
}

fn question(project: &str, query: &AnalyticsQuery, range: Option<DayRange>) -> Question {
    let AnalyticsQuery { from, to, path, folder, q, sort, limit, .. } = query.clone();
    let with_movers = query.has_movers();
    let (limit, offset) = (Some(limit), Some(query.offset()));
    Question {
        project: project.to_owned(),
        range,
        from,
        to,
        limit,
        offset,
        q,
        sort,
        folder,
        path,
        with_movers,
    }
}

/// Asks how far the history is for as long as it lacks something.
fn look_again(progress: Asked<Progress>) {
    effect(move || {
        let lacks = |progress: &Progress| progress.missing.as_ref().is_some_and(|missing| missing.days > 0);
        if progress.get().is_some_and(|progress| progress.as_ref().is_ok_and(lacks)) {
            // The owner of this effect drops the timer when it runs again, or when the page goes.
            StoredValue::new_local(browser::every(HISTORY, move || {
                if !browser::is_hidden() {
                    progress.again();
                }
            }));
        }
    });
}

fn no_views(project: &str) -> AnyView {
    let longer =
        view! { <a class="button" href=links::analytics(project)>"Show the last 28 days"</a> }.erase();
    empty(
        "No views in these days",
        "Nobody read a page, or nothing is counted yet. A longer range may show more.",
        longer,
    )
}
