//! `/p/{project}/jobs/new`: the form that starts a job. What is typed survives errors, reloads and an expired session.

mod cost;

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::api::call::call;
use crate::api::jobs::{CreateJob, GetJob, GetJobForm};
use crate::ui::components::loading::{self, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::components::prompt_field::{MISTAKE, PromptField, prompt_field};
use crate::ui::components::submit_button::submit_button;
use crate::ui::components::{empty, failure, queue_choice};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::asked::Asked;
use crate::ui::state::drafts::Draft;
use crate::ui::state::post::Post;
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
        Asked::once(move || call(GetJobForm { project: project.clone(), job: None }))
    };
    let source = from.map(|job| {
        let project = project.clone();
        Asked::once(move || call(GetJob { project: project.clone(), job: job.clone() }))
    });
    let create = Post::to::<CreateJob>(MISTAKE);
    let draft = Draft::of(&project, None);
    draft.restore(brought);
    outcome::follow(create, draft, form, |_| {});

    let session = session::get();
    let page = {
        let project = project.clone();
        move || {
            // All three are read, so that the Suspense waits for all of them.
            let (fresh, session) = (form.get(), session.get());
            let copied = source.map_or(Some(Ok(None)), |job| job.get().map(|job| job.map(Some)));
            let (Some(fresh), Some(session), Some(copied)) = (fresh, session, copied) else {
                return ().into_any();
            };
            match (fresh, session, copied) {
                (Ok(_), Ok(session), _) if !session.can_start_jobs() => not_for_viewers(&project),
                (Ok(fresh), Ok(_), Ok(copied)) => {
                    let kept = copied.map_or(fresh.draft, |job| job.prompt);
                    let text = if prompt.is_empty() { kept } else { prompt.clone() };
                    composer(create, project.clone(), fresh.intent.into(), text, path.clone(), draft)
                }
                (Err(error), ..) | (_, Err(error), _) => failure::panel(&error, form.retry()),
                (.., Err(error)) => failure::panel(&error, source.map_or(form.retry(), Asked::retry)),
            }
        }
    };
    view! {
        {page_head("New job", "Tell the agent what to change. It works by itself and opens a pull request.".into_any(), ().into_any())}
        <div class="columns">
            <div>{suspended(loading::conversation, Arc::new(page))}</div>
            {advice(&project)}
        </div>
    }
    .erase()
}

fn composer(
    create: Post,
    project: String,
    intent: String,
    text: String,
    path: String,
    draft: Draft,
) -> AnyView {
    let field = PromptField {
        id: "prompt",
        label: "Prompt",
        placeholder: "Rewrite the quickstart for version 3 of the SDK. Keep the page’s structure, and mention the new sign-in.",
        rows: "10",
        text,
        draft,
    };
    view! {
        {move || failure::of_form(create.problem())}
        <form class="stack" method="post" action=create.url on:submit=create.submitting()>
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
                {submit_button(create, "Start job", "Starting…")}
                {queue_choice::button(create)}
                <span class="faint js-only"><kbd>"Ctrl"</kbd> " " <kbd>"Enter"</kbd></span>
                {cost::cost(budget::get())}
                {queue_choice::checkbox(budget::get(), |budgets| budgets.creates)}
            </div>
        </form>
    }
    .erase()
}

fn not_for_viewers(project: &str) -> AnyView {
    let back = view! { <a class="button" href=links::jobs(project)>"Back to the jobs"</a> }.erase();
    empty::empty(
        "Your role reads only",
        "Starting jobs needs the role operator. An administrator can give it to you.",
        back,
    )
}

fn advice(project: &str) -> AnyView {
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
            <h2>"Other ways"</h2>
            <ul>
                <li><a href=links::new_batch(project, "")>"The same for many pages"</a></li>
                <li><a href=links::adopt(project)>"Adopt a job that was started elsewhere"</a></li>
            </ul>
        </aside>
    }
    .erase()
}
