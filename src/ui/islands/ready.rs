//! Marks the page as interactive. Must be the last island of the document, because islands are hydrated in order.

use leptos::prelude::*;

use crate::ui::islands::browser;

#[island]
pub fn Ready() -> impl IntoView {
    if browser::IS_HERE {
        browser::set_on_document("data-hydrated", "true");
    }
}
