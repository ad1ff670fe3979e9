//! After a return from a page, restores the focus on the row that led there.

use leptos::prelude::document;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlElement};

use crate::ui::components::job_row::ROW_TARGET;
use crate::ui::islands::browser;

/// Restores the focus after back or forward, and stores it when the page is left.
pub(super) fn restore() {
    if browser::came_by_history()
        && browser::has_no_focus()
        && let Some(row) = browser::stored_for_tab(&key())
        && let Some(target) = browser::find(&["[data-key=\"", &row, "\"] ", ROW_TARGET].concat())
        && let Ok(target) = target.dyn_into::<HtmlElement>()
    {
        let _ = target.focus();
    }
    browser::on_window::<Event>("pagehide", |_| browser::store_for_tab(&key(), &row().unwrap_or_default()));
}

/// The key of the row that has the focus.
fn row() -> Option<String> {
    let row: Element = document().active_element()?.closest("li[data-key], tr[data-key]").ok()??;
    row.get_attribute("data-key")
}

fn key() -> String {
    ["docket.focus", &browser::here()].concat()
}
