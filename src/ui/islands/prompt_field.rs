//! The text area for a prompt, and what is said about the text in it. Its text appears without JavaScript too, and is never
//! read as HTML. To be used in islands.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::jobs::KeepDraft;
use crate::ui::charts::number::grouped;
use crate::ui::components::form::as_content;
use crate::ui::islands::drafts::{Draft, Kept};

/// From which share of the longest prompt on the characters are counted, in percent.
const NEAR_PERCENT: usize = 90;

/// What differs between one box for a text and another.
pub struct PromptField {
    pub id: &'static str,
    pub label: &'static str,
    pub placeholder: &'static str,
    pub rows: &'static str,
    /// What the box starts with.
    pub text: String,
    pub draft: Draft,
}

pub fn prompt_field(field: PromptField) -> impl IntoView + use<> {
    text_field(field, "prompt")
}

/// As [`prompt_field`], for another field of a form.
pub fn text_field(field: PromptField, name: &'static str) -> impl IntoView + use<> {
    let PromptField { id, label, placeholder, rows, text, draft } = field;
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
            autocomplete="off"
            aria-keyshortcuts="Control+Enter Meta+Enter"
            inner_html=as_content(&text)
            node_ref=draft.field()
            on:input=move |_| draft.keep()
            on:blur=move |_| draft.save()
            on:keydown=move |event| send_on_ctrl_enter(&event, draft)
        ></textarea>
    }
}

/// What is said about the text: how long it is, near the limit of `most` characters, and where it is kept.
pub fn prompt_notes(draft: Draft, most: u32) -> impl IntoView + use<> {
    let most = most as usize;
    let is_near = move || draft.length() * 100 >= most * NEAR_PERCENT;
    let count = move || match (is_near(), draft.can_undo(), draft.length()) {
        (true, ..) => format!("{} of {} characters", grouped(draft.length() as u64), grouped(most as u64)),
        (false, true, 0) => "Draft discarded".to_owned(),
        (false, true, _) => "Your previous text is kept".to_owned(),
        (false, false, _) => String::new(),
    };
    let kept = move || match draft.kept() {
        Kept::OnServer => "Draft saved".to_owned(),
        Kept::Here | Kept::Nowhere => String::new(),
    };
    let discard = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        draft.discard();
    };
    // Without JavaScript it posts an empty text for this form.
    view! {
        <span class="hint prompt-count" role="status" data-over=Signal::derive(move || (draft.length() > most).then_some("true"))>
            {Signal::derive(count)}
        </span>
        <span class="hint js-only">{Signal::derive(kept)}</span>
        <button
            type="submit"
            class="link"
            formaction=KeepDraft::PATH
            formnovalidate
            name="text"
            value=""
            hidden=Signal::derive(move || draft.kept() == Kept::Nowhere)
            on:click=discard
        >
            "Discard draft"
        </button>
        <button type="button" class="link" hidden=Signal::derive(move || !draft.can_undo()) on:click=move |_| draft.undo()>
            "Undo"
        </button>
    }
}

fn send_on_ctrl_enter(event: &KeyboardEvent, draft: Draft) {
    if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
        event.prevent_default();
        draft.submit();
    }
}
