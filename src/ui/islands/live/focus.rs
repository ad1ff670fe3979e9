//! Scripts the DOM: the focus of a page that was loaded: after a return, the row that led away.

use leptos::prelude::document;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlElement};

use crate::ui::components::row_target::ROW_TARGET;
use crate::ui::islands::browser;

/// Restores the focus after back or forward, and stores it when the page is left. Sets the focus of a page with `autofocus`, which a busy
/// browser leaves out now and then.
pub(super) fn restore() {
    if browser::has_no_focus()
        && let Some(target) = row_that_led_away().or_else(|| browser::find("[autofocus]"))
        && let Ok(target) = target.dyn_into::<HtmlElement>()
    {
        let _ = target.focus();
    }
    browser::on_window::<Event>("pagehide", |_| browser::store_for_tab(&key(), &row().unwrap_or_default()));
}

/// The link in the row that had the focus, after back or forward.
fn row_that_led_away() -> Option<Element> {
    if !browser::came_by_history() {
        return None;
    }
    let row = browser::stored_for_tab(&key())?;
    browser::find(&["[data-key=\"", &row, "\"] ", ROW_TARGET].concat())
}

/// The key of the row that has the focus.
fn row() -> Option<String> {
    let row: Element = document().active_element()?.closest("li[data-key], tr[data-key]").ok()??;
    row.get_attribute("data-key")
}

fn key() -> String {
    ["docket.focus", &browser::here()].concat()
}
