//! A button that copies something. Without JavaScript it is hidden, and people select the text beside it.

use leptos::prelude::*;

use crate::ui::islands::buttons;

/// The content that a button copies.
pub(super) enum Copied {
    Text(String),
    /// The URL of a page, from its path.
    Page(String),
    /// What is typed in the field with this id.
    Field(&'static str),
}

/// `done`: the announcement after copying.
pub(super) fn copy_button<C: IntoView>(
    class: &'static str,
    copied: Copied,
    done: &'static str,
    content: C,
) -> impl IntoView + use<C> {
    let (button, text) = match copied {
        Copied::Text(text) => (buttons::COPY, text),
        Copied::Page(path) => (buttons::COPY_URL, path),
        Copied::Field(id) => (buttons::COPY_FIELD, id.to_owned()),
    };
    view! {
        <button
            type="button"
            class=format!("{class} js-only")
            data-button=button
            data-copy=text
            data-done=done
        >
            {content.into_view()}
        </button>
    }
}
