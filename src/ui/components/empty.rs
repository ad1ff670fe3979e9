//! What is shown where there is nothing yet: why, and the first step.

use leptos::prelude::*;

/// `heading` and `text` for an empty place; `step` is the link or button that changes it.
pub fn empty(heading: &'static str, text: &'static str, step: AnyView) -> AnyView {
    view! {
        <div class="empty">
            <h2>{heading}</h2>
            <p>{text}</p>
            {step}
        </div>
    }
    .into_any()
}
