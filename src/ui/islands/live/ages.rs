//! Keeps the times on the page current, in the user's locale and time zone. `<time data-age>` and `<time data-ahead>` are
//! relative within a week, and dates otherwise; the full time is their title. Those of rows have a short form.
//! `<time data-elapsed>` is the time since then.

use crate::ui::components::time::{SHORT, age, duration, short, wait};
use crate::ui::islands::browser;
use model::time::Timestamp;

/// Updates every time on the page.
pub(super) fn tick() {
    let now = browser::now();
    for time in browser::all(&["time[data-age], time[data-ahead], time[data-elapsed], ", SHORT].concat()) {
        let Some(at) = time.get_attribute("datetime").and_then(|at| at.parse::<Timestamp>().ok()) else {
            continue;
        };
        let text = if time.has_attribute("data-age") {
            age(at, now)
        } else if time.has_attribute("data-ahead") {
            wait(at, now)
        } else if time.has_attribute("data-elapsed") {
            Some(duration(now.as_millis() - at.as_millis()))
        } else {
            Some(short(at, now))
        };
        browser::set(&time, "title", Some(&browser::local_time(at)));
        browser::set_text(&time, &text.unwrap_or_else(|| browser::local_date(at)));
    }
}
