//! Localizes times on the page: `<time data-age>` shows a relative time, `<time data-exact>` the full local time.

use crate::model::time::Timestamp;
use crate::ui::components::time::age;
use crate::ui::islands::browser;

/// Updates every time on the page.
pub(super) fn tick() {
    let now = browser::now();
    for time in browser::all("time[data-age], time[data-exact]") {
        let Some(at) = time.get_attribute("datetime").and_then(|at| at.parse::<Timestamp>().ok()) else {
            continue;
        };
        let local = browser::local_time(at);
        let text = if time.has_attribute("data-age") {
            browser::set(&time, "title", Some(&local));
            age(at, now)
        } else {
            local
        };
        browser::set_text(&time, &text);
    }
}
