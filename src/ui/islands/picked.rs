//! The chosen pages of the pages table. They stay chosen in this tab when the table is paged, sorted or searched. Chosen pages
//! without a row are hidden fields of the form of the checkboxes.

use std::cell::{Cell, RefCell};

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Event, HtmlInputElement};

use crate::ui::charts::number::counted;
use crate::ui::components::pages_table::{ALL, PICKED};
use crate::ui::islands::{browser, selection};
use model::analytics::query::PICK;

/// The id of the element with the hidden fields.
pub const ELSEWHERE: &str = "picked-elsewhere";
/// The id of the number of chosen pages.
pub const COUNT: &str = "picked-count";
/// The id of that number on the button.
pub const NUMBER: &str = "picked-number";
/// The attribute of the checkbox for all pages that match, with their number.
const MATCHES: &str = "data-matches";

/// All fields of the form [`PICKED`], the checkboxes of the rows, and the one for all pages that match, if it is checked.
const FIELDS: &str = "input[form=picked-pages]";
const ROWS: &str = "input[form=picked-pages][name=pick]";
const MATCHING: &str = "input[form=picked-pages][name=matching]:checked";

thread_local! {
    static CHOSEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static IS_STARTED: Cell<bool> = const { Cell::new(false) };
}

/// The key of the chosen pages in `sessionStorage`.
pub fn key(project: &str) -> String {
    ["docket.picked/", project].concat()
}

/// Starts the choice of pages of the page's table.
#[island]
pub fn Picked(project: String) -> impl IntoView {
    if browser::IS_HERE {
        start(&project);
    }
}

/// Begins with the pages that were chosen in this tab or that the server rendered as chosen.
fn start(project: &str) {
    if !IS_STARTED.replace(true) {
        let key = key(project);
        for page in browser::stored_for_tab(&key).unwrap_or_default().lines() {
            choose(page, true);
        }
        let is_chosen = |field: &&HtmlInputElement| field.checked() || field.type_() == "hidden";
        for field in fields().iter().filter(is_chosen) {
            choose(&field.value(), true);
        }
        let stored = key.clone();
        browser::on_window("change", move |event: Event| {
            if let Some(field) = browser::target(&event, FIELDS) {
                if let Some(field) = field.dyn_ref::<HtmlInputElement>().filter(|field| field.name() == PICK)
                {
                    choose(&field.value(), field.checked());
                    store(&stored);
                }
                apply();
            }
        });
        let stored = key.clone();
        selection::listen(ALL, ROWS, move |fields| {
            fields.iter().for_each(|field| choose(&field.value(), field.checked()));
            store(&stored);
            apply();
        });
        // The event fires before the form is reset.
        browser::on_window("reset", move |event: Event| {
            // Not `form.id()`: a form field of that name would replace it.
            let id = browser::submitted(&event).and_then(|form| form.get_attribute("id"));
            if id.as_deref() == Some(PICKED) {
                CHOSEN.take();
                store(&key);
                browser::after(0, apply);
            }
        });
    }
    apply();
}

/// Shows the choice, after rows were rendered.
pub fn apply() {
    let (Some(elsewhere), true) = (browser::by_id(ELSEWHERE), IS_STARTED.get()) else { return };
    CHOSEN.with_borrow(|chosen| {
        let mut others: Vec<&String> = chosen.iter().collect();
        // Also removes the server's fields for browsers without scripts.
        elsewhere.set_text_content(None);
        for field in fields() {
            let value = field.value();
            others.retain(|page| **page != value);
            field.set_checked(chosen.contains(&value));
        }
        for page in others {
            let Ok(field) = document().create_element("input") else { continue };
            for (name, value) in [("type", "hidden"), ("name", PICK), ("value", page)] {
                browser::set(&field, name, Some(value));
            }
            let _ = elsewhere.append_child(&field);
        }
        let matching = browser::find(MATCHING).and_then(|all| all.get_attribute(MATCHES));
        let matching = matching.and_then(|pages| pages.parse().ok());
        let pages = matching.unwrap_or(chosen.len() as u64);
        if let Some(count) = browser::by_id(COUNT) {
            let text = counted(pages, "page selected", "pages selected");
            browser::set_text(&count, if pages == 0 { "" } else { &text });
        }
        if let Some(number) = browser::by_id(NUMBER) {
            browser::set_text(&number, &counted(pages, "page", "pages"));
        }
        selection::show_all(ALL, &selection::checks(ROWS));
    });
}

fn choose(page: &str, is_chosen: bool) {
    CHOSEN.with_borrow_mut(|chosen| {
        chosen.retain(|other| other != page);
        if is_chosen {
            chosen.push(page.to_owned());
        }
    });
}

fn store(key: &str) {
    browser::store_for_tab(key, &CHOSEN.with_borrow(|chosen| chosen.join("\n")));
}

/// The checkboxes of the rows, and the hidden fields.
fn fields() -> Vec<HtmlInputElement> {
    selection::checks(&[ROWS, ", #", ELSEWHERE, " [name=", PICK, "]"].concat())
}
