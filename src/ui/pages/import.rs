//! `/p/{project}/jobs/import`: importing a job that was started elsewhere.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::{as_content, id_field, post_form, submit_button};
use crate::ui::components::read_only::read_only;
use crate::ui::pages::outcome::outcome;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request;
use api::jobs::ImportJob;

#[component]
pub fn Import() -> impl IntoView {
    let project = request::project();
    let content = match request::session().can_start_jobs() {
        true => form(&project),
        false => read_only(
            &project,
            "Importing jobs needs the operator role. An administrator can give it to you.",
        ),
    };
    view! {
        {page_head("Import a job", "Track a job of this project that was started elsewhere.", ())}
        {content}
    }
}

fn form(project: &str) -> AnyView {
    let refused = request::flash(ImportJob::PATH);
    let typed = |name| refused.as_ref().map(|refused| refused.typed(name).to_owned()).unwrap_or_default();
    let fields = view! {
        {id_field(typed("remote_id"))}
        <div class="stack">
            <label class="field-label" for="note">"Note"</label>
            <textarea
                id="note"
                class="field prompt"
                name="note"
                rows="3"
                dir="auto"
                aria-describedby="note-hint"
                inner_html=as_content(&typed("note"))
            ></textarea>
            <p class="hint" id="note-hint">
                "Optional: what the job is about. The platform does not share its prompt, so the note is shown instead."
            </p>
            <div class="send">{submit_button("Import job")}</div>
        </div>
    };
    view! {
        {refused.as_ref().and_then(outcome)}
        {post_form("stack narrow", ImportJob::PATH, vec![("project", project.to_owned())], fields)}
    }
    .into_any()
}
