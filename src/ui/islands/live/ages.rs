//! Keeps the times on the page current, in the user's locale and time zone: `<time data-age>` and `<time data-ahead>` are relative within
//! a week, and dates otherwise; the full time is their title.

use crate::model::time::Timestamp;
use crate::ui::components::time::{age, wait};
use crate::ui::islands::browser;

/// Updates every time on the page.
pub(super) fn tick() {
    let now = browser::now();
    for time in browser::all("time[data-age], time[data-ahead]") {
        let Some(at) = time.get_attribute("datetime").and_then(|at| at.parse::<Timestamp>().ok()) else {
            continue;
        };
        let text = if time.has_attribute("data-age") { age(at, now) } else { wait(at, now) };
        browser::set(&time, "title", Some(&browser::local_time(at)));
        browser::set_text(&time, &text.unwrap_or_else(|| browser::local_date(at)));
    }
}
