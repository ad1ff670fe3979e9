//! Bulk selection: counts the selected rows. The list and its toolbar are in the plain form [`FORM`], which
//! [`super::live::forms`] posts. Without JavaScript the browser posts it.

use leptos::prelude::*;
use leptos::web_sys::Event;

use crate::ui::charts::number::grouped;
use crate::ui::islands::{browser, selection};

/// The id of the form around the list.
pub const FORM: &str = "bulk";
/// The id of the number of selected rows.
pub const COUNT: &str = "bulk-count";
/// The id of the checkbox that selects every row of the page, or none.
pub const ALL: &str = "bulk-all";
/// The checkboxes of the rows.
const ROWS: &str = ".job-row > label > input";

/// `children` are the toolbar of the form.
#[island]
pub fn Bulk(children: Children) -> impl IntoView {
    if browser::IS_HERE {
        browser::on_window::<Event>("change", |_| count());
        // The event fires before the form is reset.
        browser::on_window::<Event>("reset", |_| browser::after(0, count));
        selection::listen(ALL, ROWS, |_| count());
        // Boxes may have been checked before hydration, or restored by the browser on back navigation.
        count();
    }
    children()
}

fn count() {
    let checks = selection::checks(ROWS);
    let selected = checks.iter().filter(|check| check.checked()).count();
    if let Some(number) = browser::by_id(COUNT) {
        browser::set_text(&number, &grouped(selected as u64));
    }
    selection::show_all(ALL, &checks);
}
