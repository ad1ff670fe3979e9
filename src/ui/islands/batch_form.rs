//! The form for a new batch: drafts of its two texts in this browser until the preview is loaded. The server renders it
//! (`pages::new_batch`).
//!
//! *Use template* changes the prompt in place.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{HtmlTextAreaElement, SubmitEvent};

use crate::ui::islands::browser;
use crate::ui::islands::prompt_form::{FormStart, Handlers, PrefilledText, PromptForm, around};
use crate::ui::islands::selection::picked;
use crate::ui::marks::{PROMPT_FIELD, VALUES_FIELD};
use api::batches::{PrepareBatch, UseTemplate};
use model::batch::BatchPrompt;

/// The keys of the drafts of its two texts.
pub const TEXT_DRAFT: &str = "batch";
const VALUES_DRAFT: &str = "batch-values";

/// `children` are the form.
#[island]
pub fn BatchForm(start: FormStart, children: Children) -> impl IntoView {
    let values = FormStart { job: Some(VALUES_DRAFT.to_owned()), ..start.clone() };
    let form = PromptForm::new(start, PROMPT_FIELD.name());
    let handlers = if browser::IS_HERE { Some(begin(form, values)) } else { None };
    around(form, "", handlers, children)
}

fn begin(form: PromptForm, mut values: FormStart) -> Handlers {
    form.begin();
    values.prefill = PrefilledText { text: rendered_values(), template: String::new() };
    form.begin_beside(PromptForm::new(values, VALUES_FIELD.name()));
    Handlers { submit: submitted, click: |_, _| {} }
}

/// The values that the server rendered.
fn rendered_values() -> String {
    let field = VALUES_FIELD.element().and_then(|field| field.dyn_into::<HtmlTextAreaElement>().ok());
    field.and_then(|field| field.default_value().ok()).unwrap_or_default()
}

fn submitted(form: PromptForm, event: SubmitEvent) {
    let action = event.submitter().and_then(|button| button.get_attribute("formaction"));
    if action.as_deref() == Some(UseTemplate::PATH) {
        return use_template(form, &event);
    }
    let Some(attempt) = form.attempt(&event) else { return };
    spawn_local(async move {
        let Some(sent) = attempt.send(PrepareBatch::PATH, true).await else { return };
        // The pages that were chosen for this batch.
        browser::store_for_tab(&picked::key(&form.project()), "");
        browser::go(&sent.redirect.unwrap_or_default());
    });
}

/// Posts the form on *Use template*, and shows the resulting prompt, unless another template is used meanwhile.
fn use_template(form: PromptForm, event: &SubmitEvent) {
    event.prevent_default();
    let Some(fields) = form.fields(event.submitter().as_ref()) else { return };
    let pick = browser::random_id();
    form.picked.set(pick.clone());
    spawn_local(async move {
        let result = browser::post::<BatchPrompt>(UseTemplate::PATH, &fields).await.result;
        if form.picked.try_get_untracked() != Some(pick) {
            return;
        }
        form.show_problem(result.as_ref().err());
        if let Ok(prompt) = result {
            let template = prompt.template.as_ref().map(|id| id.as_str()).unwrap_or_default();
            form.fill(&prompt.text, template);
        }
    });
}
