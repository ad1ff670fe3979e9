//! Marks the page as interactive. Needs to be the last island of the document: the others are hydrated before it.

use leptos::prelude::*;

use crate::ui::islands::browser;

#[island]
pub fn Ready() -> impl IntoView {
    if browser::IS_HERE {
        browser::set_on_document("data-hydrated", "true");
    }
}
