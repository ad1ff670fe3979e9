//! Times on the page, in the reader's own words: `<time data-age>` is an age that ticks, `<time data-exact>` the moment itself.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::Element;

use crate::model::time::Timestamp;
use crate::ui::components::moment::age;
use crate::ui::islands::browser;

/// Brings every time on the page up to date.
pub(super) fn tick() {
    let now = browser::now();
    let Ok(times) = document().query_selector_all("time[data-age], time[data-exact]") else { return };
    for time in (0..times.length()).filter_map(|at| times.item(at)?.dyn_into::<Element>().ok()) {
        let Some(at) = time.get_attribute("datetime").and_then(|at| at.parse::<Timestamp>().ok()) else {
            continue;
        };
        let local = browser::local_time(at);
        let text = if time.has_attribute("data-age") {
            let _ = time.set_attribute("title", &local);
            age(at, now)
        } else {
            local
        };
        if time.text_content().as_ref() != Some(&text) {
            time.set_text_content(Some(&text));
        }
    }
}
