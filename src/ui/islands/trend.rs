//! The tooltip of a trend chart, at the pointer or the range input. Dragging over days, or Shift with the arrow keys and Enter,
//! opens these days; a click or Enter opens one day. Expects the figure of `pages::analytics::trend`, and around it, in
//! `.trend`, its table. The tooltip of a day is the day's row.

use std::cell::Cell;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlElement, HtmlInputElement, PointerEvent};

use crate::ui::charts::columns;
use crate::ui::islands::browser;

/// The class of the surface above the columns that receives pointer events.
pub const HIT_AREA: &str = "chart-hit";
/// The class of the tooltip.
pub const TIP: &str = "chart-tip";
/// The class of the link that opens days.
pub const OPEN: &str = "chart-open";

/// A pointer that moves this far, in px, drags.
const DRAG: i32 = 6;

#[derive(Clone, Copy)]
struct Press {
    x: i32,
    at: usize,
    is_drag: bool,
    /// Whether the tooltip of this day was open already.
    was_shown: bool,
}

struct Chart {
    figure: Element,
    input: HtmlInputElement,
    hit_area: Element,
    press: Cell<Option<Press>>,
    /// The day whose tooltip is open.
    shown: Cell<Option<usize>>,
    /// Where a keyboard selection of days began.
    anchor: Cell<Option<usize>>,
}

/// `children` are a chart of [`crate::ui::charts`].
#[island]
pub fn Trend(children: Children) -> impl IntoView {
    if browser::IS_HERE {
        for figure in browser::all("figure.chart:not([data-listens])") {
            browser::toggle(&figure, "data-listens", true);
            listen(figure);
        }
    }
    children()
}

fn listen(figure: Element) {
    let input = browser::find_in(&figure, "input").and_then(|input| input.dyn_into().ok());
    let (Some(input), Some(hit_area)) = (input, browser::find_in(&figure, &[".", HIT_AREA].concat())) else {
        return;
    };
    let chart = Rc::new(Chart {
        figure,
        input,
        hit_area,
        press: Cell::default(),
        shown: Cell::default(),
        anchor: Cell::default(),
    });
    type Handler = fn(&Chart, &PointerEvent);
    let handlers: [(&str, Handler); 5] = [
        ("pointerdown", Chart::pressed),
        ("pointermove", Chart::moved),
        ("pointerup", Chart::released),
        ("pointercancel", |chart, _| chart.drop_press()),
        ("pointerleave", |chart, event| {
            if event.pointer_type() != "touch" && chart.press.get().is_none() {
                chart.hide();
            }
        }),
    ];
    for (name, handler) in handlers {
        let this = chart.clone();
        browser::on(&chart.hit_area, name, move |event: PointerEvent| handler(&this, &event));
    }
    for name in ["focus", "input"] {
        let this = chart.clone();
        browser::on::<Event>(&chart.input, name, move |_| this.point_at(this.value()));
    }
    let this = chart.clone();
    browser::on::<Event>(&chart.input, "blur", move |_| this.hide());
    let this = chart.clone();
    browser::on_key(&chart.input, move |key| this.key(key));
}

impl Chart {
    fn columns(&self) -> Vec<Element> {
        browser::all_in(&self.figure, "g[data-day]")
    }

    /// The index of the day that the range input is at.
    fn value(&self) -> usize {
        self.input.value().parse().unwrap_or(0)
    }

    fn last(&self) -> usize {
        self.input.max().parse().unwrap_or(0)
    }

    fn day_under(&self, event: &PointerEvent) -> usize {
        let (x, width) = (event.offset_x().max(0) as usize, self.hit_area.client_width().max(1) as usize);
        (x * (self.last() + 1) / width).min(self.last())
    }

    fn pressed(&self, event: &PointerEvent) {
        if event.button() != 0 {
            return;
        }
        let _ = self.hit_area.set_pointer_capture(event.pointer_id());
        let at = self.day_under(event);
        let was_shown = event.pointer_type() != "touch" || self.shown.get() == Some(at);
        self.press.set(Some(Press { x: event.offset_x(), at, is_drag: false, was_shown }));
        self.point_at(at);
    }

    fn moved(&self, event: &PointerEvent) {
        let at = self.day_under(event);
        if let Some(press) = self.press.get()
            && (press.is_drag || (event.offset_x() - press.x).abs() >= DRAG)
        {
            self.press.set(Some(Press { is_drag: true, ..press }));
            self.choose(Some((press.at, at)));
        }
        self.point_at(at);
    }

    fn released(&self, event: &PointerEvent) {
        let Some(press) = self.press.take() else { return };
        match press {
            Press { is_drag: true, at, .. } => self.open(at, self.day_under(event)),
            // The first touch shows the day; the second one opens it.
            Press { was_shown: true, at, .. } => self.open(at, at),
            _ => {}
        }
    }

    fn drop_press(&self) {
        self.press.set(None);
        self.choose(None);
    }

    fn key(&self, event: &browser::Key) {
        let by = match event.name.as_str() {
            "ArrowLeft" | "ArrowDown" => -1,
            "ArrowRight" | "ArrowUp" => 1,
            "Enter" => {
                event.prevent_default();
                let at = self.value();
                return self.open(self.anchor.get().unwrap_or(at), at);
            }
            "Escape" => {
                self.anchor.set(None);
                self.choose(None);
                return self.hide();
            }
            _ => return,
        };
        if !event.shift_key() {
            self.anchor.set(None);
            return self.choose(None);
        }
        event.prevent_default();
        let from = self.anchor.get().unwrap_or_else(|| self.value());
        let to = self.value().saturating_add_signed(by).min(self.last());
        self.anchor.set(Some(from));
        self.point_at(to);
        self.choose(Some((from, to)));
    }

    /// Opens the days between two columns, in either order.
    fn open(&self, from: usize, to: usize) {
        let columns = self.columns();
        let day = |at: usize, name: &str| columns.get(at).and_then(|column| column.get_attribute(name));
        let link = browser::find_in(&self.figure, &[".", OPEN].concat());
        let link = link.and_then(|link| link.dyn_into::<HtmlElement>().ok());
        let (from, to) = (day(from.min(to), "data-day"), day(from.max(to), "data-to"));
        let (Some(from), Some(to), Some(link)) = (from, to, link) else { return };
        self.anchor.set(None);
        let base = link.get_attribute("href").unwrap_or_default();
        let separator = if base.contains('?') { "&" } else { "?" };
        browser::set(&link, "href", Some(&[&base, separator, "from=", &from, "&to=", &to].concat()));
        link.click();
        // For the next use, when the page stays.
        browser::set(&link, "href", Some(&base));
    }

    /// Marks the days between two columns.
    fn choose(&self, days: Option<(usize, usize)>) {
        let (x, width) = match days {
            Some((a, b)) => columns::bands(a.min(b), a.max(b), self.last() + 1),
            None => ("0".to_owned(), "0".to_owned()),
        };
        self.set_position("chart-chosen", &x, &width);
    }

    fn set_position(&self, class: &str, x: &str, width: &str) {
        if let Some(mark) = browser::find_in(&self.figure, &[".", class].concat()) {
            browser::set(&mark, "x", Some(x));
            browser::set(&mark, "width", Some(width));
        }
    }

    /// Shows the tooltip of a day.
    fn point_at(&self, at: usize) {
        let columns = self.columns();
        if at >= columns.len() {
            return;
        }
        self.input.set_value(&at.to_string());
        let (x, width) = columns::bands(at, at, columns.len());
        self.set_position("chart-cursor", &x, &width);
        if self.shown.replace(Some(at)) == Some(at) {
            return;
        }
        let lines = self.lines(at);
        browser::set(&self.input, "aria-valuetext", lines.first().map(String::as_str));
        if let Some(readout) = browser::find_in(&self.figure, ".readout p") {
            browser::set_text(&readout, &lines.join(", ").replace('\t', " "));
        }
        let tip = browser::find_in(&self.figure, &[".", TIP].concat());
        if let Some(tip) = tip.and_then(|tip| tip.dyn_into::<HtmlElement>().ok()) {
            browser::set_text(&tip, &lines.join("\n"));
            browser::toggle(&tip, "data-left", at * 2 >= columns.len());
            let _ = tip.style().set_property("left", &columns::middle(at, columns.len()));
        }
    }

    /// The day and its figures: the row of the table with its headings.
    fn lines(&self, at: usize) -> Vec<String> {
        let Some(around) = self.figure.closest(".trend").ok().flatten() else { return Vec::new() };
        let text = |element: &Element| element.text_content().unwrap_or_default().trim().to_owned();
        let rows = browser::all_in(&around, ".as-table tbody tr");
        let Some(row) = rows.get(at) else { return Vec::new() };
        let cells = browser::all_in(row, "th, td");
        let heads = browser::all_in(&around, ".as-table thead th");
        let figures = heads.iter().zip(&cells).skip(1).map(|(head, cell)| (text(head), text(cell)));
        let figures = figures.filter(|(_, value)| !value.is_empty() && value != "–");
        let day = cells.first().map(text);
        day.into_iter().chain(figures.map(|(name, value)| [name, value].join("\t"))).collect()
    }

    fn hide(&self) {
        self.shown.set(None);
        self.set_position("chart-cursor", "0", "0");
        if let Some(tip) = browser::find_in(&self.figure, &[".", TIP].concat()) {
            browser::set_text(&tip, "");
        }
    }
}
