//! The selected jobs of the list. The list with its toolbar is a plain form, which [`crate::ui::islands::live::forms`] posts. Without JavaScript the browser posts it.

use leptos::web_sys::HtmlFormElement;

use super::{List, Selected};
use crate::ui::charts::number::grouped;
use crate::ui::islands::browser;
use crate::ui::marks::{BULK, BULK_COUNT, BULK_PAGE};

pub(super) const LIST: List = List { form: BULK, row: "jobs", page: BULK_PAGE, has_other_pages: false };

/// Shows the number of selected jobs in the toolbar.
pub(super) fn show(_: &Selected, count: u64) {
    if let Some(number) = BULK_COUNT.element() {
        browser::set_text(&number, &grouped(count));
    }
}

/// Unticks the jobs among the `fields` that `form` has posted. Those that were ticked since then stay.
pub fn untick(form: &HtmlFormElement, fields: &str) {
    if !BULK.is_of(form) {
        return;
    }
    for check in LIST.boxes().iter().filter(|check| check.checked()) {
        let posted = [LIST.row, "=", &check.value()].concat();
        if fields.split('&').any(|field| field == posted) {
            check.click();
        }
    }
}
