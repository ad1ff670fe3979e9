//! The parts of forms with a prompt: the field, and buttons to send or queue it. Enhanced by `islands::prompt_form`; without
//! JavaScript they are plain forms.

use leptos::prelude::*;

use crate::ui::components::form::as_content;
use crate::ui::components::notice;
use crate::ui::islands::morph::PROBLEM;
use crate::ui::islands::prompt_form::{BASE, FormStart, SendButtons, other_version_of};
use crate::ui::marks::Id;
use api::queue::place_of_new;
use model::budget::Meter;
use model::error::{AppError, ErrorCode};
use model::job::JobForm;
use model::queue::QueuePlace;
use model::time::Timestamp;

/// The properties of a prompt field.
pub(super) struct PromptField<'a> {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) placeholder: &'static str,
    pub(super) rows: &'static str,
    /// The initial text.
    pub(super) text: &'a str,
    /// Whether the page opens with the focus in it.
    pub(super) autofocus: bool,
}

/// The form of `person` for `job`, or for a new one, rendered with `text`. `goes_first`: the text is from the URL or a refused form.
pub(super) fn form_start(
    form: &JobForm,
    person: String,
    project: &str,
    text: &str,
    goes_first: bool,
) -> FormStart {
    FormStart {
        person,
        project: project.to_owned(),
        intent: form.intent.to_string(),
        saved_at: form.draft_saved_at,
        is_draft: form.draft_saved_at.is_some() && text == form.draft,
        goes_first,
        most: form.prompt_max,
        ..FormStart::default()
    }
}

/// The version of the draft that the form shows, as a hidden field.
pub(super) fn base_field(start: &FormStart) -> AnyView {
    let base = start.saved_at.filter(|_| start.is_draft).map_or(0, Timestamp::as_millis);
    view! { <input type="hidden" name=BASE value=base.to_string() autocomplete="off" /> }.into_any()
}

/// Where the browser shows the version of the draft in `field` that another tab saved.
pub(super) fn other_version(field: Id) -> AnyView {
    view! { <div id=other_version_of(field.name()) class="contents"></div> }.into_any()
}

/// The field. Its text is escaped.
pub(super) fn prompt_field(field: &PromptField) -> AnyView {
    let PromptField { id, name, label, placeholder, rows, text, autofocus } = *field;
    view! {
        <label class="field-label" for=id>{label}</label>
        <textarea
            id=id
            name=name
            class="field prompt"
            rows=rows
            placeholder=placeholder
            dir="auto"
            required
            autofocus=autofocus
            autocomplete="off"
            aria-keyshortcuts="Control+Enter Meta+Enter"
            inner_html=as_content(text)
        ></textarea>
    }
    .into_any()
}

/// The error of the form below. Islands show errors in the same element.
pub(super) fn problem(refused: Option<&AppError>) -> AnyView {
    let shown = notice::problem(refused.map(|error| error.message.clone()));
    view! { <div class=PROBLEM>{shown}</div> }.into_any()
}

/// The buttons that send the form. `is_confirmed`: a text with an unfilled placeholder was confirmed before.
pub(super) fn send_buttons(idle: &'static str, busy: &'static str, is_confirmed: bool) -> AnyView {
    let warning_field = (!is_confirmed)
        .then(|| view! { <input type="hidden" name="unfilled" value="ask" autocomplete="off" /> });
    view! {
        {warning_field}
        <SendButtons idle=idle.to_owned() busy=busy.to_owned() />
    }
    .into_any()
}

/// Whether the hourly budget has no room: now, or when the form was refused.
pub(super) fn is_full(budget: Option<Meter>, refused: Option<ErrorCode>) -> bool {
    refused == Some(ErrorCode::BudgetSpent) || budget.is_some_and(|budget| budget.left() == 0)
}

/// When a prompt is sent that is queued now. A failed lookup does not prevent the form.
pub(super) async fn place_if_full(project: &str, is_follow_up: bool, is_full: bool) -> Option<QueuePlace> {
    if is_full { place_of_new(project, is_follow_up).await.ok() } else { None }
}
