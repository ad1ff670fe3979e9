//! Dates and numbers as the user's locale writes them.

use std::cell::RefCell;

use leptos::wasm_bindgen::JsValue;
use leptos::web_sys::js_sys::Intl::DateTimeFormat;
use leptos::web_sys::js_sys::{Array, Date, Function, Number, Object, Reflect};

use model::time::Timestamp;

/// Options of `Intl.DateTimeFormat`: names and values.
type Options = &'static [(&'static str, &'static str)];

const TIME: Options = &[("dateStyle", "medium"), ("timeStyle", "medium")];
const CLOCK: Options = &[("timeStyle", "short")];
const DATE: Options = &[("dateStyle", "medium")];
const DAY: Options = &[("month", "short"), ("day", "numeric"), ("year", "numeric"), ("timeZone", "UTC")];
const DAY_WITHOUT_YEAR: Options = &[("month", "short"), ("day", "numeric"), ("timeZone", "UTC")];
const DAY_WITH_WEEKDAY: Options =
    &[("weekday", "short"), ("month", "short"), ("day", "numeric"), ("year", "numeric"), ("timeZone", "UTC")];

thread_local! {
    /// The `format` functions so far. Creating one takes forty times as long as using it, and a page has a hundred dates.
    static FORMATS: RefCell<Vec<(Options, Function)>> = const { RefCell::new(Vec::new()) };
}

/// Date and time of `at` in the user's time zone.
pub fn local_time(at: Timestamp) -> String {
    formatted(&js_date(at), TIME)
}

/// The time of day of `at` in the user's time zone, without seconds.
pub fn local_clock(at: Timestamp) -> String {
    formatted(&js_date(at), CLOCK)
}

/// The date of `at` in the user's time zone.
pub fn local_date(at: Timestamp) -> String {
    formatted(&js_date(at), DATE)
}

/// The UTC day `day` (`2026-11-10`).
pub fn local_day(day: &str) -> String {
    formatted(&utc_day(day), DAY)
}

/// As [`local_day`], without the year.
pub fn local_day_without_year(day: &str) -> String {
    formatted(&utc_day(day), DAY_WITHOUT_YEAR)
}

/// As [`local_day`], after the day of the week.
pub fn local_day_with_weekday(day: &str) -> String {
    formatted(&utc_day(day), DAY_WITH_WEEKDAY)
}

pub fn local_number(number: u64) -> String {
    Number::from(number as f64).to_locale_string("default").into()
}

fn js_date(at: Timestamp) -> Date {
    Date::new(&JsValue::from_f64(at.as_millis() as f64))
}

fn utc_day(day: &str) -> Date {
    Date::new(&day.into())
}

fn formatted(date: &Date, options: Options) -> String {
    let text = format(options).call1(&JsValue::UNDEFINED, date).ok();
    text.and_then(|text| text.as_string()).unwrap_or_default()
}

fn format(options: Options) -> Function {
    FORMATS.with_borrow_mut(|formats| {
        if let Some((_, format)) = formats.iter().find(|(made_with, _)| *made_with == options) {
            return format.clone();
        }
        let fields = Object::new();
        // Date fields, addresses and the charts' own labels have this calendar in every locale.
        for (name, value) in options.iter().chain(&[("calendar", "gregory")]) {
            let _ = Reflect::set(&fields, &(*name).into(), &(*value).into());
        }
        // Without an explicit locale: the user's.
        let format = DateTimeFormat::new(&Array::new(), &fields).format();
        formats.push((options, format.clone()));
        format
    })
}
