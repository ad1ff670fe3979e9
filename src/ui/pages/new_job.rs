//! `/p/{project}/jobs/new`: the form that starts a job. What is typed survives errors, reloads and an expired session.

mod advice;
mod composer;
mod cost;
mod pick;
mod similar;

use std::sync::Arc;

use leptos::prelude::*;

use crate::api::call::call;
use crate::api::jobs::{CreateJob, GetJob, GetJobForm, SimilarJobs};
use crate::api::templates::ListTemplates;
use crate::error::ErrorCode;
use crate::ui::components::loading::{self, nothing, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::components::{empty, failure};

use crate::model::links;
use crate::ui::state::address;
use crate::ui::state::asked::Asked;
use crate::ui::state::drafts::Draft;
use crate::ui::state::limits::prompt_mistake;
use crate::ui::state::post::Post;
use crate::ui::state::{outcome, project, session};
use composer::Brought;
use pick::Pick;

#[component]
pub fn NewJob() -> impl IntoView {
    let project = project::current();
    let query = address::query().get_untracked();
    let asked = |name: &str| query.get(name).unwrap_or_default();
    let (prompt, path, from) = (asked("prompt"), asked("path"), query.get("from"));
    let brought = !prompt.is_empty() || from.is_some() || query.get("template").is_some();

    let form = {
        let project = project.clone();
        Asked::once(move || call(GetJobForm { project: project.clone(), job: None }))
    };
    let templates = {
        let project = project.clone();
        Asked::once(move || call(ListTemplates { project: project.clone() }))
    };
    let source = from.map(|job| {
        let project = project.clone();
        Asked::once(move || call(GetJob { project: project.clone(), job: job.clone() }))
    });
    let create = Post::to::<CreateJob>(&prompt_mistake());
    let draft = Draft::of(&project, None);
    let refusal = create.refusal();
    draft.restore(brought && refusal.is_none());
    let similar = (refusal == Some(ErrorCode::SimilarJob)).then(|| {
        let project = project.clone();
        Asked::once(move || call(SimilarJobs { project: project.clone(), prompt: None, paths: None }))
    });
    outcome::follow(create, draft, form, |_| {});
    let pick = Pick::of(&project, &query, draft);

    let session = session::get();
    let page = {
        let project = project.clone();
        move || {
            // All of them are read, so that the Suspense waits for all of them.
            let (fresh, session, saved) = (form.get(), session.get(), templates.get());
            let copied = source.map_or(Some(Ok(None)), |job| job.get().map(|job| job.map(Some)));
            let similar = similar.map_or(Some(None), |jobs| jobs.get().map(Result::ok));
            let (Some(fresh), Some(session), Some(saved), Some(copied), Some(similar)) =
                (fresh, session, saved, copied, similar)
            else {
                return ().into_any();
            };
            match (fresh, session, copied) {
                (Ok(_), Ok(session), _) if !session.can_start_jobs() => not_for_viewers(&project),
                (Ok(fresh), Ok(_), Ok(copied)) => {
                    let brought = Brought {
                        prompt: prompt.clone(),
                        path: path.clone(),
                        filled: pick.filled(&saved.unwrap_or_default()),
                        copied,
                        was_refused: refusal.is_some(),
                        similar,
                    };
                    composer::composer(create, project.clone(), fresh, brought, pick, draft)
                }
                (Err(error), ..) | (_, Err(error), _) => failure::panel(&error, form.retry()),
                (.., Err(error)) => failure::panel(&error, source.map_or(form.retry(), Asked::retry)),
            }
        }
    };
    let beside = move || match (templates.get(), session::can_start_jobs(session)) {
        (Some(Ok(templates)), true) => pick.panel(templates),
        _ => ().into_any(),
    };
    view! {
        {page_head("New job", "Tell the agent what to change. It works by itself and opens a pull request.".into_any(), ().into_any())}
        <div class="columns">
            <div>{suspended(loading::conversation, Arc::new(page))}</div>
            <aside class="advice" aria-label="Templates and advice">
                {suspended(nothing, Arc::new(beside))}
                {advice::advice(&project)}
            </aside>
        </div>
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
