//! `/p/{project}/analytics`: who reads which page, people and AI agents side by side. All that is asked for stands in the
//! address. Where the daily history holds the whole range it answers; else the figures come live from the upstream.

// Drawn on the server; see `model::drawn`.
#[cfg(feature = "ssr")]
pub mod daily;
pub mod drawn;
pub mod figures;
mod live;
#[cfg(feature = "ssr")]
pub mod notice;
pub mod query;
pub mod range;
mod table;

use std::sync::Arc;

use leptos::prelude::*;

use crate::api::analytics::GetViews;
use crate::api::annotations::{RemoveAnnotation, SaveAnnotation};
use crate::api::call::call;
use crate::api::history::FetchDays;
use crate::api::reading::{GetHistoryNotice, GetReading};
use crate::model::drawn::{HistoryNotice, Reading};
use crate::model::views::Views;
use crate::ui::charts::bar;
use crate::ui::components::empty::empty;
use crate::ui::components::failure;
use crate::ui::components::loading::{self, loaded, nothing, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::erase::{Erase, effect};
use crate::ui::links;
use crate::ui::state::address;
use crate::ui::state::asked::Asked;
use crate::ui::state::clock::Clock;
use crate::ui::state::post::Post;
use crate::ui::state::session::{self, can_start_jobs};
use crate::ui::state::{browser, project};
use query::AnalyticsQuery;

/// Milliseconds between two looks at how far the history is, while it lacks days of the range.
const HISTORY: u32 = 10_000;

/// What a person can have done wrong with a note.
const NOTE: &str = "A note is a day, written as 2026-11-21, and a sentence that is not too long.";

#[component]
pub fn Analytics() -> impl IntoView {
    let project = project::current();
    let today = Clock::get().today();
    let query = address::query();
    let query = Memo::new(move |_| AnalyticsQuery::read(&query.read()));
    let (answer, progress) = {
        let (here, there) = (project.clone(), project.clone());
        let address = move || query.with_untracked(AnalyticsQuery::address);
        (
            Asked::on(
                move || query.with(|_| ()),
                move || call(GetReading { project: here.clone(), query: address(), part: None }),
            ),
            Asked::on(
                move || query.with(|_| ()),
                move || call(GetHistoryNotice { project: there.clone(), query: address() }),
            ),
        )
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
        move |Reading { views, drawn }: Reading| match (views, drawn) {
            (Some(views), _) => {
                live::report(&project, &query.read_untracked(), views, can_start_jobs(session), refresh)
            }
            (None, drawn) => drawn::page(drawn.unwrap_or_default()),
        }
    };
    let notice = move || match (answer.get(), progress.get()) {
        (Some(Ok(Reading { views: Some(_), .. })), Some(Ok(notice))) => {
            view! { <div role="status" inner_html=notice.said></div> }.erase()
        }
        _ => nothing(),
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

/// Asks how far the history is for as long as it lacks something.
fn look_again(progress: Asked<HistoryNotice>) {
    effect(move || {
        if matches!(progress.get(), Some(Ok(notice)) if notice.lacks) {
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
