//! `/p/{project}/jobs`: the list of jobs. What is filtered and searched stands in the address.

mod filters;
mod query;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::api::call::call;
use crate::api::jobs::ListJobs;
use crate::model::job::JobPage;
use crate::ui::components::empty::empty;
use crate::ui::components::job_row::job_row;
use crate::ui::components::loading::{self, loaded};
use crate::ui::components::new_job_link::new_job_link;
use crate::ui::components::other_ways::other_ways;
use crate::ui::components::page_head::page_head;
use crate::ui::components::waiting::waiting;
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::asked::Asked;
use crate::ui::state::badges::Badges;
use crate::ui::state::{budget, project, session};
use query::JobsQuery;

#[component]
pub fn Jobs() -> impl IntoView {
    let project = project::current();
    let query = use_query_map();
    let query = Memo::new(move |_| JobsQuery::read(&query.read()));
    let jobs = {
        let project = project.clone();
        Asked::on(
            move || query.with(|_| ()),
            move || {
                let JobsQuery { status, q, author, cursor } = query.get_untracked();
                call(ListJobs { project: project.clone(), status, q, author, cursor })
            },
        )
    };
    let session = session::get();
    let actions = [other_ways(&project, session), new_job_link(&project, session)].collect_view().into_any();
    let context = view! {
        "Every task for the documentation agent, newest first"
        {waiting(&project, budget::get())}
    };
    let content = move |page| list(&project, &query.get_untracked(), page, session::can_start_jobs(session));
    view! {
        {page_head(
            "Jobs",
            context.into_any(),
            actions,
        )}
        {loaded(jobs, loading::rows, content)}
    }
    .erase()
}

fn list(project: &str, query: &JobsQuery, page: JobPage, may_start: bool) -> AnyView {
    let badges = Badges::get();
    let shown: Vec<_> = page.jobs.iter().map(|job| (job.state, badges.watch(job))).collect();
    let rows =
        page.jobs.iter().zip(&shown).map(|(job, (_, badge))| job_row(job, badge.clone())).collect_view();
    let older = page.next.map(|cursor| JobsQuery { cursor: Some(cursor), ..query.clone() }.href(project));
    let newest = query.cursor.is_some().then(|| JobsQuery { cursor: None, ..query.clone() }.href(project));
    let body = match (page.jobs.is_empty(), query.is_filtered()) {
        (false, _) => view! { <ul class="job-list" aria-label="Jobs">{rows}</ul> }.erase(),
        (true, true) => nothing_found(project),
        (true, false) => no_jobs_yet(project, may_start),
    };
    view! {
        {filters::filters(project, query, page.counts, shown)}
        {body}
        <nav class="pager" aria-label="Pages of the list">
            {newest.map(|href| view! { <a class="button" href=href>"Newest"</a> }.erase())}
            {older.map(|href| view! { <a class="button" rel="next" href=href>"Older"</a> }.erase())}
            <a class="button no-js" href="">"Refresh"</a>
        </nav>
    }
    .erase()
}

fn nothing_found(project: &str) -> AnyView {
    let clear = view! { <a class="button" href=links::jobs(project)>"Show all jobs"</a> }.erase();
    empty("No job matches", "No job of this project fits the filters and the search.", clear)
}

/// Also used by the overview.
pub fn no_jobs_yet(project: &str, may_start: bool) -> AnyView {
    let example = "Check the quickstart against the current SDK and fix every step that no longer works.";
    let href = links::new_job(project, example, "");
    let start = may_start
        .then(|| view! { <a class="button" href=href>"Start with an example"</a> }.erase())
        .into_any();
    empty(
        "No jobs yet",
        "A job is a task for the documentation agent, written in plain words. It works on the repository by itself and opens a pull request for you to read.",
        start,
    )
}
