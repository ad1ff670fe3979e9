//! Archiving and tags of a job.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::{Hidden, post_form};
use crate::ui::components::icon::{self, icon};
use crate::ui::components::tag_link::tag_link;
use crate::ui::components::time::ago;
use api::archive_and_tags::{ArchiveJobs, TagJobs, UnarchiveJobs, UntagJobs};
use model::job::Job;

/// The button in the head of the page.
pub(super) fn archive(job: &Job) -> AnyView {
    let (path, undo, words, done) = match job.archived_here {
        Some(_) => (UnarchiveJobs::PATH, ArchiveJobs::PATH, "Restore", "restored"),
        None => (ArchiveJobs::PATH, UnarchiveJobs::PATH, "Archive", "archived"),
    };
    let button = view! {
        <button type="submit" class="button" data-done=done data-undo=undo>{icon(icon::ARCHIVED)} {words}</button>
    };
    post_form("", path, which(job), button).into_any()
}

/// Who archived the job in Docket and when, if it is archived.
pub(super) fn archived_note(job: &Job) -> Option<AnyView> {
    let archived = job.archived_here.as_ref()?;
    let note = view! { <p class="context">"Archived by " {archived.by.clone()} " " {ago(archived.at)}</p> };
    Some(note.into_any())
}

/// The tags; `may_tag`: whether this person may change them.
pub(super) fn tags(job: &Job, may_tag: bool) -> AnyView {
    let tags = job.tags.iter().map(|tag| {
        let remove = may_tag.then(|| remove(job, tag));
        view! { <li data-key=tag.clone()>{tag_link(job.project.as_str(), tag)} {remove}</li> }
    });
    let none = (job.tags.is_empty() && !may_tag).then(|| view! { <span class="faint">"None"</span> });
    let add = may_tag.then(|| add(job));
    view! { <ul class="tags">{tags.collect_view()}</ul> {none} {add} }.into_any()
}

fn remove(job: &Job, tag: &str) -> AnyView {
    let mut hidden = which(job);
    hidden.push(("tag", tag.to_owned()));
    let label = format!("Remove the tag {tag}");
    let button = view! {
        <button type="submit" class="quiet" aria-label=label title="Remove" data-done="untagged" data-undo=TagJobs::PATH>
            {icon(icon::CLOSE)}
        </button>
    };
    post_form("", UntagJobs::PATH, hidden, button).into_any()
}

fn add(job: &Job) -> AnyView {
    let content = view! {
        <label class="visually-hidden" for="new-tag">"New tag"</label>
        <input id="new-tag" class="field" name="tag" required maxlength="40" placeholder="New tag" autocomplete="off" />
        <button type="submit" class="button" data-done="tagged" data-undo=UntagJobs::PATH>"Add tag"</button>
    };
    post_form("add-tag", TagJobs::PATH, which(job), content).into_any()
}

pub(super) fn which(job: &Job) -> Hidden {
    vec![("project", job.project.to_string()), ("jobs", job.id.to_string())]
}
