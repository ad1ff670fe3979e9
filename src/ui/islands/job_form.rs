//! The form that starts a job: the prompt, the pages it is about, and what is known of both before they are sent. Templates to fill it
//! with are beside it. Works as plain forms and links without JavaScript.

mod cost;
mod pick;
mod similar;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use serde::{Deserialize, Serialize};

use crate::api::jobs::CreateJob;
use crate::error::{AppError, ErrorCode};
use crate::model::budget::Meter;
use crate::model::page_path;
use crate::model::similar::SimilarJob;
use crate::ui::islands::browser;
use crate::ui::islands::drafts::{Draft, DraftStart, OnPage};
use crate::ui::islands::prompt_field::{PromptField, prompt_field, prompt_notes};
use crate::ui::islands::sending::{Sending, budget, queue_choice};
use pick::Pick;
use similar::Similar;

pub use pick::{PickStart, Pickable};
pub use similar::compared;

/// What the form starts with.
#[derive(Clone, Serialize, Deserialize)]
pub struct JobFormStart {
    pub draft: DraftStart,
    pub prompt: OnPage,
    pub pages: OnPage,
    /// The pages that are named in the prompt.
    pub named: String,
    /// The id of the template that the prompt came from; empty is none.
    pub template: String,
    pub pick: PickStart,
    /// Jobs like the one that was refused for them.
    pub similar: Vec<SimilarJob>,
    /// What is left of the hour's job starts.
    pub left: Option<Meter>,
    /// Why it was refused before.
    pub problem: Option<AppError>,
}

/// `children` are shown below the templates.
#[island]
pub fn JobForm(project: String, start: JobFormStart, children: Children) -> impl IntoView {
    let JobFormStart { draft: begin, prompt, pages, named, template, pick, similar, left, problem } = start;
    let draft = Draft::of(&project, None);
    draft.template().set(template);
    draft.begin(&begin);
    // A plain form comes back once where jobs are alike; then the answer is to send it again.
    let asks = problem.as_ref().is_none_or(|problem| problem.code != ErrorCode::SimilarJob);
    let asks = asks.then(|| view! { <input type="hidden" name="similar" value="ask" /> });
    let sending = Sending::to(CreateJob::PATH, draft, problem);
    let similar = Similar::to(&project, draft, similar);
    let pick = Pick::of(&project, pick, draft);
    let left = budget(left, |budgets| budgets.creates);
    let submit = move |event: SubmitEvent| {
        if similar.may_be_sent() {
            sending.submit(&event, |_, place| browser::go(&place.unwrap_or_else(browser::here)));
        } else {
            event.prevent_default();
        }
    };
    let field = PromptField {
        id: "prompt",
        label: "Prompt",
        placeholder: "Rewrite the quickstart for version 3 of the SDK. Keep the page’s structure, and mention the new sign-in.",
        rows: "10",
        text: prompt.text,
        draft,
    };
    view! {
        <div class="columns">
            <div>
                {sending.problem()}
                <form class="stack" method="post" action=CreateJob::PATH on:submit=submit>
                    <input type="hidden" name="project" value=project autocomplete="off" />
                    <input type="hidden" name="intent" value=Signal::derive(move || draft.intent()) autocomplete="off" />
                    {asks}
                    {pick.field()}
                    {prompt_field(field)}
                    <label class="field-label" for="paths">"Pages"</label>
                    <input
                        id="paths"
                        class="field"
                        name="paths"
                        value=pages.text
                        placeholder="/guides/quickstart, /api/authentication"
                        autocomplete="off"
                        spellcheck="false"
                        aria-describedby="paths-hint"
                        node_ref=draft.pages()
                        on:input=move |_| draft.keep()
                    />
                    <p class="hint" id="paths-hint">
                        "Optional: the pages it is about, separated by commas. " {detected(draft, named)}
                    </p>
                    {similar.notice()}
                    <div class="send">
                        {sending.buttons("Start job", "Starting…")}
                        <span class="faint js-only"><kbd>"Ctrl"</kbd> " " <kbd>"Enter"</kbd></span>
                        {cost::cost(left)}
                        {queue_choice(left)}
                        {prompt_notes(draft, begin.most)}
                    </div>
                </form>
            </div>
            <aside class="advice" aria-label="Templates and advice">
                {pick.panel()}
                {children()}
            </aside>
        </div>
    }
}

/// The pages that are named in the prompt, once the typing pauses.
fn detected(draft: Draft, named: String) -> impl IntoView + use<> {
    let found = RwSignal::new(named);
    Effect::new(move |_| {
        draft.track_pauses();
        if let Some((text, _)) = draft.written() {
            found.set(page_path::found_in(&text).join(", "));
        }
    });
    let said = move || match found.read().as_str() {
        "" => String::new(),
        pages => ["Detected in prompt: ", pages].concat(),
    };
    view! { <span class="about">{Signal::derive(said)}</span> }
}
