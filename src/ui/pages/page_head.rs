//! The head of a page: its title, one line of context, and the primary action on the right. Also sets the document's
//! title.

use leptos::prelude::*;
use leptos_meta::Title;

pub(super) fn page_head(name: &str, context: impl IntoView, actions: impl IntoView) -> AnyView {
    view! {
        {title(name)}
        <header class="page-head">
            <div class="page-title">
                <h1>{name.to_owned()}</h1>
                <p class="context">{context.into_view()}</p>
            </div>
            <div class="actions">{actions.into_view()}</div>
        </header>
    }
    .into_any()
}

/// Sets the document's title.
pub(super) fn title(name: &str) -> AnyView {
    // Leptos does not escape a title.
    let name = name.replace('&', "&amp;").replace('<', "&lt;");
    view! { <Title text=name + " · Docket" /> }.into_any()
}
