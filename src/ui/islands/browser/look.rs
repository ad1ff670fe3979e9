//! Theme, density and shortcuts: attributes of the document, and cookies.

use leptos::prelude::{document, window};
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlDocument;

use super::{NO_SHORTCUTS, choice_cookie, protocol, set, toggle};

/// Switches between the light and dark theme.
pub fn toggle_theme() {
    choose_theme(if is_dark() { "light" } else { "dark" });
}

/// Shows the theme `light` or `dark`, or the system's if it is empty, and stores the choice for a year.
pub fn choose_theme(theme: &str) {
    if let Some(root) = document().document_element() {
        set(&root, "data-theme", Some(theme).filter(|theme| !theme.is_empty()));
    }
    if let Some(page) = document().dyn_ref::<HtmlDocument>() {
        let _ = page.set_cookie(&choice_cookie("theme", theme, &protocol()));
    }
}

/// Switches between dense and comfortable rows and stores the choice for a year.
pub fn toggle_density() {
    let root = document().document_element();
    let is_comfortable = root.as_ref().is_some_and(|root| root.has_attribute("data-density"));
    if let Some(root) = &root {
        set(root, "data-density", (!is_comfortable).then_some("comfortable"));
    }
    if let Some(page) = document().dyn_ref::<HtmlDocument>() {
        let density = if is_comfortable { "" } else { "comfortable" };
        let _ = page.set_cookie(&choice_cookie("density", density, &protocol()));
    }
}

/// Whether the document has the attribute `name`.
pub fn is_on_document(name: &str) -> bool {
    document().document_element().is_some_and(|root| root.has_attribute(name))
}

/// Switches the shortcuts of a single key on or off and stores the choice for a year.
pub fn choose_shortcuts(are_on: bool) {
    if let Some(root) = document().document_element() {
        toggle(&root, NO_SHORTCUTS, !are_on);
    }
    if let Some(page) = document().dyn_ref::<HtmlDocument>() {
        let _ = page.set_cookie(&choice_cookie("shortcuts", if are_on { "" } else { "off" }, &protocol()));
    }
}

pub fn set_on_document(name: &str, value: &str) {
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute(name, value);
    }
}

fn is_dark() -> bool {
    match document().document_element().and_then(|root| root.get_attribute("data-theme")) {
        Some(chosen) => chosen == "dark",
        None => window()
            .match_media("(prefers-color-scheme: dark)")
            .ok()
            .flatten()
            .is_some_and(|query| query.matches()),
    }
}
