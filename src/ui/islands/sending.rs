//! Sends a prompt from a form: one post at a time, its errors, and the choice to queue when the hourly budget is spent. The
//! text stays until it is sent: an expired session leads to sign-in and back, a used intent is replaced.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::task::spawn_local;
use leptos::web_sys::SubmitEvent;

use crate::ui::islands::browser::{self, Reply};
use crate::ui::islands::drafts::Draft;
use crate::ui::islands::live::{LiveState, forms};
use model::budget::{Budgets, Meter};
use model::error::{AppError, ErrorCode};
use model::unfilled::unfilled;

/// Attribute of the button that queues the prompt, shown after a refusal because the budget is spent.
pub const QUEUE_IT: &str = "data-queue-it";
/// Attribute of the button that sends a prompt with an unfilled placeholder, shown after that warning.
pub const ANYWAY: &str = "data-anyway";
/// The class of the checkbox to queue the prompt, shown while the budget has no room.
pub const QUEUE_CHOICE: &str = "queue-choice";

/// Posts the form of `draft` to `path` on submit, if `may_be_sent` allows it. `sent` gets the response and the redirect. Buttons
/// with a `formaction` are not for sending.
pub fn listen(
    path: &'static str,
    draft: &Draft,
    may_be_sent: impl Fn() -> bool + 'static,
    sent: impl Fn(String, Option<String>) + 'static,
) {
    let (draft, is_pending, sent) = (draft.clone(), Rc::new(Cell::new(false)), Rc::new(sent));
    let form = draft.form().clone();
    let changed = draft.clone();
    draft.on_change(move || hide_warning(&changed));
    // The text that may be sent with an unfilled placeholder, even if sending is delayed for another reason.
    let confirmed = RefCell::new(None);
    browser::on(&form, "submit", move |event: SubmitEvent| {
        if event.submitter().is_some_and(|button| button.has_attribute("formaction")) {
            return;
        }
        event.prevent_default();
        if is_pending.get() || !may_be_sent() {
            return;
        }
        let Some(mut fields) = browser::fields(draft.form(), &event) else { return };
        if event.submitter().is_some_and(|button| button.has_attribute(ANYWAY)) {
            confirmed.replace(Some(draft.text()));
        } else if *confirmed.borrow() == Some(draft.text()) {
            fields.push_str("&anyway=on");
        }
        is_pending.set(true);
        show_pending(&draft, true);
        let (draft, is_pending, sent) = (draft.clone(), is_pending.clone(), sent.clone());
        spawn_local(async move {
            let Reply { result, redirect, .. } = browser::post_raw(path, &fields).await;
            is_pending.set(false);
            show_pending(&draft, false);
            match result {
                Ok(text) => {
                    draft.sent();
                    forms::problem(draft.form(), None);
                    sent(text, redirect);
                }
                Err(error) => refused(&draft, &error),
            }
        });
    });
}

/// Removes the warning about placeholders, its error and its button, once the text has none.
fn hide_warning(draft: &Draft) {
    let anyway = browser::find_in(draft.form(), &["[", ANYWAY, "]:not([hidden])"].concat());
    if let Some(anyway) = anyway.filter(|_| unfilled(&draft.text()).is_empty()) {
        browser::toggle(&anyway, "hidden", true);
        forms::problem(draft.form(), None);
    }
}

fn refused(draft: &Draft, error: &AppError) {
    match error.code {
        ErrorCode::Unauthenticated => draft.store_edit(),
        ErrorCode::IntentReused => draft.renew_intent(),
        _ => {}
    }
    for (button, code) in [(QUEUE_IT, ErrorCode::BudgetSpent), (ANYWAY, ErrorCode::UnfilledPlaceholder)] {
        if let Some(button) = browser::find_in(draft.form(), &["[", button, "]"].concat()) {
            browser::toggle(&button, "hidden", error.code != code);
        }
    }
    forms::refused(draft.form(), error);
}

/// Shows on the send buttons whether a post is pending.
fn show_pending(draft: &Draft, is_pending: bool) {
    browser::set(draft.form(), "aria-busy", is_pending.then_some("true"));
    for button in draft.buttons() {
        let word = if is_pending { "data-busy" } else { "data-send" };
        browser::set_text(&button, &button.get_attribute(word).unwrap_or_default());
        browser::set(&button, "aria-busy", is_pending.then_some("true"));
        button.set_disabled(is_pending);
    }
}

/// Shows or hides the checkbox to queue as the budget changes.
pub fn update_choice(live: &LiveState, draft: &Draft, of: fn(&Budgets) -> Meter) {
    let form = draft.form().clone();
    live.on_budgets(move |budgets| {
        if let Some(choice) = browser::find_in(&form, &[".", QUEUE_CHOICE].concat()) {
            browser::toggle(&choice, "hidden", of(budgets).left() > 0);
        }
    });
}
