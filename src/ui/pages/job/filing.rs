//! What people do with a job for themselves: its tags, and putting it away.

use leptos::prelude::*;

use crate::model::job::Job;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::moment::ago;
use crate::ui::components::tag_link::tag_link;

use crate::ui::state::filing::{ARCHIVE, Filing, TAG, UNARCHIVE, UNTAG};

/// The button in the head of the page.
pub(super) fn archive(job: &Job, filing: Filing) -> AnyView {
    let (url, words) =
        if job.archived_here.is_some() { (UNARCHIVE, "Bring back") } else { (ARCHIVE, "Archive") };
    view! {
        <form method="post" action=url on:submit=filing.submitting()>
            {which(job)}
            <button type="submit" class="button">{icon(icon::ARCHIVED)} {words}</button>
        </form>
    }
    .into_any()
}

/// Says by whom and when it was put away, if it was.
pub(super) fn put_away(job: &Job) -> AnyView {
    let Some(archived) = job.archived_here.clone() else { return ().into_any() };
    view! { <p class="context">"Archived here by " {archived.by} " " {ago(archived.at)}</p> }.into_any()
}

/// The tags; `filing` for those who may change them.
pub(super) fn tags(job: &Job, filing: Option<Filing>) -> AnyView {
    let tags = job.tags.iter().map(|tag| {
        let remove = filing.map(|filing| {
            view! {
                <form method="post" action=UNTAG on:submit=filing.submitting()>
                    {which(job)}
                    <input type="hidden" name="tag" value=tag.clone() />
                    <button type="submit" class="quiet" aria-label=format!("Remove the tag {tag}") title="Remove">
                        {icon(icon::CLOSE)}
                    </button>
                </form>
            }
            .into_any()
        });
        view! { <li>{tag_link(job.project.as_str(), tag)} {remove}</li> }.into_any()
    });
    let add = filing.map(|filing| {
        view! {
            <form class="add-tag" method="post" action=TAG on:submit=filing.submitting()>
                {which(job)}
                <label class="visually-hidden" for="new-tag">"New tag"</label>
                <input id="new-tag" class="field" name="tag" required maxlength="40" placeholder="New tag" autocomplete="off" />
                <button type="submit" class="button">"Add tag"</button>
            </form>
        }
        .into_any()
    });
    let none =
        (job.tags.is_empty() && add.is_none()).then(|| view! { <span class="faint">"None"</span> }.into_any());
    view! { <ul class="tags">{tags.collect_view()}</ul> {none} {add} }.into_any()
}

fn which(job: &Job) -> AnyView {
    view! {
        <input type="hidden" name="project" value=job.project.to_string() />
        <input type="hidden" name="jobs" value=job.id.to_string() />
    }
    .into_any()
}
