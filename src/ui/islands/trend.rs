//! Shows the figures of the day under the pointer or the range input of a trend chart. The server renders the chart,
//! with the text of each day on its column.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Event, HtmlInputElement, PointerEvent};

use crate::ui::charts::columns;
use crate::ui::islands::browser;

/// Attribute of a column: its day or days.
pub const DAYS: &str = "data-days";
/// Attribute of a column: the text of the readout.
pub const READOUT: &str = "data-readout";

/// Attribute of a range input that has been used.
const POINTED: &str = "data-pointed";
/// Attribute of a chart with listeners.
const LISTENS: &str = "data-listens";

/// `children` are a chart of [`crate::ui::charts`].
#[island]
pub fn Trend(children: Children) -> impl IntoView {
    if browser::IS_HERE {
        for figure in browser::all("figure.chart:not([data-listens])") {
            browser::toggle(&figure, LISTENS, true);
            browser::on::<Event>(&figure, "focusin", |event| moved(&event));
            browser::on::<Event>(&figure, "input", |event| moved(&event));
            browser::on::<PointerEvent>(&figure, "pointermove", |event| pointer_moved(&event));
        }
    }
    children()
}

fn input(event: &Event) -> Option<HtmlInputElement> {
    event.target()?.dyn_into().ok()
}

/// Shows the day at the range input's value.
fn moved(event: &Event) {
    if let Some(input) = input(event) {
        point_at(&input);
    }
}

/// Shows the day under the pointer.
fn pointer_moved(event: &PointerEvent) {
    let Some(input) = input(event) else { return };
    let last: usize = input.max().parse().unwrap_or(0);
    let (x, width) = (event.offset_x().max(0) as usize, input.client_width().max(1) as usize);
    let at = (x * (last + 1) / width).min(last).to_string();
    if input.value() != at || input.get_attribute(POINTED).is_none() {
        input.set_value(&at);
        point_at(&input);
    }
}

fn point_at(input: &HtmlInputElement) {
    let Some(figure) = input.closest("figure").ok().flatten() else { return };
    let columns = browser::all_in(&figure, "g[data-day]");
    let at: usize = input.value().parse().unwrap_or(0);
    let Some(column) = columns.get(at) else { return };
    browser::toggle(input, POINTED, true);
    browser::set(input, "aria-valuetext", column.get_attribute(DAYS).as_deref());
    if let Some(readout) = browser::find_in(&figure, ".readout p") {
        browser::set_text(&readout, &column.get_attribute(READOUT).unwrap_or_default());
    }
    if let Some(cursor) = browser::find_in(&figure, ".chart-cursor") {
        let (x, width) = columns::band(at, columns.len());
        browser::set(&cursor, "x", Some(&x));
        browser::set(&cursor, "width", Some(&width));
    }
}
