//! The outcome of the plain form that led to this page.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::components::notice::{Tone, notice, problem};
use crate::ui::pages::copy_button::{Copied, copy_button};
use crate::ui::pages::request;
use model::flash::FlashMessage;

/// The outcome of the last form, if it was one of `forms`. Call it before the first await.
pub(super) fn outcome_of(forms: &[&str]) -> Option<AnyView> {
    forms.iter().find_map(|form| request::flash(form)).and_then(|message| outcome(&message))
}

/// The confirmation with its secret, which is shown only once, or the error.
pub(super) fn outcome(message: &FlashMessage) -> Option<AnyView> {
    outcome_with(message, |secret| {
        let copy = copy_secret(secret.to_owned());
        view! { <p class="secret-line"><code class="secret">{secret.to_owned()}</code> {copy}</p> }.into_any()
    })
}

/// As [`outcome`], with the secret rendered by `shown`.
pub(super) fn outcome_with(message: &FlashMessage, shown: impl FnOnce(&str) -> AnyView) -> Option<AnyView> {
    match &message.outcome {
        Err(error) => problem(Some(error.message.clone())).map(IntoAny::into_any),
        Ok(confirmation) => {
            let secret = confirmation.secret.as_deref().map(shown);
            Some(notice(Tone::Good, view! { <p>{confirmation.sentence.clone()}</p> {secret} }).into_any())
        }
    }
}

/// The button that copies a secret.
pub(super) fn copy_secret(secret: String) -> AnyView {
    let content = view! { {icon(icon::COPY)} "Copy" };
    copy_button("button", Copied::Text(secret), "Copied to the clipboard", content).into_any()
}
