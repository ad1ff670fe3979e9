//! The parts of forms with a prompt: the field, notes about its text, send buttons, and the checkbox to queue it.
//! Enhanced by the islands `islands::drafts` and `islands::sending`; without JavaScript they are plain forms.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::as_content;
use crate::ui::components::notice;
use crate::ui::islands::drafts::{self, DraftStart, PrefilledText};
use crate::ui::islands::morph::PROBLEM;
use crate::ui::islands::sending::QUEUE_CHOICE;
use api::jobs::SaveDraft;
use model::budget::Meter;
use model::error::{AppError, ErrorCode};
use model::job::JobForm;
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

/// The draft of a form rendered with `text`. `goes_first`: the text is from the URL or a refused form. `prefill`: the text
/// without a draft.
pub(super) fn draft_start(
    form: &JobForm,
    text: &str,
    goes_first: bool,
    prefill: PrefilledText,
) -> DraftStart {
    DraftStart {
        saved_at: form.draft_saved_at,
        is_draft: form.draft_saved_at.is_some() && text == form.draft,
        goes_first,
        most: form.prompt_max,
        prefill,
    }
}

/// The version of the draft that the form shows, as a hidden field.
pub(super) fn base_field(start: &DraftStart) -> AnyView {
    let base = start.saved_at.filter(|_| start.is_draft).map_or(0, Timestamp::as_millis);
    view! { <input type="hidden" name=drafts::BASE value=base.to_string() autocomplete="off" /> }.into_any()
}

/// The notice with the version of the draft that another tab saved, shown by the island.
pub(super) fn other_version() -> AnyView {
    view! {
        <div class=format!("notice notice-warn {}", drafts::OTHER) role="alert" hidden>
            <div>
                <p>"This draft was changed in another tab. Your version is below. This is the other version:"</p>
                <div class=drafts::OTHER_TEXT dir="auto" tabindex="0"></div>
                <p class=format!("hint {}", drafts::OTHER_PAGES) dir="auto"></p>
                <button type="button" class=format!("button {}", drafts::USE_OTHER)>"Use this version"</button>
            </div>
        </div>
    }
    .into_any()
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

/// The notes about the text: its length near the limit, whether the draft is saved, and buttons to discard and undo.
pub(super) fn prompt_notes(start: &DraftStart) -> AnyView {
    let saved_note = if start.is_draft { drafts::SAVED } else { "" };
    // Without JavaScript the button posts an empty text for this form.
    view! {
        <span class=format!("hint {}", drafts::COUNT) role="status"></span>
        <span class=format!("hint js-only {}", drafts::SAVED_NOTE)>{saved_note}</span>
        <button
            type="submit"
            class=format!("link {}", drafts::DISCARD)
            formaction=SaveDraft::PATH
            formnovalidate
            name="text"
            value=""
            hidden=!start.is_draft
        >
            "Discard draft"
        </button>
        <button type="button" class=format!("link {}", drafts::UNDO) hidden>"Undo"</button>
    }
    .into_any()
}

/// The error of the form below. Islands show errors in the same element.
pub(super) fn problem(refused: Option<&AppError>) -> AnyView {
    let shown = notice::problem(refused.map(|error| error.message.clone()));
    view! { <div class=PROBLEM>{shown}</div> }.into_any()
}

/// The send button, labeled `busy` while sending; one to queue the prompt after a refusal for lack of budget, and one to send
/// it with an unfilled placeholder after a warning. All are disabled while one sends. `is_confirmed`: the warning was confirmed before.
pub(super) fn send_buttons(
    idle: &'static str,
    busy: &'static str,
    refused: Option<&AppError>,
    is_confirmed: bool,
) -> AnyView {
    let is_refused_for = |code| refused.is_some_and(|error| error.code == code);
    let is_spent = is_refused_for(ErrorCode::BudgetSpent);
    let is_unfilled = is_refused_for(ErrorCode::UnfilledPlaceholder);
    let warning_field = (!is_confirmed)
        .then(|| view! { <input type="hidden" name="unfilled" value="ask" autocomplete="off" /> });
    view! {
        {warning_field}
        <button type="submit" class="button button-primary" data-send=idle data-busy=busy>{idle}</button>
        <button type="submit" class="button" name="queue" value="on" data-queue-it="" data-send="Queue it" data-busy="Queue it" hidden=!is_spent>"Queue it"</button>
        <button type="submit" class="button" name="anyway" value="on" data-anyway="" data-send="Send anyway" data-busy="Send anyway" hidden=!is_unfilled>"Send anyway"</button>
    }
    .into_any()
}

/// The checkbox to queue the prompt, shown while the hourly budget has no room.
pub(super) fn queue_choice(left: Option<Meter>) -> AnyView {
    let has_room = left.is_none_or(|meter| meter.left() > 0);
    view! {
        <label class=format!("choice {QUEUE_CHOICE}") hidden=has_room>
            <input type="checkbox" name="queue" value="on" autocomplete="off" />
            "Send it by itself when there is room"
        </label>
    }
    .into_any()
}
