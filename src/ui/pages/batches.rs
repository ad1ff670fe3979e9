//! `/p/{project}/batches`: all started batches, the newest first, and above them the person's own that are not started.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::batch_progress::{bar, summary};
use crate::ui::components::empty::{empty, learn_about};
use crate::ui::components::time::ago;
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use crate::ui::pages::unstarted_batches::list as unstarted_list;
use api::batches::{DiscardBatch, list_batches, unstarted_batches};
use model::batch::{ListedBatch, UnstartedBatch};
use model::links;

#[component]
pub fn Batches() -> impl IntoView {
    let project = request::project();
    let may_start = request::session().can_start_jobs();
    let number = request::query().get("page");
    let refused = outcome_of(&[DiscardBatch::PATH]);
    page(async move {
        let unstarted = match may_start {
            true => unstarted_batches(project.clone()).await?,
            false => Vec::new(),
        };
        let listed = list_batches(project.clone(), number.clone()).await?;
        let number = number.and_then(|number| number.trim().parse().ok()).unwrap_or(1);
        let add = may_start.then(|| {
            view! { <a class="button button-primary" href=links::new_batch(&project, "")>"New batch"</a> }
        });
        let content = if listed.batches.is_empty() && !unstarted.is_empty() && number == 1 {
            ().into_any()
        } else if listed.batches.is_empty() {
            none(&project, number, may_start)
        } else {
            let rows = listed.batches.iter().map(|batch| row(&project, batch)).collect_view();
            let heading = (!unstarted.is_empty()).then(|| view! { <h2 class="started">"Started"</h2> });
            view! { {heading} <ul class="batch-list" aria-label="Batches">{rows}</ul> }.into_any()
        };
        let moves = |batch: &ListedBatch| batch.progress.queued + batch.progress.running > 0;
        let every = listed.batches.iter().any(moves).then_some("15");
        Ok(view! {
            {page_head("Batches", "Many jobs from one prompt template, the newest first.", add)}
            {refused}
            <div data-region="unstarted" data-when="posted">{not_started(&project, &unstarted)}</div>
            <div data-region="batches" data-every=every>{content} {pager(&project, number, listed.has_more)}</div>
        }
        .into_any())
    })
}

/// The person's batches that are not started; empty without any.
fn not_started(project: &str, batches: &[UnstartedBatch]) -> Option<AnyView> {
    (!batches.is_empty()).then(|| {
        view! {
            <section class="group" aria-labelledby="not-started">
                <h2 id="not-started">"Not started"</h2>
                <p class="hint">"You prepared these batches. Only you see them here. Each is removed after 7 days."</p>
                <div class="other-drafts">{unstarted_list(project, batches)}</div>
            </section>
        }
        .into_any()
    })
}

fn row(project: &str, batch: &ListedBatch) -> AnyView {
    let href = links::batch(project, batch.id.as_str());
    view! {
        <li class="batch-entry" data-key=batch.id.to_string()>
            <a class="batch-entry-name row-target" dir="auto" href=href>{batch.name.clone()}</a>
            <span class="batch-entry-start">{batch.author.clone()} ", " {ago(batch.started_at)}</span>
            {bar(&batch.progress)}
            <span class="batch-entry-facts">{summary(&batch.progress)}</span>
        </li>
    }
    .into_any()
}

fn pager(project: &str, number: u32, has_more: bool) -> AnyView {
    if number == 1 && !has_more {
        return ().into_any();
    }
    let newer = (number > 1)
        .then(|| view! { <a class="button" href=links::batches_page(project, number - 1)>"Newer"</a> });
    let older = has_more
        .then(|| view! { <a class="button" href=links::batches_page(project, number + 1)>"Older"</a> });
    view! { <nav class="actions batch-pager" aria-label="Pages">{newer} <span>{format!("Page {number}")}</span> {older}</nav> }
        .into_any()
}

fn none(project: &str, number: u32, may_start: bool) -> AnyView {
    if number > 1 {
        let first = view! { <a class="button" href=links::batches(project)>"Newest batches"</a> };
        return empty("No batches on this page", "There are fewer batches.", first).into_any();
    }
    let href = links::new_batch(project, "");
    let step = may_start.then(|| view! { <a class="button" href=href>"Start a batch"</a> });
    empty(
        "No batches yet",
        "A batch starts the same prompt for many pages.",
        view! { {step} {learn_about("templates-and-batches", "templates and batches")} },
    )
    .into_any()
}
