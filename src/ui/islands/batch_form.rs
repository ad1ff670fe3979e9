//! The form of a batch: a prompt template and a list of values, both kept as drafts in this browser until they were sent. Works as a
//! plain form without JavaScript.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlFormElement;
use serde::{Deserialize, Serialize};

use crate::api::batches::PrepareBatch;
use crate::error::ErrorCode;
use crate::model::links;
use crate::ui::components::form::submit_button;
use crate::ui::islands::browser;
use crate::ui::islands::drafts::Draft;
use crate::ui::islands::live::forms;
use crate::ui::islands::prompt_field::{PromptField, prompt_field, text_field};

/// What the form starts with.
#[derive(Clone, Serialize, Deserialize)]
pub struct BatchTexts {
    pub intent: String,
    pub text: String,
    pub values: String,
    /// The id of the template that the text came from; empty is none.
    pub template: String,
    /// Whether the page was asked for with these texts: they go before a draft.
    pub go_first: bool,
}

#[island]
pub fn BatchForm(project: String, texts: BatchTexts) -> impl IntoView {
    let BatchTexts { intent, text, values, template, go_first } = texts;
    let drafts = [Draft::of(&project, Some("batch")), Draft::of(&project, Some("batch-values"))];
    drafts.iter().for_each(|draft| draft.restore(go_first));
    let intent = RwSignal::new(intent);
    let is_busy = RwSignal::new(false);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let form = event.target().and_then(|target| target.dyn_into::<HtmlFormElement>().ok());
        let (Some(form), false) = (form, is_busy.get_untracked()) else { return };
        let Some(fields) = browser::fields(&form, &event) else { return };
        is_busy.set(true);
        spawn_local(async move {
            let reply = browser::post_raw(PrepareBatch::PATH, &fields).await;
            is_busy.set(false);
            match reply.answer {
                Ok(_) => {
                    drafts.iter().for_each(|draft| draft.sent());
                    browser::go(&reply.redirect.unwrap_or_default());
                }
                Err(error) if error.code == ErrorCode::Unauthenticated => {
                    browser::go(&links::login(&browser::here()));
                }
                Err(error) => {
                    // The next attempt is another form.
                    if error.code == ErrorCode::IntentReused {
                        intent.set(browser::random_id());
                    }
                    forms::problem(&form, Some(&error));
                }
            }
        });
    };
    let [text_draft, values_draft] = drafts;
    let text = PromptField {
        id: "prompt",
        label: "Prompt template",
        placeholder: "Check {{page}} against version 3 of the SDK, and fix every step that no longer works.",
        rows: "5",
        text,
        draft: text_draft,
    };
    let values = PromptField {
        id: "values",
        label: "Values, one line per job",
        placeholder: "/quickstart\n/guides/webhooks",
        rows: "8",
        text: values,
        draft: values_draft,
    };
    view! {
        <form
            class="stack"
            method="post"
            action=PrepareBatch::PATH
            aria-busy=Signal::derive(move || is_busy.get().then_some("true"))
            on:submit=submit
        >
            <input type="hidden" name="project" value=project autocomplete="off" />
            <input type="hidden" name="intent" value=Signal::derive(move || intent.get()) autocomplete="off" />
            <input type="hidden" name="template_id" value=template autocomplete="off" />
            {prompt_field(text)}
            {text_field(values, "values")}
            <div class="send">{submit_button("Preview")}</div>
        </form>
    }
}
