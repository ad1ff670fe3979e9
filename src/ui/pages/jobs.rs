//! `/p/{project}/jobs`: the list of jobs. Search, filters and sort are in the address.

mod filters;
mod pager;
mod query;

use futures::try_join;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::archive_and_tags::{ArchiveJobs, TagJobs, UnarchiveJobs, UntagJobs};
use crate::api::jobs::list_jobs;
use crate::api::saved_views::list_saved_views;
use crate::model::job::JobPage;
use crate::model::links;
use crate::model::saved_view::SavedViewPage;
use crate::model::user::CurrentSession;
use crate::ui::components::empty::empty;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::job_row::job_row;
use crate::ui::components::new_job_link::new_job_link;
use crate::ui::components::other_ways::other_ways;
use crate::ui::components::waiting::waiting_link;
use crate::ui::islands::bulk::{self, Bulk};
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use crate::ui::pages::saved_views_bar::{Bar, saved_views_bar};
use query::JobsAddress;

#[component]
pub fn Jobs() -> impl IntoView {
    let (project, session) = (request::project(), request::session());
    let address = JobsAddress::read(&request::query());
    let refused = outcome_of(&[ArchiveJobs::PATH, UnarchiveJobs::PATH, TagJobs::PATH, UntagJobs::PATH]);
    page(async move {
        let JobsAddress { query, cursor, page } = address.clone();
        let (page, views) = try_join!(
            list_jobs(project.clone(), query, cursor, page),
            list_saved_views(project.clone(), None)
        )?;
        let waiting = request::budgets().await.filter(|budgets| budgets.waiting > 0);
        let waiting = waiting.map(|budgets| waiting_link(&project, budgets.waiting));
        let may_start = session.can_start_jobs();
        let actions = may_start.then(|| view! { {other_ways(&project)} {new_job_link(&project)} });
        let bar = Bar {
            project: &project,
            of: SavedViewPage::Jobs,
            views: &views,
            now: address.query.canonical(),
            role: session.role,
        };
        let bar = saved_views_bar(&bar, |view| format!("{}?{}", links::jobs(&project), view.query));
        Ok(view! {
            {page_head("Jobs", view! { "Every task for the documentation agent " {waiting} }, actions)}
            {bar}
            {refused}
            {list(&project, &address, &page, &session)}
        }
        .into_any())
    })
}

fn list(project: &str, address: &JobsAddress, page: &JobPage, session: &CurrentSession) -> AnyView {
    let may_file = session.can_start_jobs();
    let rows = page.jobs.iter().map(|job| {
        let check = may_file.then(|| check(job.id.as_str(), job.title()));
        job_row(job, check)
    });
    let put_away = !address.query.archived.is_empty();
    let bar = (may_file && !page.jobs.is_empty())
        .then(|| bulk_bar(project, put_away))
        .map(|bar| view! { <Bulk>{bar}</Bulk> }.into_any());
    let body = match (page.jobs.is_empty(), address.query.is_filtered() || address.is_further_on()) {
        (false, _) => view! { <ul class="job-list" aria-label="Jobs">{rows.collect_view()}</ul> }.into_any(),
        (true, true) => nothing_found(project),
        (true, false) => no_jobs_yet(project, may_file),
    };
    view! {
        <div data-region="filters">{filters::filters(project, &address.query, page, &session.username)}</div>
        // Not refreshed when a state changes, so that the list does not move while it is being read.
        <div data-region="list" data-when="posted">
            <div class="listing">{bar} {body}</div>
            {pager::pager(project, address, page)}
        </div>
    }
    .into_any()
}

/// What can be done with the chosen jobs. `put_away`: whether the list shows archived jobs.
fn bulk_bar(project: &str, put_away: bool) -> AnyView {
    let (path, undo, words, done) = match put_away {
        true => (UnarchiveJobs::PATH, ArchiveJobs::PATH, "Restore", "restored"),
        false => (ArchiveJobs::PATH, UnarchiveJobs::PATH, "Archive", "archived"),
    };
    view! {
        <form id=bulk::FORM class="bulk" method="post" action=TagJobs::PATH data-done="tagged" data-undo=UntagJobs::PATH>
            <input type="hidden" name="project" value=project.to_owned() />
            <button id=bulk::ALL type="button" class="button js-only">"Select page"</button>
            <div class="bulk-actions">
                <span class="bulk-count js-only" role="status"><span id=bulk::COUNT>"0"</span> " selected"</span>
                <button type="reset" class="button">"Clear"</button>
                <label class="visually-hidden" for="bulk-tag">"Tag"</label>
                <input id="bulk-tag" class="field bulk-tag" name="tag" maxlength="40" placeholder="Tag" autocomplete="off" />
                <button type="submit" class="button">"Add tag"</button>
                <button type="submit" class="button" formaction=path data-done=done data-undo=undo>
                    {icon(icon::ARCHIVED)} {words}
                </button>
            </div>
        </form>
    }
    .into_any()
}

/// What chooses a row. All of them belong to the form of [`Bulk`].
fn check(job: &str, title: &str) -> AnyView {
    view! {
        <input
            type="checkbox"
            class=format!("{} row-link", bulk::CHECK)
            name="jobs"
            value=job.to_owned()
            form=bulk::FORM
            autocomplete="off"
            aria-label=format!("Choose “{title}”")
        />
    }
    .into_any()
}

fn nothing_found(project: &str) -> AnyView {
    let clear = view! { <a class="button" href=links::jobs(project)>"Show all jobs"</a> }.into_any();
    empty("No job matches", "No job of this project fits the filters and the search.", clear).into_any()
}

/// The empty state. Also used by the overview.
pub(super) fn no_jobs_yet(project: &str, may_start: bool) -> AnyView {
    let example = "Check the quickstart against the current SDK and fix every step that no longer works.";
    let href = links::new_job(project, example, "");
    let start =
        may_start.then(|| view! { <a class="button" href=href>"Start with an example"</a> }).into_any();
    empty(
        "No jobs yet",
        "A job is a task for the documentation agent, written in plain words. It works on the repository by itself and opens a pull request for you to read.",
        start,
    ).into_any()
}
