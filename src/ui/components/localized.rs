//! Days and numbers for people. The server writes American English; [`crate::ui::islands::localized`] replaces it in the user's
//! locale. Must not be used for machine-readable text (URLs, fields, exports). Each is one string, which takes less time than an
//! element, because pages have many; they contain only digits and names of days, which need no escaping.

use leptos::prelude::*;
use leptos::tachys::html::InertElement;

use crate::ui::charts::number::{self, grouped};
use crate::ui::locale::{SHORT, WEEKDAY};
use model::day::Day;

/// `Nov 10, 2026`.
pub fn day(day: Day) -> InertElement {
    time(day, "", &day.long())
}

/// `Tue, Nov 10, 2026`.
pub fn with_weekday(day: Day) -> InertElement {
    time(day, WEEKDAY, &day.with_weekday())
}

/// `Nov 10`.
pub fn short_day(day: Day) -> InertElement {
    time(day, SHORT, &day.month_and_day())
}

fn time(day: Day, format: &str, text: &str) -> InertElement {
    InertElement::new(format!(r#"<time datetime="{day}" data-date="{format}">{text}</time>"#))
}

/// `Nov 1, 2026 to Nov 10, 2026`, or the only day.
pub fn days(from: Day, to: Day) -> impl IntoView + use<> {
    span(from, to, day)
}

/// `Nov 1 to Nov 10`, or the only day.
pub fn short_days(from: Day, to: Day) -> impl IntoView + use<> {
    span(from, to, short_day)
}

fn span(from: Day, to: Day, written: fn(Day) -> InertElement) -> impl IntoView + use<> {
    view! { {written(from)} {(from != to).then(|| view! { " to " {written(to)} })} }
}

/// `1,234`.
pub fn number(number: u64) -> InertElement {
    let text = grouped(number);
    InertElement::new(format!(r#"<span data-number="{text}">{text}</span>"#))
}

/// `1,234` as the cell of a table.
pub fn cell(class: &'static str, number: u64) -> InertElement {
    let text = grouped(number);
    InertElement::new(format!(r#"<td class="{class}" data-number="{text}">{text}</td>"#))
}

/// As [`number`], subdued beside a text.
pub fn counter(count: u64) -> InertElement {
    let text = grouped(count);
    InertElement::new(format!(r#"<span class="count" data-number="{text}">{text}</span>"#))
}

/// `1 job`, `1,234 jobs`.
pub fn counted(count: u64, one: &str, many: &str) -> impl IntoView + use<> {
    written(number::counted(count, one, many))
}

/// A text whose words may be numbers.
pub fn written(text: String) -> impl IntoView + use<> {
    let server = text.clone();
    view! { <span data-number=server>{text}</span> }
}
