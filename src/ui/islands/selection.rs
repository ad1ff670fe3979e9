//! Selecting rows by their checkboxes: all rows of a page, and a range with Shift.

use std::cell::Cell;

use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{HtmlInputElement, MouseEvent};

use crate::ui::islands::browser;

/// The checkboxes that `selector` matches, in the order of the page.
pub fn checks(selector: &str) -> Vec<HtmlInputElement> {
    browser::all(selector).into_iter().filter_map(|check| check.dyn_into().ok()).collect()
}

/// Handles clicks on the checkboxes of rows, which `rows` matches, and on the one with the id `all`. Calls `changed` with the
/// changed checkboxes.
pub fn listen(all: &'static str, rows: &'static str, changed: impl Fn(&[HtmlInputElement]) + 'static) {
    let last = Cell::new(None::<usize>);
    browser::on_window("click", move |event: MouseEvent| {
        let Some(check) = browser::target(&event, "input[type=checkbox]") else { return };
        let Ok(check) = check.dyn_into::<HtmlInputElement>() else { return };
        let checks = checks(rows);
        let set = |checks: &[HtmlInputElement]| {
            checks.iter().for_each(|other| other.set_checked(check.checked()));
            changed(checks);
        };
        if check.id() == all {
            return set(&checks);
        }
        let Some(at) = checks.iter().position(|other| *other == check) else { return };
        let from = last.replace(Some(at)).filter(|from| event.shift_key() && *from < checks.len());
        if let Some(from) = from {
            set(&checks[from.min(at)..=from.max(at)]);
        }
    });
}

/// Shows in the checkbox with the id `all` whether all rows are selected, or some.
pub fn show_all(all: &str, checks: &[HtmlInputElement]) {
    let selected = checks.iter().filter(|check| check.checked()).count();
    if let Some(all) = browser::by_id(all).and_then(|all| all.dyn_into::<HtmlInputElement>().ok()) {
        all.set_checked(selected > 0 && selected == checks.len());
        all.set_indeterminate(selected > 0 && selected < checks.len());
    }
}
