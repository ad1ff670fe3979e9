//! Sends the text of a form: one post at a time, and its errors. The text stays until it is sent: an expired session leads to sign-in and back, a
//! used intent is replaced. What is sent is the form when its button was pressed; what is typed meanwhile stays.

use leptos::prelude::*;
use leptos::web_sys::{HtmlElement, SubmitEvent};

use super::buttons::CONFIRM;
use super::copy::CopyState;
use super::{BASE, DRAFT, FORM, PromptForm, StoredIn, Written};
use crate::ui::islands::browser;
use crate::ui::islands::live::forms;
use model::error::{AppError, ErrorCode};
use model::unfilled::unfilled;

/// A form that is being sent.
pub struct Attempt {
    form: PromptForm,
    fields: String,
    written: Written,
    /// The text of the form beside.
    beside: String,
    pressed: Option<HtmlElement>,
}

/// The response to a sent text.
pub struct Sent {
    pub text: String,
    pub redirect: Option<String>,
}

impl PromptForm {
    /// Begins to send the form. `None` while it is being sent, for a button that does something else, and for another form in the same element,
    /// such as that of another draft.
    pub fn attempt(self, event: &SubmitEvent) -> Option<Attempt> {
        if browser::submitted(event) != self.form() {
            return None;
        }
        let pressed = event.submitter();
        if pressed.as_ref().is_some_and(|button| button.has_attribute("formaction")) {
            return None;
        }
        event.prevent_default();
        if self.is_pending.get_untracked() {
            return None;
        }
        self.restore(true);
        if is_anyway(pressed.as_ref()) {
            let text = self.text.get_untracked();
            self.known.update_value(|known| known.confirmed = text);
        }
        let attempt = Attempt::of(self, pressed)?;
        self.known.update_value(|known| known.is_discarded = false);
        self.set_busy(true, false);
        Some(attempt)
    }

    /// The url-encoded fields of the form, as it is sent when the button is `pressed`.
    pub fn fields(self, pressed: Option<&HtmlElement>) -> Option<String> {
        let (form, known) = (self.form()?, self.known.get_value());
        let (intent, template) = (self.intent.get_untracked(), self.template.get_untracked());
        // Even if it is sent later for another reason.
        let is_confirmed = !known.confirmed.is_empty() && known.confirmed == self.text.get_untracked();
        let anyway = if is_confirmed && !is_anyway(pressed) { "on" } else { "" };
        let base = known.base.to_string();
        let given = [
            ("intent", intent.as_str()),
            ("template_id", &template),
            (FORM, &known.key),
            (BASE, &base),
            ("anyway", anyway),
            (DRAFT, &known.origin),
            ("queue", if self.is_full.get_untracked() { "on" } else { "" }),
        ];
        browser::fields_with(&form, pressed, &given)
    }

    pub fn is_being_sent(self) -> bool {
        self.is_pending.get_untracked()
    }

    /// `is_left`: whether another page is about to open, so that nothing can be typed any more.
    fn set_busy(self, is_pending: bool, is_left: bool) {
        self.is_pending.set(is_pending);
        if let Some(form) = self.form() {
            browser::set_busy(&form, is_pending);
            browser::toggle(&form, "inert", is_left);
        }
    }

    /// The page came back from the browser's memory.
    pub(super) fn came_back(self) {
        self.take_own_mark();
        self.set_busy(false, false);
        self.show_text();
    }

    /// After an edit, removes the warning about similar jobs, and that about placeholders once the text has none.
    pub(super) fn hide_warning(self) {
        let is_over = match self.refused.get_untracked() {
            Some(ErrorCode::SimilarJob) => true,
            Some(ErrorCode::UnfilledPlaceholder) => {
                self.text.with_untracked(|text| unfilled(text).is_empty())
            }
            _ => false,
        };
        if is_over {
            self.show_problem(None);
        }
    }

    /// Shows the error above the form, or removes it.
    pub fn show_problem(self, error: Option<&AppError>) {
        let code = error.map(|error| error.code);
        if code == Some(ErrorCode::BudgetSpent) {
            self.is_full.set(true);
        }
        self.refused.set(code);
        let Some(form) = self.form() else { return };
        match error {
            Some(error) => forms::refused(&form, error),
            None => forms::problem(&form, None),
        }
    }

    /// Whether the text was discarded after its form was sent.
    pub fn is_discarded(self) -> bool {
        self.known.with_value(|known| known.is_discarded)
    }
}

/// Whether it is the button that sends a text with an unfilled placeholder.
fn is_anyway(pressed: Option<&HtmlElement>) -> bool {
    pressed.and_then(|button| button.get_attribute("name")).as_deref() == Some("anyway")
}

impl Attempt {
    fn of(form: PromptForm, pressed: Option<HtmlElement>) -> Option<Self> {
        let (fields, written) = (form.fields(pressed.as_ref())?, form.written());
        let beside = form.beside.get_value().map(|beside| beside.text.get_untracked());
        Some(Self { form, fields, written, beside: beside.unwrap_or_default(), pressed })
    }

    /// The same with the present text of the form.
    pub fn again(self) -> Option<Self> {
        Self::of(self.form, self.pressed)
    }

    pub fn written(&self) -> Written {
        self.written.clone()
    }

    /// Ends without sending. Shows the error, if there is one.
    pub fn end(self, error: Option<&AppError>) {
        self.form.set_busy(false, false);
        if error.is_some() {
            self.form.show_problem(error);
        }
    }

    /// Posts the form to `path`, unless its text was discarded meanwhile. `leaves`: the caller opens another page then. Until that is there, the form
    /// stays busy and shows its text, which is no draft any more.
    pub async fn send(self, path: &str, leaves: bool) -> Option<Sent> {
        let form = self.form;
        if form.is_gone() {
            return None;
        }
        if form.is_discarded() {
            self.end(None);
            return None;
        }
        if form.written() == self.written && form.other_tabs_copy().is_none() {
            form.store(CopyState::Posted);
        }
        let reply = browser::post_raw(path, &self.fields).await;
        if form.is_gone() {
            return None;
        }
        let leaves = leaves && reply.result.is_ok();
        form.set_busy(leaves, leaves);
        match reply.result {
            Ok(text) => {
                form.forget_sent(&self.written.0, leaves);
                if let Some(beside) = form.beside.get_value() {
                    beside.forget_sent(&self.beside, leaves);
                }
                form.show_problem(None);
                Some(Sent { text, redirect: reply.redirect })
            }
            Err(error) => {
                form.was_refused(&error);
                None
            }
        }
    }
}

impl PromptForm {
    fn was_refused(self, error: &AppError) {
        if error.code == ErrorCode::IntentReused {
            self.renew_intent();
        }
        // The server saved the refused text as a draft.
        if self.is_discarded() && self.stored_in.get_untracked() == StoredIn::Nowhere {
            return self.upload(String::new());
        }
        // Without a response of the server, it may have processed the text.
        if !matches!(error.code, ErrorCode::Unreachable | ErrorCode::Internal) {
            self.store_edit();
            if let Some(beside) = self.beside.get_value() {
                beside.store_edit();
            }
        }
        self.show_problem(Some(error));
        if error.code == ErrorCode::SimilarJob {
            // When it is shown. The warning stays in view.
            browser::after(0, || {
                browser::focus_where_it_is(CONFIRM);
            });
        }
    }
}
