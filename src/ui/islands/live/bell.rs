//! The number at the bell, which is part of the responses with states of jobs and with budgets.

use crate::ui::components::bell::{BELL, COUNT, label, text};
use crate::ui::islands::browser;

pub(super) fn show(unread: u32) {
    let Some(bell) = browser::by_id(BELL) else { return };
    // On the notifications page the bell has no number.
    if bell.has_attribute("aria-current") {
        return;
    }
    for name in ["aria-label", "title"] {
        browser::set(&bell, name, Some(&label(unread)));
    }
    if let Some(count) = browser::by_id(COUNT) {
        browser::set_text(&count, &text(unread));
    }
}
