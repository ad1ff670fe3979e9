//! The text area for a prompt. Its text appears without JavaScript too, and is never read as HTML.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::ui::erase::Erase;
use crate::ui::state::drafts::Draft;

/// What a person can have done wrong in a form with a prompt.
pub const MISTAKE: &str = "The prompt needs between 1 and 32,768 characters; each page needs a path that begins with a slash and has at most 500.";

/// What differs between the box for a new job and the one for a follow-up.
pub struct PromptField {
    pub id: &'static str,
    pub label: &'static str,
    pub placeholder: &'static str,
    pub rows: &'static str,
    /// What the box starts with.
    pub text: String,
    pub draft: Draft,
}

pub fn prompt_field(field: PromptField) -> AnyView {
    text_field(field, "prompt")
}

/// As [`prompt_field`], for another field of a form.
pub fn text_field(field: PromptField, name: &'static str) -> AnyView {
    let PromptField { id, label, placeholder, rows, text, draft } = field;
    view! {
        <label class="field-label" for=id>{label}</label>
        <textarea
            id=id
            name=name
            class="field prompt"
            rows=rows
            placeholder=placeholder
            required
            autocomplete="off"
            aria-keyshortcuts="Control+Enter Meta+Enter"
            inner_html=as_content(&text)
            node_ref=draft.field()
            on:input=move |_| draft.keep()
            on:keydown=move |event| send_on_ctrl_enter(&event, draft)
        ></textarea>
    }
    .erase()
}

fn send_on_ctrl_enter(event: &KeyboardEvent, draft: Draft) {
    if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
        event.prevent_default();
        if let Some(form) = draft.field().get_untracked().and_then(|field| field.form()) {
            // A form that is not complete says so itself.
            let _ = form.request_submit();
        }
    }
}

/// `text` as the content of a text area. Leptos does not escape what is between the tags, and a browser drops a line
/// end that follows the start tag in a page (but not one set by a script).
fn as_content(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    if cfg!(feature = "ssr") { format!("\n{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_cannot_leave_its_box() {
        let content = as_content("a</textarea><script>alert(1)</script>&amp;");
        assert!(!content.contains('<'), "{content}");
        assert!(content.ends_with("&amp;amp;"), "{content}");
    }
}
