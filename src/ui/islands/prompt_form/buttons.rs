//! The buttons that send a prompt. All are disabled while one sends.

use leptos::prelude::*;

use super::PromptForm;
use model::error::ErrorCode;

/// The send button, labeled `busy` while sending; one to queue the prompt after a refusal for lack of budget, and one to send
/// it with an unfilled placeholder after a warning. `refused`: why the form was refused.
#[island]
pub fn SendButtons(idle: String, busy: String, refused: Option<ErrorCode>) -> impl IntoView {
    let form = PromptForm::here();
    let is_pending = move || form.is_some_and(|form| form.is_pending.get());
    let is_refused_for = move |code| form.map_or(refused, |form| form.refused.get()) == Some(code);
    let label = move || if is_pending() { busy.clone() } else { idle.clone() };
    let has_room = move || !is_refused_for(ErrorCode::BudgetSpent);
    let is_filled_in = move || !is_refused_for(ErrorCode::UnfilledPlaceholder);
    view! {
        <button type="submit" class="button button-primary" disabled=is_pending>{label}</button>
        <button type="submit" class="button" name="queue" value="on" disabled=is_pending hidden=has_room>"Queue it"</button>
        <button type="submit" class="button" name="anyway" value="on" disabled=is_pending hidden=is_filled_in>
            "Send anyway"
        </button>
    }
}
