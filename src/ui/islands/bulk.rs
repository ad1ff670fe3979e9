//! Bulk selection: counts the selected rows. The checkboxes in the rows belong to the plain form [`FORM`], which
//! [`super::live::forms`] posts; without JavaScript the browser does.

use std::cell::Cell;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Event, HtmlInputElement, MouseEvent};

use crate::ui::charts::number::grouped;
use crate::ui::islands::browser;

/// The id of the checkboxes' form.
pub const FORM: &str = "bulk";
/// The id of the number of selected rows.
pub const COUNT: &str = "bulk-count";
/// The id of the checkbox that selects every row of the page, or none.
pub const ALL: &str = "bulk-all";
/// The class of the rows' checkboxes.
pub const CHECK: &str = "job-check";

/// `children` are the toolbar with the form.
#[island]
pub fn Bulk(children: Children) -> impl IntoView {
    if browser::IS_HERE {
        browser::on_window::<Event>("change", |_| count());
        // The event fires before the form is reset.
        browser::on_window::<Event>("reset", |_| browser::after(0, count));
        let last = Cell::new(None::<usize>);
        browser::on_window("click", move |event: MouseEvent| {
            let Some(check) = browser::target(&event, "input[type=checkbox]") else { return };
            let Ok(check) = check.dyn_into::<HtmlInputElement>() else { return };
            if check.id() == ALL {
                choose(&checks(), check.checked());
            } else if check.class_list().contains(CHECK) {
                let checks = checks();
                let at = checks.iter().position(|other| *other == check);
                if let (true, Some(from), Some(to)) = (event.shift_key(), last.get(), at) {
                    choose(&checks[from.min(to)..=from.max(to).min(checks.len() - 1)], check.checked());
                }
                last.set(at);
            }
        });
        // Boxes may have been checked before hydration, or restored by the browser on back navigation.
        count();
    }
    children()
}

fn choose(checks: &[HtmlInputElement], is_chosen: bool) {
    checks.iter().for_each(|check| check.set_checked(is_chosen));
    count();
}

fn count() {
    let checks = checks();
    let chosen = checks.iter().filter(|check| check.checked()).count();
    if let Some(place) = browser::by_id(COUNT) {
        browser::set_text(&place, &grouped(chosen as u64));
    }
    if let Some(all) = browser::by_id(ALL).and_then(|all| all.dyn_into::<HtmlInputElement>().ok()) {
        all.set_checked(chosen > 0 && chosen == checks.len());
        all.set_indeterminate(chosen > 0 && chosen < checks.len());
    }
}

fn checks() -> Vec<HtmlInputElement> {
    let found = browser::all(&[".", CHECK].concat());
    found.into_iter().filter_map(|check| check.dyn_into().ok()).collect()
}
