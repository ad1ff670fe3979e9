//! The form for a new job. The server renders it (`pages::new_job`). What it needs only once somebody types is in the part that is loaded on demand
//! ([`part`]): templates, detected pages, similar jobs and suggestions. Without that part, the form sends what is typed.

mod detect;
mod pages;
mod part;
mod pick;
mod similar;
mod suggestions;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{HtmlFormElement, HtmlInputElement, MouseEvent, SubmitEvent};

use crate::ui::islands::browser;
use crate::ui::islands::browser::on_demand::{self, Loading};
use crate::ui::islands::live::LiveState;
use crate::ui::islands::prompt_form::{Attempt, FormStart, Handlers, PromptForm, around};
use crate::ui::marks::{FILL, FILLING, PICKS, PROMPT_FIELD, REMOVE_TEMPLATE};
use api::jobs::CreateJob;
use model::error::AppError;

pub use detect::{detected, unknown};

/// The name of a field for a placeholder begins with this: a field with the name of a property of forms, such as `method`, would hide that property.
pub const VALUE_PREFIX: &str = "value.";

/// Shown if the part cannot be loaded, and a value of a template is not in the prompt.
const NOT_FILLED_IN: &str =
    "The fields of the template could not be filled in. Choose “Fill in the prompt”, then start the job.";

/// Shown if the prompt changed while the part was loaded, and values of a template are not in what the user saw.
const CHANGED: &str = "The prompt changed meanwhile. Check it, then start the job.";

/// `children` are the form and the templates beside it.
#[island]
pub fn JobForm(start: FormStart, children: Children) -> impl IntoView {
    let form = PromptForm::new(start, PROMPT_FIELD.name());
    let handlers = if browser::IS_HERE { Some(begin(form)) } else { None };
    around(form, "columns", handlers, children)
}

fn begin(form: PromptForm) -> Handlers {
    form.begin();
    if let Some(live) = LiveState::here() {
        form.follow_budget(&live, |budgets| budgets.creates);
    }
    browser::effect(move || {
        // A text that was there when the page was opened.
        if form.pauses.get() > 0 && !form.text.with_untracked(String::is_empty) {
            on_demand::load();
        }
    });
    browser::effect(move || {
        if on_demand::loading() == Loading::Done {
            spawn_local(async move {
                start_part(form).await;
            });
        }
    });
    Handlers { submit: submitted, click: clicked }
}

/// Loads the part and starts it. Returns whether it is there.
async fn start_part(form: PromptForm) -> bool {
    on_demand::loaded().await && part::start(form).await.is_ok()
}

fn submitted(form: PromptForm, event: SubmitEvent) {
    if browser::target(&event, &FILLING.selector()).is_some() {
        return fill_in(form, &event);
    }
    if let Some(attempt) = form.attempt(&event) {
        spawn_local(send(form, attempt));
    }
}

async fn send(form: PromptForm, attempt: Attempt) {
    if !start_part(form).await && has_typed_values() {
        return attempt.end(Some(&AppError::bad_input(NOT_FILLED_IN)));
    }
    let attempt = match form.applied_to.try_update_value(Option::take).flatten() {
        // Only values that were typed before the part was there are missing in the attempt.
        Some(text) if text == attempt.written().0 => attempt.again(),
        Some(_) => return attempt.end(Some(&AppError::bad_input(CHANGED))),
        None => Some(attempt),
    };
    let Some(attempt) = attempt else { return };
    if let Some(sent) = attempt.send(CreateJob::PATH, true).await {
        browser::go(&sent.redirect.unwrap_or_else(browser::here));
    }
}

/// The fields of the chosen template.
fn template_fields() -> Vec<HtmlInputElement> {
    let found = FILL.element().map(|fill| browser::all_in(&fill, ".field")).unwrap_or_default();
    found.into_iter().filter_map(|field| field.dyn_into().ok()).collect()
}

/// Whether a field of the template has another value than the prompt that the server rendered.
fn has_typed_values() -> bool {
    template_fields().iter().any(is_changed)
}

/// Whether the user changed the value that the server rendered.
fn is_changed(field: &HtmlInputElement) -> bool {
    field.value() != field.default_value()
}

/// The form of a template was submitted. With the part, the prompt already contains the values.
fn fill_in(form: PromptForm, event: &SubmitEvent) {
    event.prevent_default();
    let fields: Option<HtmlFormElement> = browser::submitted(event);
    spawn_local(async move {
        if start_part(form).await {
            form.focus();
        } else if !browser::is_online() {
            form.show_problem(Some(&AppError::unreachable()));
        } else if let Some(fields) = fields {
            // As without JavaScript; the draft stays in this browser.
            let _ = fields.submit();
        }
    });
}

fn clicked(form: PromptForm, event: MouseEvent) {
    if browser::target(&event, &REMOVE_TEMPLATE.selector()).is_some() {
        event.prevent_default();
        return form.forget_template();
    }
    let link = browser::target(&event, &[&PICKS.selector(), " a"].concat());
    let url = link.filter(|_| browser::is_plain(&event)).and_then(|link| link.get_attribute("href"));
    if let Some(url) = url {
        event.prevent_default();
        form.picked.set(url.clone());
        spawn_local(async move {
            if start_part(form).await || form.picked.get_untracked() != url {
                return;
            }
            if browser::is_online() {
                // As without JavaScript; the draft stays in this browser.
                browser::go(&url);
            } else {
                form.show_problem(Some(&AppError::unreachable()));
            }
        });
    }
}
