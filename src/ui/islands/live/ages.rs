//! Scripts the DOM: keeps the times on the page current, in the user's locale and time zone. Each has a form ([`TIME`]): past and future ones are
//! relative within a week, and dates otherwise; the full time is their title. Those of rows have a short form.
//! An elapsed one is the time since then.

use crate::ui::components::time::{AHEAD, PAST, SHORT, age, duration, short, wait};
use crate::ui::islands::browser;
use crate::ui::marks::TIME;
use model::time::Timestamp;

/// Matches the times since then, which count seconds.
const COUNTING: &str = "time[role=timer]";

/// Updates every time on the page.
pub(super) fn tick() {
    update(&[&TIME.selector(), ", ", SHORT].concat());
}

/// Updates those that count seconds.
pub(super) fn count() {
    update(COUNTING);
}

fn update(times: &str) {
    let now = browser::server_now();
    for time in browser::all(times) {
        let Some(at) = time.get_attribute("datetime").and_then(|at| at.parse::<Timestamp>().ok()) else {
            continue;
        };
        let text = match TIME.of(&time).as_deref() {
            Some(PAST) => age(at, now),
            Some(AHEAD) => wait(at, now),
            Some(_) => Some(duration(now.as_millis() - at.as_millis())),
            None => Some(short(at, now)),
        };
        browser::set(&time, "title", Some(&browser::local_time(at)));
        browser::set_text(&time, &text.unwrap_or_else(|| browser::local_date(at)));
    }
}
