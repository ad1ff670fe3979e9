//! An empty state: why there is nothing yet, and the first step.

use leptos::prelude::*;

use model::links;

/// `step`: the link or button for the first step.
pub fn empty<S: IntoView>(heading: &'static str, text: &'static str, step: S) -> impl IntoView + use<S> {
    view! {
        <div class="empty">
            <h2>{heading}</h2>
            <p>{text}</p>
            {step.into_view()}
        </div>
    }
}

/// A link to the help page `area`.
pub fn learn_about(area: &'static str, what: &'static str) -> impl IntoView + use<> {
    view! { <p class="hint"><a href=links::help(area)>"Learn about " {what}</a></p> }
}
