//! The outcome of the plain form that led to this page.

use leptos::prelude::*;

use crate::api::flash::FlashMessage;
use crate::ui::components::notice::{Tone, notice, problem};
use crate::ui::pages::request;

/// The outcome of the last form, if it was one of `forms`. Call it before the first await.
pub(super) fn outcome_of(forms: &[&str]) -> Option<AnyView> {
    forms.iter().find_map(|form| request::flash(form)).and_then(|message| outcome(&message))
}

/// The confirmation with its secret, which is shown only once, or the error.
pub(super) fn outcome(message: &FlashMessage) -> Option<AnyView> {
    match &message.outcome {
        Err(error) => problem(Some(error.message.clone())).map(IntoAny::into_any),
        Ok(said) => {
            let secret =
                said.secret.clone().map(|secret| view! { <p><code class="secret">{secret}</code></p> });
            Some(notice(Tone::Good, view! { <p>{said.sentence.clone()}</p> {secret} }).into_any())
        }
    }
}
