//! `/p/{project}/jobs/batch`: one text with places, and a list of values. The next page shows each text before anything is
//! queued.

use std::sync::Arc;

use leptos::prelude::*;

use crate::api::batches::{GetBatchForm, PrepareBatch};
use crate::api::call::call;
use crate::error::{AppError, ErrorCode};
use crate::model::batch::{Batch, BatchForm};
use crate::ui::components::empty::empty;
use crate::ui::components::failure;
use crate::ui::components::loading::{self, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::components::post_form::post_form;
use crate::ui::components::prompt_field::{PromptField, prompt_field, text_field};
use crate::ui::components::submit_button::submit_button;
use crate::ui::erase::{Erase, effect, shown};
use crate::model::links;
use crate::ui::state::address;
use crate::ui::state::asked::Asked;
use crate::ui::state::drafts::Draft;
use crate::ui::state::post::Post;
use crate::ui::state::{project, session};

const MISTAKE: &str = "The texts do not make a batch yet.";

#[component]
pub fn NewBatch() -> impl IntoView {
    let project = project::current();
    let query = address::query().get_untracked();
    let (prompt, from) = (query.get("prompt").unwrap_or_default(), query.get("from"));
    let template = query.get("template").unwrap_or_default();
    let brought = !prompt.is_empty() || from.is_some();
    let form = {
        let project = project.clone();
        Asked::once(move || call(GetBatchForm { project: project.clone(), from: from.clone() }))
    };
    let prepare = Post::to::<PrepareBatch>(MISTAKE);
    let drafts = (Draft::of(&project, Some("batch")), Draft::of(&project, Some("batch-values")));
    drafts.0.restore(brought);
    drafts.1.restore(brought);
    effect(move || match prepare.outcome::<Batch>() {
        Some(Ok(_)) => {
            drafts.0.sent();
            drafts.1.sent();
        }
        Some(Err(error)) if error.code == ErrorCode::IntentReused => form.again(),
        _ => {}
    });
    let session = session::get();
    let content = move || {
        let (fresh, session) = (form.get(), session.get());
        let (Some(fresh), Some(session)) = (fresh, session) else { return ().into_any() };
        match (fresh, session) {
            (Ok(_), Ok(session)) if !session.can_start_jobs() => not_for_viewers(&project),
            (Ok(fresh), Ok(_)) => composer(prepare, &project, fresh, (&prompt, &template), drafts),
            (Err(error), _) | (_, Err(error)) => failure::panel(&error, form.retry()),
        }
    };
    view! {
        {page_head("New batch", "The same task for many pages. You see each text before anything is queued.".into_any(), ().into_any())}
        <div class="columns">
            <div>{suspended(loading::conversation, Arc::new(content))}</div>
            {advice()}
        </div>
    }
    .into_any()
}

/// `brought` is the text and the template it came with, each empty for none.
fn composer(
    prepare: Post,
    project: &str,
    form: BatchForm,
    brought: (&str, &str),
    drafts: (Draft, Draft),
) -> AnyView {
    let (prompt, template) = brought;
    let text = PromptField {
        id: "prompt",
        label: "Text with places",
        placeholder: "Check {{page}} against version 3 of the SDK, and fix every step that no longer works.",
        rows: "5",
        text: if prompt.is_empty() { form.text } else { prompt.to_owned() },
        draft: drafts.0,
    };
    let values = PromptField {
        id: "values",
        label: "Values, one line for each job",
        placeholder: "/quickstart\n/guides/webhooks",
        rows: "8",
        text: form.values,
        draft: drafts.1,
    };
    // The kept texts say best what is wrong with them; with scripts the answer itself does.
    let problem = form.problem;
    let why = shown(move || {
        failure::of_form(prepare.problem().map(|error| match &problem {
            Some(problem) if error.message == MISTAKE => AppError::bad_input(problem),
            _ => error,
        }))
    });
    let send = view! { <div class="send">{submit_button(prepare, "Preview", "Checking…")}</div> }.into_any();
    let fields = [prompt_field(text), text_field(values, "values"), send].collect_view().into_any();
    let hidden = vec![
        ("project", project.to_owned()),
        ("intent", form.intent.to_string()),
        ("template_id", template.to_owned()),
    ];
    [why, post_form("stack", prepare, hidden, fields)].collect_view().into_any()
}

fn advice() -> AnyView {
    view! {
        <aside class="advice" aria-label="How a batch works">
            <h2>"How a batch works"</h2>
            <ul>
                <li>"A place is a name in double braces, such as " <code>"{{page}}"</code> "."</li>
                <li>"Each line of the list makes one job, at most 200."</li>
                <li>"Several places take several values on a line, separated by tabs or commas, in the order in which the places first stand in the text."</li>
                <li>"A value that is a page’s path becomes the job’s page."</li>
                <li>"The jobs wait in the queue and are sent evenly, by themselves."</li>
            </ul>
        </aside>
    }
    .into_any()
}

fn not_for_viewers(project: &str) -> AnyView {
    let back = view! { <a class="button" href=links::jobs(project)>"Back to the jobs"</a> }.into_any();
    empty(
        "Your role reads only",
        "Starting jobs needs the role operator. An administrator can give it to you.",
        back,
    )
}
