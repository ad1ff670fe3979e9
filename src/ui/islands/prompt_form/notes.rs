//! The notes about a text: its length near the limit, where its draft is saved, and the buttons to discard and undo.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::{PromptForm, StoredIn};
use crate::ui::charts::number::grouped;
use crate::ui::islands::browser;
use api::jobs::SaveDraft;

/// The character count is shown from this share of the limit on, in percent.
const NEAR_PERCENT: usize = 90;

/// The note that the draft is saved on the server.
const SAVED: &str = "Draft saved";

/// The note that only this browser has it, because the server cannot be reached.
const SAVED_HERE: &str = "Draft saved in this browser";

/// `is_draft`: whether the form shows a draft of the server. Without JavaScript the button posts an empty text for this form.
#[island]
pub fn DraftNotes(is_draft: bool) -> impl IntoView {
    let form = PromptForm::here();
    let count = move || form.map(PromptForm::count).unwrap_or_default();
    let is_over = move || form.is_some_and(PromptForm::is_over).then_some("true");
    let saved = move || form.map_or(if is_draft { SAVED } else { "" }, PromptForm::saved_note);
    let cannot_discard = move || !form.map_or(is_draft, PromptForm::is_stored);
    let cannot_undo = move || !form.is_some_and(PromptForm::can_undo);
    let discard = move |event: MouseEvent| {
        if let Some(form) = form.filter(|_| browser::IS_HERE) {
            event.prevent_default();
            form.discard();
        }
    };
    let undo = move |_| {
        if let Some(form) = form.filter(|_| browser::IS_HERE) {
            form.undo();
        }
    };
    view! {
        <span class="hint prompt-count" role="status" data-over=is_over>{count}</span>
        <span class="hint js-only">{saved}</span>
        <button
            type="submit"
            class="link"
            formaction=SaveDraft::PATH
            formnovalidate
            name="text"
            value=""
            hidden=cannot_discard
            on:click=discard
        >
            "Discard draft"
        </button>
        <button type="button" class="link" hidden=cannot_undo on:click=undo>"Undo"</button>
    }
}

impl PromptForm {
    fn length(self) -> (usize, usize) {
        (self.text.read().chars().count(), self.start.with_value(|start| start.most as usize))
    }

    fn is_over(self) -> bool {
        let (length, most) = self.length();
        most > 0 && length > most
    }

    /// Whether a draft is stored, of this form or of the one beside it.
    fn is_stored(self) -> bool {
        self.stored_in.get() != StoredIn::Nowhere || self.beside.get_value().is_some_and(Self::is_stored)
    }

    fn count(self) -> String {
        let (length, most) = self.length();
        if most > 0 && length * 100 >= most * NEAR_PERCENT {
            return [&grouped(length as u64), " of ", &grouped(most as u64), " characters"].concat();
        }
        match (self.replaced.read().is_some(), self.stored_in.get()) {
            (true, StoredIn::Nowhere) => "Draft discarded".to_owned(),
            (true, _) => "Your previous text is saved".to_owned(),
            (false, _) => String::new(),
        }
    }

    fn saved_note(self) -> &'static str {
        match self.stored_in.get() {
            StoredIn::OnServer => SAVED,
            StoredIn::Here if self.is_unreached.get() && self.has_copy() => SAVED_HERE,
            _ => "",
        }
    }

    fn has_copy(self) -> bool {
        browser::IS_HERE && browser::stored(&self.storage_key()).is_some()
    }
}
