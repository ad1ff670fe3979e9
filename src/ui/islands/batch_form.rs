//! The form for a new batch: drafts of its two texts in this browser until the preview is loaded. The server renders it
//! (`pages::new_batch`).
//!
//! *Use template* changes the prompt in place.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{HtmlInputElement, SubmitEvent};

use crate::ui::islands::drafts::{Draft, DraftStart};
use crate::ui::islands::live::forms;
use crate::ui::islands::{browser, picked, sending};
use api::batches::{PrepareBatch, UseTemplate};
use model::batch::BatchPrompt;

/// The ids of the fields with the prompt template and with the values.
pub const PROMPT: &str = "prompt";
pub const VALUES: &str = "values";

/// `goes_first`: whether the texts in the URL take precedence over a draft. `children` are the form.
#[island]
pub fn BatchForm(project: String, goes_first: bool, children: Children) -> impl IntoView {
    if browser::IS_HERE {
        begin(&project, goes_first);
    }
    children()
}

fn begin(project: &str, goes_first: bool) {
    let start = DraftStart { goes_first, ..DraftStart::default() };
    let draft = |name: &str, field: &str| Draft::of(project, Some(name), field, &start);
    let (Some(text), Some(values)) = (draft("batch", PROMPT), draft("batch-values", VALUES)) else { return };
    listen_for_template(&text);
    let picked = picked::key(project);
    sending::listen(
        PrepareBatch::PATH,
        &text,
        || true,
        move |_, redirect| {
            values.sent();
            // The pages that were chosen for this batch.
            browser::store_for_tab(&picked, "");
            browser::go(&redirect.unwrap_or_default());
        },
    );
}

/// Posts the form on *Use template*, and shows the resulting prompt.
fn listen_for_template(text: &Draft) {
    let draft = text.clone();
    browser::on(text.form(), "submit", move |event: SubmitEvent| {
        let action = event.submitter().and_then(|button| button.get_attribute("formaction"));
        if action.as_deref() != Some(UseTemplate::PATH) {
            return;
        }
        event.prevent_default();
        let Some(fields) = browser::fields(draft.form(), &event) else { return };
        let draft = draft.clone();
        spawn_local(async move {
            match browser::post(UseTemplate::PATH, &fields).await.result {
                Ok(prompt) => show(&draft, &prompt),
                Err(error) => forms::refused(draft.form(), &error),
            }
        });
    });
}

fn show(draft: &Draft, prompt: &BatchPrompt) {
    forms::problem(draft.form(), None);
    let field = browser::find_in(draft.form(), "input[name=template_id]");
    if let Some(field) = field.and_then(|field| field.dyn_into::<HtmlInputElement>().ok()) {
        field.set_value(prompt.template.as_ref().map(|id| id.as_str()).unwrap_or_default());
    }
    draft.fill(&prompt.text, "");
}
