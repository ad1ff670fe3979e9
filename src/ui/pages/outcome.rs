//! What came of the plain form that led to this page.

use leptos::prelude::*;

use crate::api::flash::FlashMessage;
use crate::ui::components::notice::{Tone, notice, problem};
use crate::ui::pages::request;

/// What came of the last form, if it was one of `forms`. To be asked before anything is awaited.
pub(super) fn outcome_of(forms: &[&str]) -> Option<AnyView> {
    forms.iter().find_map(|form| request::flash(form)).and_then(|message| outcome(&message))
}

/// What a form did, with the secret that is shown this once, or why it was refused.
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
