//! `/p/{project}/jobs/new`: the form that starts a job. What is typed survives errors, reloads and an expired session.

mod cost;

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::api::jobs::{CreateJob, get_job, job_form};
use crate::error::AppError;
use crate::model::job::JobForm;
use crate::ui::components::loading::{self, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::components::prompt_field::{PromptField, prompt_field};
use crate::ui::components::{empty, failure};
use crate::ui::links;
use crate::ui::state::drafts::Draft;
use crate::ui::state::{budget, outcome, project, session};

#[component]
pub fn NewJob() -> impl IntoView {
    let project = project::current();
    let query = use_query_map().get_untracked();
    let asked = |name: &str| query.get(name).unwrap_or_default();
    let (prompt, path, from) = (asked("prompt"), asked("path"), query.get("from"));
    let brought = !prompt.is_empty() || from.is_some();

    let form = {
        let project = project.clone();
        Resource::new(|| (), move |()| prepared(project.clone(), from.clone()))
    };
    let create = ServerAction::<CreateJob>::new();
    let draft = Draft::of(&project, None);
    draft.restore(brought);
    outcome::follow(create.value().into(), draft, form, |_| {});

    let session = session::get();
    let page = {
        let project = project.clone();
        move || match (form.get(), session.get()) {
            (Some(Ok(form)), Some(Ok(session))) if session.can_start_jobs() => {
                let text = if prompt.is_empty() { form.draft } else { prompt.clone() };
                composer(create, project.clone(), form.intent.into(), text, path.clone(), draft)
            }
            (Some(Ok(_)), Some(Ok(_))) => not_for_viewers(&project),
            (Some(Err(error)), _) | (_, Some(Err(error))) => {
                failure::panel(&error, Some(Callback::new(move |()| form.refetch())))
            }
            _ => ().into_any(),
        }
    };
    view! {
        {page_head("New job", "Tell the agent what to change. It works by itself and opens a pull request.".into_any(), ().into_any())}
        <div class="columns">
            <div>{suspended(loading::conversation, Arc::new(page))}</div>
            {advice()}
        </div>
    }
    .into_any()
}

/// A fresh form; its text is that of the job `from`, if the page was asked for one.
async fn prepared(project: String, from: Option<String>) -> Result<JobForm, AppError> {
    let mut form = job_form(project.clone(), None).await?;
    if let Some(job) = from {
        form.draft = get_job(project, job).await?.prompt;
    }
    Ok(form)
}

fn composer(
    create: ServerAction<CreateJob>,
    project: String,
    intent: String,
    text: String,
    path: String,
    draft: Draft,
) -> AnyView {
    let answer = create.value();
    let pending = create.pending();
    let field = PromptField {
        id: "prompt",
        label: "Prompt",
        placeholder: "Rewrite the quickstart for version 3 of the SDK. Keep the page’s structure, and mention the new sign-in.",
        rows: 10,
        text,
        draft,
    };
    view! {
        {move || failure::of_form(answer.get().and_then(Result::err))}
        <ActionForm action=create attr:class="stack">
            <input type="hidden" name="project" value=project />
            <input type="hidden" name="intent" value=intent autocomplete="off" />
            {prompt_field(field)}
            <label class="field-label" for="paths">"Pages"</label>
            <input
                id="paths"
                class="field"
                name="paths"
                value=path
                placeholder="/guides/quickstart, /api/authentication"
                autocomplete="off"
                spellcheck="false"
                aria-describedby="paths-hint"
            />
            <p class="hint" id="paths-hint">"Optional: the pages it is about, separated by commas."</p>
            <div class="send">
                <button type="submit" class="button button-primary" disabled=move || pending.get()>
                    {move || if pending.get() { "Starting…" } else { "Start job" }}
                </button>
                <span class="faint js-only"><kbd>"Ctrl"</kbd> " " <kbd>"Enter"</kbd></span>
                {cost::cost(budget::get())}
            </div>
        </ActionForm>
    }
    .into_any()
}

fn not_for_viewers(project: &str) -> AnyView {
    let back = view! { <a class="button" href=links::jobs(project)>"Back to the jobs"</a> }.into_any();
    empty::empty(
        "Your role reads only",
        "Starting jobs needs the role operator. An administrator can give it to you.",
        back,
    )
}

fn advice() -> AnyView {
    view! {
        <aside class="advice" aria-label="What happens next">
            <h2>"What happens next"</h2>
            <ol>
                <li>"Your text is saved first, then sent to the agent exactly once."</li>
                <li>"The agent works on the repository. You can leave; the badge keeps up by itself."</li>
                <li>"When files changed, a pull request appears here. Ask for more with a follow-up."</li>
            </ol>
            <h2>"A good prompt"</h2>
            <ul>
                <li>"names the pages and what is wrong with them,"</li>
                <li>"says what must stay as it is,"</li>
                <li>"and is small enough to review in one sitting."</li>
            </ul>
        </aside>
    }
    .into_any()
}
