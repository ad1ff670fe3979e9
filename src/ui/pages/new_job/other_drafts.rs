//! The person's drafts of other forms for a new job: each can be opened or discarded, with and without JavaScript.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::{confirm, post_form};
use crate::ui::components::time::ago;
use crate::ui::islands::prompt_form::{BASE, FORM};
use api::jobs::SaveDraft;
use model::draft::OtherDraft;
use model::id::FormKey;
use model::links;

/// `template_name`: returns the name of a template in the project.
pub(super) fn other_drafts(
    project: &str,
    drafts: &[OtherDraft],
    template_name: impl Fn(&str) -> Option<String>,
) -> AnyView {
    let list = (!drafts.is_empty()).then(|| {
        let entries = drafts.iter().map(|draft| entry(project, draft, template_name(&draft.template)));
        view! {
            <details class="other-drafts">
                <summary>{format!("Other drafts ({})", drafts.len())}</summary>
                <ul aria-label="Other drafts">{entries.collect_view()}</ul>
            </details>
        }
    });
    view! { <div data-region="drafts" data-when="posted">{list}</div> }.into_any()
}

fn entry(project: &str, draft: &OtherDraft, template: Option<String>) -> AnyView {
    let key = draft.form.as_ref().map(FormKey::as_str).unwrap_or_default();
    let template = template.map(|name| view! { "Template: " <bdi>{name}</bdi> " · " });
    let pages = (!draft.paths.is_empty()).then(|| view! { <bdi>{draft.paths.clone()}</bdi> " · " });
    let hidden = vec![
        ("project", project.to_owned()),
        (FORM, key.to_owned()),
        (BASE, draft.saved_at.as_millis().to_string()),
        ("text", String::new()),
    ];
    let button = view! { <button type="submit" class="button" data-done="Draft discarded">"Discard this draft"</button> };
    view! {
        // A new version has a new key, which closes the confirmation.
        <li data-key=format!("{key}/{}", draft.saved_at.as_millis())>
            <p class="other-draft-text" dir="auto">{draft.excerpt.clone()}</p>
            <p class="hint">{template} {pages} {ago(draft.saved_at)}</p>
            <div class="choices">
                <a class="button" href=links::new_job_draft(project, key)>"Restore"</a>
                {confirm("Discard…", post_form("stack", SaveDraft::PATH, hidden, button))}
            </div>
        </li>
    }
    .into_any()
}
