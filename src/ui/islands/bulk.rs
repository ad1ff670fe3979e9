//! What can be done with many jobs at once: counts the chosen rows. The checkboxes in the rows are plain HTML of the form [`FORM`], which
//! the browser can post by itself; [`super::live::forms`] posts it where there is JavaScript.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Event, HtmlInputElement};

use crate::ui::charts::number::grouped;
use crate::ui::islands::browser;

/// The id of the form that the checkboxes belong to.
pub const FORM: &str = "bulk";
/// The id of the number of chosen rows.
pub const COUNT: &str = "bulk-count";
/// The id of the button that chooses every row of the page, or none.
pub const ALL: &str = "bulk-all";
/// The class of the checkboxes.
pub const CHECK: &str = "job-check";

/// `children` are the bar with the form.
#[island]
pub fn Bulk(children: Children) -> impl IntoView {
    if browser::IS_HERE {
        browser::on_window::<Event>("change", |_| count());
        // A form is reset after it has said so.
        browser::on_window::<Event>("reset", |_| browser::after(0, count));
        browser::on_window("click", |event: Event| {
            if browser::target(&event, &["#", ALL].concat()).is_some() {
                choose_all();
            }
        });
        // What was ticked before the page was interactive, or that the browser ticked again on the way back.
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
