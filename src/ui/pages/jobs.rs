//! `/p/{project}/jobs`: the list of jobs. What is filtered, searched and sorted stands in the address.

mod bulk;
mod filters;
mod pager;
mod query;
mod saved_views;

use leptos::prelude::*;

use crate::api::call::call;
use crate::api::jobs::ListJobs;
use crate::api::saved_views::GetSavedViews;
use crate::model::job::JobPage;
use crate::model::saved_view::SavedView;
use crate::ui::components::empty::empty;
use crate::ui::components::filed::filed;
use crate::ui::components::job_row::job_row;
use crate::ui::components::loading::{self, loaded};
use crate::ui::components::new_job_link::new_job_link;
use crate::ui::components::other_ways::other_ways;
use crate::ui::components::page_head::page_head;
use crate::ui::components::waiting::waiting;
use crate::ui::erase::{Erase, effect};
use crate::ui::links;
use crate::ui::state::address;
use crate::ui::state::asked::Asked;
use crate::ui::state::badges::Badges;
use crate::ui::state::filing::Filing;
use crate::ui::state::{budget, project, session};
use query::JobsAddress;

#[component]
pub fn Jobs() -> impl IntoView {
    let project = project::current();
    let params = address::query();
    let address = Memo::new(move |_| JobsAddress::read(&params.read()));
    let jobs = {
        let project = project.clone();
        Asked::on(
            move || address.with(|_| ()),
            move || {
                let JobsAddress { query, cursor, page } = address.get_untracked();
                call(ListJobs { project: project.clone(), query, cursor, page })
            },
        )
    };
    let views = {
        let project = project.clone();
        Asked::once(move || call(GetSavedViews { project: project.clone(), of: None }))
    };
    let session = session::get();
    let actions = [other_ways(&project, session), new_job_link(&project, session)].collect_view().into_any();
    let context = view! { "Every task for the documentation agent" {waiting(&project, budget::get())} };
    let filing = Filing::new(Callback::new(move |()| jobs.again()));
    // What is ticked before the page is interactive stays.
    let mut is_first = true;
    effect(move || {
        address.with(|_| ());
        if !std::mem::take(&mut is_first) {
            bulk::clear();
        }
    });
    let keeping = saved_views::Keeping::new(views);
    let kept = {
        let project = project.clone();
        move |views: Vec<SavedView>| {
            saved_views::saved_views(&project, &address.get().query, &views, session, keeping)
        }
    };
    let outcome = filed(filing, project.clone());
    let content = move |page| {
        let may_file = session::can_start_jobs(session);
        let me = session.get().and_then(Result::ok).map_or_else(String::new, |session| session.username);
        list(&project, &address.get_untracked(), page, may_file.then_some(filing), &me)
    };
    view! {
        {page_head("Jobs", context.into_any(), actions)}
        {loaded(views, loading::nothing, kept)}
        {outcome}
        {loaded(jobs, loading::rows, content)}
    }
    .erase()
}

/// `filing` for those who may file, `me` for who is signed in.
fn list(project: &str, address: &JobsAddress, page: JobPage, filing: Option<Filing>, me: &str) -> AnyView {
    let badges = Badges::get();
    let shown: Vec<_> = page.jobs.iter().map(|job| (job.state, badges.watch(job))).collect();
    let checks = |job: &str, title: &str| match filing {
        Some(_) => bulk::check(job, title),
        None => ().into_any(),
    };
    let rows = page
        .jobs
        .iter()
        .zip(&shown)
        .map(|(job, (_, badge))| job_row(job, badge.clone(), checks(job.id.as_str(), job.title())))
        .collect_view();
    let bar = filing.filter(|_| !page.jobs.is_empty()).map(|filing| {
        let put_away = !address.query.archived.is_empty();
        bulk::bar(project, filing, put_away)
    });
    let body = match (page.jobs.is_empty(), address.query.is_filtered() || address.is_further_on()) {
        (false, _) => view! { <ul class="job-list" aria-label="Jobs">{rows}</ul> }.erase(),
        (true, true) => nothing_found(project),
        (true, false) => no_jobs_yet(project, filing.is_some()),
    };
    let pager = pager::pager(project, address, &page);
    view! {
        {filters::filters(project, &address.query, &page, shown, me)}
        <div class="listing">{bar} {body}</div>
        {pager}
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
