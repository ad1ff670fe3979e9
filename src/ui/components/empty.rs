//! What is shown where there is nothing yet: why, and the first step.

use leptos::prelude::*;

/// `heading` and `text` for an empty place; `step` is the link or button that changes it.
pub fn empty<S: IntoView>(heading: &'static str, text: &'static str, step: S) -> impl IntoView + use<S> {
    view! {
        <div class="empty">
            <h2>{heading}</h2>
            <p>{text}</p>
            {step.into_view()}
        </div>
    }
}
