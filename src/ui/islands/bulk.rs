//! Bulk selection: counts the selected rows. The checkboxes in the rows belong to the plain form [`FORM`], which
//! [`super::live::forms`] posts; without JavaScript the browser does.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Event, HtmlInputElement};

use crate::ui::charts::number::grouped;
use crate::ui::islands::browser;

/// The id of the checkboxes' form.
pub const FORM: &str = "bulk";
/// The id of the number of selected rows.
pub const COUNT: &str = "bulk-count";
/// The id of the button that selects every row of the page, or none.
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
        browser::on_window("click", |event: Event| {
            if browser::target(&event, &["#", ALL].concat()).is_some() {
                choose_all();
            }
        });
        // Boxes may have been checked before hydration, or restored by the browser on back navigation.
        count();
    }
    children()
}

fn choose_all() {
    let checks = checks();
    let every = checks.iter().all(HtmlInputElement::checked);
    checks.iter().for_each(|check| check.set_checked(!every));
    count();
}

fn count() {
    if let Some(place) = browser::by_id(COUNT) {
        browser::set_text(&place, &grouped(checks().iter().filter(|check| check.checked()).count() as u64));
    }
}

fn checks() -> Vec<HtmlInputElement> {
    let found = browser::all(&[".", CHECK].concat());
    found.into_iter().filter_map(|check| check.dyn_into().ok()).collect()
}
