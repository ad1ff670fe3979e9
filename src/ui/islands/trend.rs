//! The tooltip of a trend chart, at the pointer or the range input. Dragging over days, or Shift with the arrow keys and Enter,
//! opens these days; a click or Enter opens one day. One signal is what is pointed at ([`Pointed`]): the highlights, the tooltip and
//! the range input show it. The columns are the server's. The tooltip of a day is the day's row in [`TREND_TABLE`].

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlElement, HtmlInputElement, KeyboardEvent, PointerEvent};

use crate::ui::charts::columns;
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;
use crate::ui::marks::{TREND_LINK, TREND_READOUT, TREND_TABLE};

/// A pointer that moves this far, in px, drags.
const DRAG: i32 = 6;

/// What the pointer or the range input points at.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Pointed {
    /// The day whose tooltip is open.
    day: Option<usize>,
    /// The chosen days: where the choice began, and its other end.
    chosen: Option<(usize, usize)>,
    press: Option<Press>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Press {
    x: i32,
    day: usize,
    is_drag: bool,
    /// Whether the tooltip of this day was open already.
    was_shown: bool,
}

#[derive(Clone, Copy)]
struct Chart {
    pointed: RwSignal<Pointed>,
    plot: NodeRef<html::Div>,
}

/// `children` are a chart of [`crate::ui::charts`] with a range input, whose maximum is the last day, and the link [`TREND_LINK`].
#[island]
pub fn Trend(children: Children) -> impl IntoView {
    let chart = Chart { pointed: RwSignal::new(Pointed::default()), plot: NodeRef::new() };
    if let Some(live) = LiveState::here() {
        chart.follow(live);
    }
    view! { <div node_ref=chart.plot class="chart-plot">{children()}</div> }
}

impl Chart {
    /// Shows what is pointed at, also after the server's elements were merged into the page. Of other days, nothing is pointed at.
    fn follow(self, live: LiveState) {
        let shown = StoredValue::new(String::new());
        browser::effect(move || {
            live.merges.track();
            let days = all_days();
            if days == shown.get_value() {
                return self.show(self.pointed.get_untracked());
            }
            shown.set_value(days);
            self.pointed.set(Pointed::default());
        });
        browser::effect(move || self.show(self.pointed.get()));
        browser::effect(move || {
            if let Some(plot) = self.plot.get() {
                self.listen(&plot);
            }
        });
    }

    /// One closure for all events, because nine handlers in the view are 1 KB more.
    fn listen(self, plot: &Element) {
        type Handler = fn(Chart, Event);
        let handlers: [(&str, Handler); 9] = [
            ("focusin", |chart, _| chart.point_at_value(chart.pointed.get_untracked().chosen)),
            ("input", |chart, _| chart.point_at_value(None)),
            ("focusout", |chart, _| chart.left()),
            ("keydown", |chart, event| chart.key(event.unchecked_into())),
            ("pointerdown", |chart, event| chart.pressed(event.unchecked_ref())),
            ("pointermove", |chart, event| chart.moved(event.unchecked_ref())),
            ("pointerup", |chart, event| chart.released(event.unchecked_ref())),
            ("pointercancel", |chart, _| chart.pointed.set(Pointed::default())),
            ("pointerleave", |chart, event| chart.pointer_left(event.unchecked_ref())),
        ];
        for (name, handler) in handlers {
            browser::on(plot, name, move |event| handler(self, event));
        }
    }

    fn pointer_left(self, event: &PointerEvent) {
        if event.pointer_type() != "touch" {
            self.left();
        }
    }

    fn change(self, change: impl Fn(Pointed) -> Pointed) {
        let before = self.pointed.get_untracked();
        let now = change(before);
        if now != before {
            self.pointed.set(now);
        }
    }

    /// The part of the chart that `selector` matches.
    fn part<E: JsCast>(self, selector: &str) -> Option<E> {
        let plot = self.plot.get_untracked()?;
        browser::find_in(&plot, selector)?.dyn_into().ok()
    }

    fn input(self) -> Option<HtmlInputElement> {
        self.part("input")
    }

    /// The index of the day that the range input is at.
    fn value(self) -> usize {
        self.input().map_or(0, |input| input.value().parse().unwrap_or(0))
    }

    fn last(self) -> usize {
        self.input().map_or(0, |input| input.max().parse().unwrap_or(0))
    }

    fn day_under(self, event: &PointerEvent) -> usize {
        let width = self.plot.get_untracked().map_or(1, |plot| plot.client_width().max(1));
        (event.offset_x().max(0) as usize * (self.last() + 1) / width as usize).min(self.last())
    }

    fn pressed(self, event: &PointerEvent) {
        if event.button() != 0 {
            return;
        }
        if let Some(area) = browser::target(event, ".chart-hit") {
            let _ = area.set_pointer_capture(event.pointer_id());
        }
        let (day, x) = (self.day_under(event), event.offset_x());
        self.change(|pointed| {
            let was_shown = event.pointer_type() != "touch" || pointed.day == Some(day);
            Pointed { day: Some(day), press: Some(Press { x, day, is_drag: false, was_shown }), ..pointed }
        });
    }

    fn moved(self, event: &PointerEvent) {
        let (day, x) = (self.day_under(event), event.offset_x());
        self.change(|pointed| {
            let drag = pointed.press.filter(|press| press.is_drag || (x - press.x).abs() >= DRAG);
            let chosen = drag.map(|press| (press.day, day)).or(pointed.chosen);
            let press = drag.map(|press| Press { is_drag: true, ..press }).or(pointed.press);
            Pointed { day: Some(day), chosen, press }
        });
    }

    fn released(self, event: &PointerEvent) {
        let press = self.pointed.get_untracked().press;
        self.change(|pointed| Pointed { press: None, ..pointed });
        match press {
            Some(Press { is_drag: true, day, .. }) => self.open(day, self.day_under(event)),
            // The first touch shows the day; the second one opens it.
            Some(Press { was_shown: true, day, .. }) => self.open(day, day),
            _ => {}
        }
    }

    /// The pointer or the focus left: the tooltip closes, unless days are being chosen.
    fn left(self) {
        self.change(|pointed| Pointed { day: pointed.day.filter(|_| pointed.press.is_some()), ..pointed });
    }

    fn point_at_value(self, chosen: Option<(usize, usize)>) {
        let day = Some(self.value());
        self.change(|pointed| Pointed { day, chosen, ..pointed });
    }

    fn key(self, event: KeyboardEvent) {
        let Some(key) = browser::Key::of(event) else { return };
        let chosen = self.pointed.get_untracked().chosen;
        let (from, to) = chosen.unwrap_or((self.value(), self.value()));
        let by = match key.name.as_str() {
            "ArrowLeft" | "ArrowDown" => -1,
            "ArrowRight" | "ArrowUp" => 1,
            "Enter" => {
                key.prevent_default();
                return self.open(from, to);
            }
            "Escape" => return self.pointed.set(Pointed::default()),
            _ => return,
        };
        if !key.shift_key() {
            // The browser moves on from the end of the choice.
            let day = |pointed: Pointed| chosen.map(|_| to).or(pointed.day);
            return self.change(|pointed| Pointed { day: day(pointed), chosen: None, ..pointed });
        }
        key.prevent_default();
        let to = to.saturating_add_signed(by).min(self.last());
        self.change(|pointed| Pointed { day: Some(to), chosen: Some((from, to)), ..pointed });
    }

    /// Opens the days between two columns, in either order.
    fn open(self, from: usize, to: usize) {
        let link = TREND_LINK.element().and_then(|link| link.dyn_into::<HtmlElement>().ok());
        let rows = rows();
        let (Some(from), Some(to), Some(link)) = (rows.get(from.min(to)), rows.get(from.max(to)), link)
        else {
            return;
        };
        let base = link.get_attribute("href").unwrap_or_default();
        let separator = if base.contains('?') { "&" } else { "?" };
        let url = [&base, separator, &days(from, to)].concat();
        let lead_to = |url: &str| browser::set(&link, "href", Some(url));
        self.pointed.set(Pointed::default());
        lead_to(&url);
        link.click();
        // For the next use, when the page stays.
        lead_to(&base);
    }

    /// Shows the highlights and the tooltip. The range input is at the end of the choice, and else at the day of the tooltip.
    fn show(self, pointed: Pointed) {
        self.highlight(".chart-cursor", pointed.day.map(|day| (day, day)));
        self.highlight(".chart-chosen", pointed.chosen);
        let (Some(tip), Some(input)) = (self.part::<HtmlElement>(".chart-tip"), self.input()) else { return };
        if let Some(at) = pointed.chosen.map(|(_, to)| to).or(pointed.day) {
            input.set_value(&at.to_string());
        }
        browser::set(&input, "aria-valuetext", lines(self.value()).first().map(String::as_str));
        let Some(day) = pointed.day else { return browser::set_text(&tip, "") };
        let lines = lines(day);
        if let Some(readout) = TREND_READOUT.element() {
            browser::set_text(&readout, &lines.join(", ").replace('\t', " "));
        }
        browser::set_text(&tip, &lines.join("\n"));
        let count = self.last() + 1;
        tip.set_class_name(if day * 2 >= count { "chart-tip chart-tip-left" } else { "chart-tip" });
        let _ = tip.style().set_property("left", &columns::middle(day, count));
    }

    /// Highlights the days from one to another, in either order, or none.
    fn highlight(self, band: &str, days: Option<(usize, usize)>) {
        let Some(band) = self.part::<Element>(band) else { return };
        let (x, width) = match days {
            Some((a, b)) => columns::bands(a.min(b), a.max(b), self.last() + 1),
            None => ("0".to_owned(), "0".to_owned()),
        };
        for (name, value) in [("x", x), ("width", width)] {
            browser::set(&band, name, Some(&value));
        }
    }
}

/// The rows of the days.
fn rows() -> Vec<Element> {
    TREND_TABLE.element().map(|table| browser::all_in(&table, "tbody tr")).unwrap_or_default()
}

/// The days from one row to another, as a query.
fn days(from: &Element, to: &Element) -> String {
    let times = |row| browser::all_in(row, "time");
    let day =
        |time: Option<&Element>| time.and_then(|time| time.get_attribute("datetime")).unwrap_or_default();
    ["from=", &day(times(from).first()), "&to=", &day(times(to).last())].concat()
}

/// The days of the chart, as a query.
fn all_days() -> String {
    let rows = rows();
    rows.first().zip(rows.last()).map(|(first, last)| days(first, last)).unwrap_or_default()
}

/// The day and its figures: the row of the table with its headings.
fn lines(at: usize) -> Vec<String> {
    let rows = rows();
    let (Some(table), Some(row)) = (TREND_TABLE.element(), rows.get(at)) else { return Vec::new() };
    let mut cells = texts(row, "th, td").into_iter();
    let day = cells.next();
    let figures = texts(&table, "thead th").into_iter().skip(1).zip(cells);
    let figures = figures.filter(|(_, value)| !value.is_empty() && value != "–");
    day.into_iter().chain(figures.map(|(name, value)| [name, value].join("\t"))).collect()
}

fn texts(element: &Element, selector: &str) -> Vec<String> {
    let found = browser::all_in(element, selector).into_iter();
    found.map(|element| element.text_content().unwrap_or_default().trim().to_owned()).collect()
}
