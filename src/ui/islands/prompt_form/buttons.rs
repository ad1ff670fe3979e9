//! The buttons that send a prompt. All are disabled while one sends.

use leptos::prelude::*;

use super::PromptForm;
use model::error::ErrorCode;

/// The id of the button that confirms a warning.
pub(super) const CONFIRM: &str = "send-anyway";

/// The send button, labeled `busy` while sending; and one that confirms the warning because of which the form was refused. While the hourly budget is
/// full, the first one queues the prompt.
#[island]
pub fn SendButtons(idle: String, busy: String) -> impl IntoView {
    let form = use_context::<PromptForm>();
    let was_full = form.is_some_and(|form| form.is_full.get_untracked());
    let is_pending = move || form.is_some_and(|form| form.is_pending.get());
    let is_full = move || form.is_some_and(|form| form.is_full.get());
    let label = move || match (is_pending(), is_full()) {
        (true, _) => busy.clone(),
        (_, true) => "Add to queue".to_owned(),
        _ => idle.clone(),
    };
    // The name and the label of the button. Its field replaces the one that requests the warning.
    let confirmed = move || match form.and_then(|form| form.refused.get()) {
        Some(ErrorCode::UnfilledPlaceholder) => ("anyway", "Send anyway"),
        Some(ErrorCode::SimilarJob) => ("similar", "Start another"),
        _ => ("", ""),
    };
    view! {
        <button type="submit" class="button button-primary" disabled=is_pending>{label}</button>
        // Without JavaScript. With it, `PromptForm::fields` sends the field.
        <input type="hidden" name="queue" value="on" disabled=!was_full autocomplete="off" />
        <button
            type="submit"
            id=CONFIRM
            class="button"
            name=move || confirmed().0
            value="on"
            disabled=is_pending
            hidden=move || confirmed().0.is_empty()
        >
            {move || confirmed().1}
        </button>
    }
}
