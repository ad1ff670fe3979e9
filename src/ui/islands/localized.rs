//! Scripts the DOM: writes the days and numbers of [`crate::ui::components::localized`] in the user's locale.

use leptos::web_sys::Element;

use crate::ui::islands::browser;
use crate::ui::locale::{DATE, DAY, NUMBER, SHORT, WEEKDAY};

const ALL: &str = "[data-date], [data-number]";

/// In the whole page.
pub fn page() {
    write(browser::all(ALL));
}

/// Within an element that was rendered anew.
pub fn within(element: &Element) {
    write(browser::all_in(element, ALL));
}

fn write(elements: Vec<Element>) {
    for element in elements {
        let text = match element.get_attribute(DATE) {
            Some(form) => {
                let day = element.get_attribute("datetime").or_else(|| element.get_attribute(DAY));
                day.map(|day| local_day(&day, &form))
            }
            None => element.get_attribute(NUMBER).map(|text| local_numbers(&text)),
        };
        if let Some(text) = text {
            browser::set_text(&element, &text);
        }
    }
}

fn local_day(day: &str, form: &str) -> String {
    match form {
        WEEKDAY => browser::local_day_with_weekday(day),
        SHORT => browser::local_day_without_year(day),
        _ => browser::local_day(day),
    }
}

/// `text` with each word that is a number in the user's form.
fn local_numbers(text: &str) -> String {
    let word = |word: &str| match word.replace(',', "").parse() {
        Ok(number) => browser::local_number(number),
        Err(_) => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
