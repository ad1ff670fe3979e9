//! The job's facts beside the conversation: the most needed ones first, then the platform's own.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::post_form;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::pull_request::{label, pull_request as pull_request_link};
use crate::ui::components::time::{ago, duration, elapsed};
use crate::ui::pages::copy_button::{Copied, copy_button};
use crate::ui::pages::job::archive_and_tags::{tags, which};
use crate::ui::pages::job::fact::fact;
use crate::ui::pages::job::pull_request;
use api::job_pages::{AddPage, RemovePage};
use model::job::{Job, JobState, PromptOutcome, RemoteJob, began_at, results};
use model::links;
use model::pull_request::files::PagesOfFiles;
use model::saved_template::UsedTemplate;
use model::source_links::SourceLinks;

/// `may_tag`: whether this person may tag the job. `pages_of_files`: the pages of the files that its pull request changes.
pub(super) fn facts(job: &Job, may_tag: bool, pages_of_files: &PagesOfFiles) -> AnyView {
    let remote = job.remote.as_ref();
    let project = job.project.as_str();
    let is_earlier = remote.is_some_and(|remote| remote.pr_link_is_earlier);
    let text = |value: Option<&String>| value.map(|value| view! { <span>{value.clone()}</span> }.into_any());
    let (repository, branch) = remote.map(source).unwrap_or_default();
    let last = results(job).into_iter().flatten().next_back();
    // The link is above and in the conversation.
    let result = last.as_ref().map(|result| match &result.outcome {
        PromptOutcome::PullRequest(link) => {
            view! { <span>{format!("{} opened", label(link))}</span> }.into_any()
        }
        other => outcome(other, ""),
    });
    view! {
        <aside class="facts" aria-label="Facts">
            <dl>
                {fact("Result", result)}
                {fact("Reported now", is_earlier.then(|| view! { <span>"No pull request"</span> }.into_any()))}
                {job.pull_request.as_ref().map(|request| pull_request::facts(job.project.as_str(), request, pages_of_files))}
                {fact("Time", time(job))}
                {fact("Pages", pages(job, may_tag))}
                {fact("Tags", Some(tags(job, may_tag)))}
                {fact("Template", job.template.as_ref().map(|used| template(project, used)))}
                {fact("Batch", job.batch.as_ref().map(|batch| batch_link(project, batch.as_str())))}
                {fact("Repository", repository)}
                {fact("Branch", branch)}
                {fact("Model", remote.and_then(|remote| text(remote.model.as_ref())))}
                {fact("Platform id", remote.map(|remote| id(&remote.id)))}
                {fact("Created", Some(ago(job.created_at).into_any()))}
                {fact("Accepted", began_at(&job.history, 0).map(|at| ago(at).into_any()))}
                {fact("Created on the platform", remote.and_then(|remote| remote.created_at).map(|at| ago(at).into_any()))}
                {fact("Archived", archived(job))}
            </dl>
        </aside>
    }
    .into_any()
}

/// When the platform archived the job. A date alone does not mean that it is archived.
fn archived(job: &Job) -> Option<AnyView> {
    let remote = job.remote.as_ref().filter(|_| job.state == JobState::Archived)?;
    remote.archived_at.map(|at| ago(at).into_any())
}

/// How long the first prompt took, or has taken so far, and how long it usually takes. `None` if the agent never accepted it.
fn time(job: &Job) -> Option<AnyView> {
    let began = began_at(&job.history, 0);
    let took = match (results(job).into_iter().next().flatten(), began) {
        (Some(first), _) => {
            let took = duration(first.ended_at.as_millis() - first.began_at.as_millis());
            Some(view! { <span>{took}</span> }.into_any())
        }
        (None, Some(began)) if job.state == JobState::Active => {
            Some(view! { <span>{elapsed(began)} " so far"</span> }.into_any())
        }
        _ => None,
    }?;
    let usual = job.usual_millis.map(usual).map(|usual| view! { <span class="faint">{usual}</span> });
    Some(view! { {took} {usual} }.into_any())
}

/// `usually 4 min 20 s`.
pub(super) fn usual(millis: i64) -> String {
    format!("usually {}", duration(millis))
}

/// The result of a prompt, as text. `of`: the prompt, for the link's accessible name.
pub(super) fn outcome(outcome: &PromptOutcome, of: &str) -> AnyView {
    match outcome {
        PromptOutcome::PullRequest(link) => {
            view! { <span>{pull_request_link(link, "result-link", of)} " opened"</span> }.into_any()
        }
        PromptOutcome::SamePullRequest(link) => {
            let may = format!("No new pull request. {} may have changed", label(link));
            view! { <span>{may}</span> }.into_any()
        }
        PromptOutcome::NoChanges => view! { <span>"No changes"</span> }.into_any(),
        PromptOutcome::PublishedDirectly => view! { <span>"Published directly"</span> }.into_any(),
        PromptOutcome::Finished => view! { <span>"Finished"</span> }.into_any(),
        PromptOutcome::Failed => view! { <span>"Failed"</span> }.into_any(),
    }
}

/// The pages, with links to their reports. `may_remove`: whether this person may remove them.
fn pages(job: &Job, may_remove: bool) -> Option<AnyView> {
    let pages = job.paths.iter().map(|path| {
        let href = links::page_report(job.project.as_str(), path);
        let remove = may_remove.then(|| remove_page(job, path));
        view! {
            <li data-key=path.clone()>
                <a class="tag tag-page" href=href title="Page views">{path.clone()}</a>
                {remove}
            </li>
        }
    });
    (!job.paths.is_empty()).then(|| view! { <ul class="tags">{pages.collect_view()}</ul> }.into_any())
}

fn remove_page(job: &Job, path: &str) -> AnyView {
    let mut hidden = which(job);
    hidden.push(("path", path.to_owned()));
    let label = format!("Remove the page {path}");
    let button = view! {
        <button
            type="submit"
            class="quiet"
            aria-label=label
            title="Remove"
            data-done="no longer about this page"
            data-undo=AddPage::PATH
        >
            {icon(icon::CLOSE)}
        </button>
    };
    post_form("", RemovePage::PATH, hidden, button).into_any()
}

fn batch_link(project: &str, batch: &str) -> AnyView {
    view! { <a href=links::batch(project, batch)>"View the batch"</a> }.into_any()
}

/// The repository and the branch, as links where their URLs are known.
fn source(remote: &RemoteJob) -> (Option<AnyView>, Option<AnyView>) {
    let source = SourceLinks::of(remote);
    let link = |text: Option<&String>, href: Option<String>| {
        text.cloned().map(|text| match href {
            Some(href) => {
                view! { <a href=href target="_blank" rel="noopener noreferrer">{text}</a> }.into_any()
            }
            None => view! { <span>{text}</span> }.into_any(),
        })
    };
    (link(remote.repository.as_ref(), source.repository), link(remote.git_ref.as_ref(), source.branch))
}

fn template(project: &str, UsedTemplate { id, name }: &UsedTemplate) -> AnyView {
    match id {
        Some(_) => view! { <a href=links::templates(project) dir="auto">{name.clone()}</a> }.into_any(),
        None => view! { <bdi>{name.clone()}</bdi> <span class="faint">"(deleted)"</span> }.into_any(),
    }
}

fn id(id: &str) -> AnyView {
    let content = view! { <span title="Copy">{icon(icon::COPY)}</span> <span class="visually-hidden">"Copy the platform id"</span> };
    view! {
        <code class="upstream-id">{id.to_owned()}</code>
        {copy_button("quiet", Copied::Text(id.to_owned()), "Id copied", content)}
    }
    .into_any()
}
