//! The URL of the page, and the browser's history.

use leptos::prelude::{document, window};
use leptos::wasm_bindgen::JsValue;
use leptos::web_sys::Event;
use leptos::web_sys::js_sys::Reflect;

/// Navigates to `href`.
pub fn go(href: &str) {
    let _ = window().location().assign(href);
}

/// Whether a `pageshow` event is about a page that the browser kept for its Back button.
pub fn is_restored(event: &Event) -> bool {
    Reflect::get(event, &"persisted".into()).is_ok_and(|persisted| persisted.is_truthy())
}

/// Whether a link of this site led here: not a typed URL, a reload or back/forward.
pub fn came_by_link() -> bool {
    navigation("type").as_deref() == Some("navigate") && document().referrer().starts_with(&(origin() + "/"))
}

/// Whether the page was loaded again, or back or forward led here.
pub fn came_again() -> bool {
    came_by_history() || navigation("type").as_deref() == Some("reload")
}

/// Whether back or forward led here.
pub fn came_by_history() -> bool {
    navigation("type").as_deref() == Some("back_forward")
}

/// Path and query of the URL that the server rendered this page for. The browser's history may have changed the current one.
pub fn loaded_url() -> String {
    let url = navigation("name").unwrap_or_default();
    match url.strip_prefix(&origin()) {
        Some(url) => url.split('#').next().unwrap_or_default().to_owned(),
        None => here(),
    }
}

/// A field of how the browser came to this page: its `type` is `navigate`, `reload` or `back_forward`, its `name` the URL.
fn navigation(field: &str) -> Option<String> {
    let navigations = window().performance()?.get_entries_by_type("navigation");
    Reflect::get(&navigations.get(0), &field.into()).ok()?.as_string()
}

/// Path and query of the current URL.
pub fn here() -> String {
    let location = window().location();
    location.pathname().unwrap_or_default() + &location.search().unwrap_or_default()
}

/// Whether a path with or without a query is that of this page.
pub fn is_here(href: &str) -> bool {
    let here = here();
    let path = here.split('?').next().unwrap_or_default();
    href.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('?'))
}

/// The fragment of the current URL, with its `#`.
pub fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}

/// Removes the fragment from the URL without a new history entry.
pub fn forget_fragment() {
    replace_url(&here());
}

/// Replaces the current history entry with `url`.
pub fn replace_url(url: &str) {
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(url));
    }
}

/// Adds a history entry for `url`. The current one keeps its scroll position, see `PopStateEvent::state`.
pub fn push_url(url: &str) {
    if let Ok(history) = window().history() {
        let y = window().scroll_y().unwrap_or(0.0);
        let _ = history.replace_state_with_url(&JsValue::from_f64(y), "", None);
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(url));
    }
}

/// The origin of the page, such as `https://docket.example.com`.
pub fn origin() -> String {
    window().location().origin().unwrap_or_default()
}

pub(super) fn protocol() -> String {
    window().location().protocol().unwrap_or_default()
}
