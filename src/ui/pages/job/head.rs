//! The head of a job: its title, state, author and actions. The pull request is the most prominent one.

use leptos::prelude::*;

use crate::model::job::{Job, JobState};
use crate::model::links;
use crate::ui::components::job_status::job_status;
use crate::ui::components::pull_request::pull_request;
use crate::ui::components::time::ago;
use crate::ui::pages::job::archive_and_tags::{archive, archived_note};

/// Longer prompts are not put into an address.
const ADDRESS_CHARS: usize = 1500;

pub(super) fn head(job: &Job, may_send: bool) -> AnyView {
    let request = job.remote.as_ref().and_then(|remote| remote.pr_link.as_deref());
    let request = request.map(|link| pull_request(link, "button button-loud"));
    let again = (may_send && !job.is_moving()).then(|| {
        let words = if matches!(job.state, JobState::Rejected) { "Edit and send again" } else { "Run again" };
        view! { <a class="button" href=again(job)>{words}</a> }
    });
    let archive = may_send.then(|| archive(job));
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=links::jobs(job.project.as_str())>"Jobs"</a>
        </nav>
        <header class="page-head">
            <div class="page-title">
                <h1 class="job-heading" dir="auto" data-title-of=job.id.to_string()>{job.title().to_owned()}</h1>
                <p class="context">
                    {job_status(&job.badge(), false)} <span>"by " {job.author.clone()}</span> {ago(job.created_at)}
                    <a class="no-js" href="">"Refresh"</a>
                </p>
                {archived_note(job)}
            </div>
            <div class="actions">{archive} {again} {request}</div>
        </header>
    }
    .into_any()
}

/// The form for a new job with the prompt, pages and template of this one.
pub(super) fn again(job: &Job) -> String {
    let template = job.template.as_ref().is_some_and(|template| template.id.is_some());
    if template || job.prompt.chars().count() > ADDRESS_CHARS {
        return links::new_job_from(job.project.as_str(), job.id.as_str());
    }
    links::new_job(job.project.as_str(), &job.prompt, &job.paths.join(", "))
}
