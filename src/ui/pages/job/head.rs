//! The head of a job: its title, state and author, the main next action, and the others in a menu. Actions have their own line,
//! so that new ones do not narrow the title.

use leptos::prelude::*;

use crate::ui::components::dismiss::{dismiss, undismiss};
use crate::ui::components::menu::{MenuButton, menu};
use crate::ui::components::next_action;
use crate::ui::components::page_room::escaped_len;
use crate::ui::components::pull_request::pull_request;
use crate::ui::components::time::ago;
use crate::ui::pages::copy_button::{Copied, copy_button};
use crate::ui::pages::job::archive_and_tags::{archive, archived_note};
use crate::ui::pages::linked_status::job_status;
use model::job::{Job, JobState, LinkedJob, cut};
use model::links;
use model::title::title;

/// A longer prompt is shown below the title too, because the title is cut after two lines.
const TITLE_CHARS: usize = 120;

/// A longer prompt has no button that copies it, because the page would have it twice. People select the text.
const COPIED_MAX: usize = 64 * 1024;

/// The button that copies the prompt has it, too.
pub(super) fn size(job: &Job) -> usize {
    Some(escaped_len(&job.prompt)).filter(|size| *size <= COPIED_MAX).unwrap_or_default()
}

pub(super) fn head(job: &Job, may_send: bool) -> AnyView {
    let (project, id) = (job.project.as_str(), job.id.as_str());
    let remote = job.remote.as_ref();
    let request = remote.and_then(|remote| remote.pr_link.as_deref());
    let request = request.map(|link| pull_request(link, "button button-loud", ""));
    // The platform named it before, and names none now.
    let earlier = remote.filter(|remote| remote.pr_link_is_earlier);
    let earlier = earlier.map(|_| view! { <span class="faint">"Earlier:"</span> });
    let is_dismissable = may_send && job.needs_attention;
    let dismiss = is_dismissable.then(|| dismiss(project, id));
    let again = (may_send && job.has_ended() && !offers_again(job)).then(|| again_link(job, "button"));
    let changes = may_send.then(|| {
        let undismiss = job.dismissed.as_ref().map(|_| undismiss(project, id));
        let template = links::template_of_job(project, id);
        view! { {again} {undismiss} <a class="button" href=template>"Save as template"</a> {archive(job)} }
    });
    let button = MenuButton { class: "button", label: Some("More actions"), content: "⋯".into_any() };
    let prompt = (escaped_len(&job.prompt) <= COPIED_MAX).then(|| Copied::Text(job.prompt.clone()));
    let prompt = prompt.map(|prompt| copy_button("button", prompt, "Prompt copied", "Copy prompt"));
    let copies = view! {
        {copy_button("button", Copied::Page(links::job(project, id)), "Link copied", "Copy link")}
        {prompt}
    };
    let menu = menu(
        "job-actions",
        if may_send { "more-menu" } else { "more-menu js-only" },
        button,
        view! { {copies} {changes} },
    );
    // The title is not cut if it is the whole prompt.
    let heading = if is_title(&job.prompt) { "job-heading job-heading-whole" } else { "job-heading" };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            <a href=links::jobs(project)>"Jobs"</a>
        </nav>
        <header class="page-head job-head">
            <h1 class=heading dir="auto" data-title-of=job.id.to_string()>{short_title(job)}</h1>
            <div class="page-title">
                <p class="context">
                    {job_status(&job.badge())} <span>"by " {job.author.clone()}</span> {ago(job.created_at)}
                    <a class="no-js" href="">"Refresh"</a>
                </p>
                {archived_note(job)}
                {dismissed_note(job)}
                {retries(job)}
            </div>
            <div class="actions">{earlier} {request} {dismiss} {menu}</div>
        </header>
    }
    .into_any()
}

/// The title, cut as in lists: its first line can be the whole prompt.
pub(super) fn short_title(job: &Job) -> String {
    let mut title = job.title();
    cut(&mut title);
    title
}

/// Whether the title contains the whole prompt.
pub(super) fn is_title(prompt: &str) -> bool {
    prompt.trim() == title(prompt) && prompt.chars().count() <= TITLE_CHARS
}

/// Whether the explanation of the job's state has a link to start it again.
pub(super) fn offers_again(job: &Job) -> bool {
    matches!(job.state, JobState::Rejected | JobState::Cancelled | JobState::Failed)
}

/// Who dismissed the job and when, if it is dismissed.
fn dismissed_note(job: &Job) -> Option<AnyView> {
    let dismissed = job.dismissed.as_ref()?;
    let note =
        view! { <p class="context">"Dismissed by " {dismissed.by.clone()} " " {ago(dismissed.at)}</p> };
    Some(note.into_any())
}

/// The job that this one retries, and the retries of this one.
fn retries(job: &Job) -> AnyView {
    let project = job.project.as_str();
    let origin = job.retry_of.as_ref().map(|origin| linked(project, "Retry of ", origin));
    let retries = job.retries.iter().map(|retry| linked(project, "Retried as ", retry));
    let (shown, total) = (job.retries.len(), job.retries_total);
    let cut = (total as usize > shown)
        .then(|| view! { <p class="context">{format!("The newest {shown} of {total} retries.")}</p> });
    let resolved = job
        .resolved_by
        .as_ref()
        .map(|_| view! { <p class="context">"Resolved: a retry opened a pull request."</p> });
    view! { {origin} {retries.collect_view()} {cut} {resolved} }.into_any()
}

fn linked(project: &str, what: &'static str, job: &LinkedJob) -> AnyView {
    let id = job.status.id.as_str();
    view! {
        <p class="context retry">
            {what}
            <a dir="auto" data-title-of=id.to_owned() href=links::job(project, id)>{job.title.clone()}</a>
            {job_status(&job.status)}
            {ago(job.created_at)}
        </p>
    }
    .into_any()
}

/// The link to the form for a new job with the prompt, pages and template of this one.
pub(super) fn again_link(job: &Job, class: &'static str) -> AnyView {
    let words = next_action::again(job);
    let href = links::new_job_from(job.project.as_str(), job.id.as_str());
    view! { <a class=class href=href>{words}</a> }.into_any()
}
