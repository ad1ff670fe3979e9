//! Lets a trend be pointed at: shows the numbers of the day that the pointer or the arrow keys point at. The chart is the server's, with the
//! words for each day on its column.

use leptos::ev::PointerEvent;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlInputElement};

use crate::ui::charts::columns;

/// On the column of a day: which days it is about.
pub const DAYS: &str = "data-days";
/// On the column of a day: what is read out.
pub const READOUT: &str = "data-readout";

/// `children` are what the chart consists of.
#[island]
pub fn Trend(children: Children) -> impl IntoView {
    view! {
        <figure
            class="chart"
            on:focusin=move |event| moved(&event)
            on:input=move |event| moved(&event)
            on:pointermove=move |event| follow(&event)
        >
            {children()}
        </figure>
    }
}

/// Shows the day that the range input is at.
fn moved(event: &Event) {
    let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
    if let Some(input) = input {
        point_at(&input);
    }
}

/// Points at the day below the pointer.
fn follow(event: &PointerEvent) {
    let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
    let Some(input) = input else { return };
    let last: usize = input.max().parse().unwrap_or(0);
    let (x, width) = (event.offset_x().max(0) as usize, input.client_width().max(1) as usize);
    let at = (x * (last + 1) / width).min(last).to_string();
    if input.value() != at || input.get_attribute(POINTED).is_none() {
        input.set_value(&at);
        point_at(&input);
    }
}

/// On the range input once a day was pointed at.
const POINTED: &str = "data-pointed";

fn point_at(input: &HtmlInputElement) {
    let Some(figure) = input.closest("figure").ok().flatten() else { return };
    let columns = figure.query_selector_all("g[data-day]").ok();
    let at: usize = input.value().parse().unwrap_or(0);
    let column = columns.as_ref().and_then(|columns| columns.item(at as u32)?.dyn_into::<Element>().ok());
    let (Some(columns), Some(column)) = (columns, column) else { return };
    let _ = input.set_attribute(POINTED, "");
    let _ = input.set_attribute("aria-valuetext", &column.get_attribute(DAYS).unwrap_or_default());
    let part = |selector: &str| figure.query_selector(selector).ok().flatten();
    if let Some(readout) = part(".readout p") {
        readout.set_text_content(column.get_attribute(READOUT).as_deref());
    }
    if let Some(under) = part(".chart-under") {
        let (x, width) = columns::band(at, columns.length() as usize);
        under.set_inner_html(
            &["<rect class=\"chart-cursor\" height=\"100%\" x=\"", &x, "\" width=\"", &width, "\"></rect>"]
                .concat(),
        );
    }
}
