//! `/p/{project}/jobs/adopt`: following a job that was started elsewhere.

use std::sync::Arc;

use leptos::prelude::*;

use crate::api::jobs::AdoptJob;
use crate::error::{AppError, ErrorCode};
use crate::model::id::JobId;
use crate::ui::components::empty::empty;
use crate::ui::components::failure;
use crate::ui::components::loading::{self, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::components::post_form::{id_field, post_form, problems};
use crate::ui::components::submit_button::submit_button;
use crate::ui::erase::{Erase, shown};
use crate::model::links;
use crate::ui::state::post::Post;
use crate::ui::state::{project, session};

const MISTAKE: &str = "An id of the platform is 1 to 200 characters, without blanks, slashes, percent signs, question marks or hashes; a note has at most 32,768.";

#[component]
pub fn Adopt() -> impl IntoView {
    let project = project::current();
    let adopt = Post::to::<AdoptJob>(MISTAKE);
    let session = session::get();
    let content = {
        let project = project.clone();
        move || match session.get() {
            None => ().into_any(),
            Some(Ok(session)) if session.can_start_jobs() => form(adopt, &project),
            Some(Ok(_)) => not_for_viewers(&project),
            Some(Err(error)) => failure::panel(&error, session.retry()),
        }
    };
    view! {
        {page_head("Adopt a job", "A job of this project that was started elsewhere is followed here like any other".into_any(), ().into_any())}
        {suspended(loading::conversation, Arc::new(content))}
    }
    .into_any()
}

fn form(adopt: Post, project: &str) -> AnyView {
    let own = project.to_owned();
    let there = shown(move || adopt.problem().and_then(|error| here_already(&own, &error)).into_any());
    let note = view! {
        <div class="stack">
            <label class="field-label" for="note">"Note"</label>
            <textarea id="note" class="field prompt" name="note" rows="3" dir="auto" aria-describedby="note-hint"></textarea>
            <p class="hint" id="note-hint">
                "Optional: what it is about. The platform does not tell the prompt, so the note stands in its place."
            </p>
            <div class="send">{submit_button(adopt, "Adopt job", "Looking…")}</div>
        </div>
    }
    .into_any();
    let fields = [id_field(), note].collect_view().into_any();
    let form = post_form("stack narrow", adopt, vec![("project", project.to_owned())], fields);
    [problems(vec![adopt]), there, form].collect_view().into_any()
}

/// The way to the job that has the id, where the refusal names one. Only an id is taken from its text.
fn here_already(project: &str, error: &AppError) -> Option<AnyView> {
    if error.code != ErrorCode::Conflict {
        return None;
    }
    let href = match error.message.split(['/', ' ']).find_map(|word| word.parse::<JobId>().ok()) {
        Some(job) => links::job(project, job.as_str()),
        None => links::jobs(project),
    };
    Some(view! { <p class="pager"><a class="button" href=href>"Go to it"</a></p> }.into_any())
}

fn not_for_viewers(project: &str) -> AnyView {
    let back = view! { <a class="button" href=links::jobs(project)>"Back to the jobs"</a> }.into_any();
    empty(
        "Your role reads only",
        "Adopting jobs needs the role operator. An administrator can give it to you.",
        back,
    )
}
