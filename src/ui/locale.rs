//! How the page marks days and numbers that browsers write in the user's locale. Names only.

/// The attribute of an element that shows a day, with one of the forms below.
pub const DATE: &str = "data-date";
/// The attribute of an element that is no `<time>`, with its day.
pub const DAY: &str = "data-day";
/// The attribute of an element that shows numbers, with its text as the server writes it.
pub const NUMBER: &str = "data-number";

/// The form `Tue, Nov 10, 2026`.
pub const WEEKDAY: &str = "weekday";
/// The form `Nov 10`.
pub const SHORT: &str = "short";
