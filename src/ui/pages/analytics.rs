//! `/p/{project}/analytics`: who reads which page, people and AI agents side by side. All that is asked for stands in the
//! address. Where the daily history holds the whole range it answers; else the figures come live from the upstream.

pub mod drawn;
pub mod query;
pub mod range;
// What the server draws; see `model::drawn`.
#[cfg(feature = "ssr")]
pub mod daily;
#[cfg(feature = "ssr")]
pub mod figures;
#[cfg(feature = "ssr")]
pub mod live;
#[cfg(feature = "ssr")]
pub mod notice;
#[cfg(feature = "ssr")]
pub mod saved;
#[cfg(feature = "ssr")]
mod start;
#[cfg(feature = "ssr")]
mod table;

use std::sync::Arc;

use leptos::prelude::*;

use crate::api::analytics::GetViews;
use crate::api::annotations::{RemoveAnnotation, SaveAnnotation};
use crate::api::call::call;
use crate::api::history::FetchDays;
use crate::api::reading::{GetHistoryNotice, GetReading};
use crate::api::saved_views::{RemoveView, SaveView, UpdateView};
use crate::model::drawn::{Drawn, HistoryNotice};
use crate::model::saved_view::NAME_MISTAKE;
use crate::ui::components::failure;
use crate::ui::components::loading::{self, loaded, nothing, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::erase::{Erase, effect};
use crate::ui::state::address;
use crate::ui::state::asked::Asked;
use crate::ui::state::clock::Clock;
use crate::ui::state::post::Post;
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
    // Plain forms, which come back to this page.
    let refused = [
        Post::to::<SaveAnnotation>(NOTE),
        Post::to::<RemoveAnnotation>(NOTE),
        Post::to::<FetchDays>("These days cannot be fetched."),
        Post::to::<GetViews>("These figures cannot be asked for."),
        Post::to::<SaveView>(NAME_MISTAKE),
        Post::to::<UpdateView>(NAME_MISTAKE),
        Post::to::<RemoveView>(NAME_MISTAKE),
    ];
    let notice = move || match (answer.get(), progress.get()) {
        (Some(Ok(Drawn { live: true, .. })), Some(Ok(notice))) => {
            view! { <div role="status" inner_html=notice.said></div> }.into_any()
        }
        _ => nothing(),
    };
    let ranges = {
        let project = project.clone();
        move || range::ranges(&project, &query.read(), today)
    };
    view! {
        {page_head("Analytics", view! { {move || range::described(&query.read(), today)} }.into_any(), ().into_any())}
        {move || ranges()}
        {move || failure::of_form(refused.iter().find_map(|post| post.problem()))}
        {suspended(nothing, Arc::new(notice))}
        {loaded(answer, loading::report, drawn::page)}
    }
    .into_any()
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
