//! The job's metadata beside the conversation.

use leptos::prelude::*;

use crate::model::job::Job;
use crate::model::links;
use crate::model::saved_template::UsedTemplate;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::tag_link::tag_link;
use crate::ui::components::time::ago;
use crate::ui::islands::buttons;
use crate::ui::pages::job::archive_and_tags::tags;

/// `may_tag`: whether this person may tag the job.
pub(super) fn facts(job: &Job, may_tag: bool) -> AnyView {
    let remote = job.remote.as_ref();
    let text = |value: Option<&String>| value.map(|value| view! { <span>{value.clone()}</span> }.into_any());
    let pages = job.paths.iter().map(|path| tag_link(job.project.as_str(), path)).collect_view();
    view! {
        <aside class="facts" aria-label="Facts">
            <dl>
                {fact("Model", remote.and_then(|remote| text(remote.model.as_ref())))}
                {fact("Repository", remote.and_then(|remote| text(remote.repository.as_ref())))}
                {fact("Branch", remote.and_then(|remote| text(remote.git_ref.as_ref())))}
                {fact("Platform id", remote.map(|remote| id(&remote.id)))}
                {fact("Pages", (!job.paths.is_empty()).then(|| pages.into_any()))}
                {fact("Template", job.template.as_ref().map(|used| template(job.project.as_str(), used)))}
                {fact("Tags", Some(tags(job, may_tag)))}
                {fact("Created", Some(ago(job.created_at).into_any()))}
                {fact("Accepted", remote.and_then(|remote| remote.created_at).map(|at| ago(at).into_any()))}
                {fact("Archived", remote.and_then(|remote| remote.archived_at).map(|at| ago(at).into_any()))}
            </dl>
        </aside>
    }
    .into_any()
}

/// Nothing without a value.
fn fact(name: &'static str, value: Option<AnyView>) -> AnyView {
    match value {
        Some(value) => view! { <div><dt>{name}</dt> <dd>{value}</dd></div> }.into_any(),
        None => ().into_any(),
    }
}

fn template(project: &str, UsedTemplate { id, name }: &UsedTemplate) -> AnyView {
    match id {
        Some(_) => view! { <a href=links::templates(project) dir="auto">{name.clone()}</a> }.into_any(),
        None => view! { <bdi>{name.clone()}</bdi> <span class="faint">"(deleted)"</span> }.into_any(),
    }
}

fn id(id: &str) -> AnyView {
    view! {
        <code class="upstream-id">{id.to_owned()}</code>
        <button
            type="button"
            class="quiet js-only"
            data-button=buttons::COPY
            data-copy=id.to_owned()
            data-done="Id copied"
            title="Copy"
            aria-label="Copy the platform id"
        >
            {icon(icon::COPY)}
        </button>
    }
    .into_any()
}
