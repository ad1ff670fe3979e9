//! What came of the plain form that led to this page.

use leptos::prelude::*;

use crate::api::flash::FlashMessage;
use crate::ui::components::notice::{Tone, notice, problem};

/// What the form did, with the secret that is shown this once; or why it was refused.
pub(super) fn outcome(message: &FlashMessage) -> AnyView {
    match &message.outcome {
        Err(error) => problem(Some(error.message.clone())).into_any(),
        Ok(said) => {
            let secret = said.secret.clone().map(|secret| view! { <p><code class="secret">{secret}</code></p> });
            notice(Tone::Good, view! { <p>{said.sentence.clone()}</p> {secret} })
        }
    }
}
