//! Days and numbers for people. The server writes American English; [`crate::ui::islands::localized`] replaces it in the user's
//! locale. Must not be used for machine-readable text (URLs, fields, exports).

use leptos::prelude::*;

use crate::model::day::Day;
use crate::ui::charts::number::{self, grouped};
use crate::ui::locale::{SHORT, WEEKDAY};

/// `Nov 10, 2026`.
pub fn day(day: Day) -> impl IntoView + use<> {
    view! { <time datetime=day.to_string() data-date="">{day.long()}</time> }
}

/// `Tue, Nov 10, 2026`.
pub fn with_weekday(day: Day) -> impl IntoView + use<> {
    view! { <time datetime=day.to_string() data-date=WEEKDAY>{day.with_weekday()}</time> }
}

/// `Nov 10`.
pub fn short_day(day: Day) -> impl IntoView + use<> {
    view! { <time datetime=day.to_string() data-date=SHORT>{day.month_and_day()}</time> }
}

/// `Nov 1, 2026 to Nov 10, 2026`.
pub fn days(from: Day, to: Day) -> impl IntoView + use<> {
    view! { {day(from)} " to " {day(to)} }
}

/// `1,234`.
pub fn number(number: u64) -> impl IntoView + use<> {
    written(grouped(number))
}

/// As [`number`], subdued beside a text.
pub fn counter(count: u64) -> impl IntoView + use<> {
    let text = grouped(count);
    let server = text.clone();
    view! { <span class="count" data-number=server>{text}</span> }
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
