//! Scripts the DOM: filter menus, which are `<details class="filter-menu">` because they are parts of a sheet on a phone. A menu closes on Escape and on a
//! press outside it. Opening one by keyboard closes popovers elsewhere. A field narrows the links of its
//! menu. Without a field, a letter moves to the next link that begins with it. Escape leaves a search field.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlElement, HtmlInputElement, MouseEvent};

use crate::ui::islands::browser;

const OPEN: &str = ".filter-menu[open]";
/// The field of a menu.
const FIELD: &str = ".menu-form .field";

#[island]
pub fn Menus() -> impl IntoView {
    if browser::IS_HERE {
        browser::on_window("click", |event: MouseEvent| {
            let inside = browser::target(&event, OPEN);
            for menu in browser::all(OPEN).iter().filter(|menu| inside.as_ref() != Some(menu)) {
                browser::set_open(menu, false);
            }
            if let Some(opened) = browser::target(&event, ".filter-menu > summary") {
                browser::close_popovers(|popover| !popover.contains(Some(&opened)));
            }
        });
        browser::on_window("input", |event: Event| {
            if let Some(field) = browser::target(&event, FIELD) {
                narrow(&field);
            }
        });
        // On the document: before the shortcuts, which ignore handled events.
        browser::on_key(&document(), pressed);
    }
}

fn pressed(event: &browser::Key) {
    let menu = browser::target(event, OPEN);
    // As typed, not by its place on the keyboard: entries may begin with any letter.
    match (event.key().as_str(), menu) {
        ("Escape", Some(menu)) => {
            browser::set_open(&menu, false);
            focus(browser::find_in(&menu, "summary"));
            event.prevent_default();
        }
        ("Escape", None) if browser::target(event, "input[type=search]").is_some() => {
            focus(browser::by_id("content"));
            event.prevent_default();
        }
        ("Enter", Some(menu)) if browser::target(event, FIELD).is_some() => {
            if let Some(link) = links(&menu).into_iter().next() {
                event.prevent_default();
                let _ = link.dyn_into::<HtmlElement>().map(|link| link.click());
            }
        }
        (key, Some(menu)) if is_letter(event, key) && browser::target(event, "input").is_none() => {
            let links = links(&menu);
            let here = links.iter().position(|link| browser::target(event, "a").as_ref() == Some(link));
            let from = here.map_or(0, |at| at + 1);
            let begins = |link: &&Element| {
                let text = link.text_content().unwrap_or_default();
                browser::lowercase(text.trim()).starts_with(&browser::lowercase(key))
            };
            focus(links[from..].iter().chain(&links[..from]).find(begins).cloned());
            event.prevent_default();
        }
        _ => {}
    }
}

/// The links that are not hidden by the field.
fn links(menu: &Element) -> Vec<Element> {
    browser::all_in(menu, "li:not([hidden]) a")
}

fn is_letter(event: &browser::Key, key: &str) -> bool {
    key.chars().count() == 1 && key != " " && !(event.ctrl_key() || event.meta_key() || event.alt_key())
}

fn narrow(field: &Element) {
    let typed = field.dyn_ref::<HtmlInputElement>().map(|field| field.value()).unwrap_or_default();
    let typed = browser::lowercase(typed.trim());
    let Ok(Some(menu)) = field.closest("details") else { return };
    for entry in browser::all_in(&menu, "li") {
        let text = browser::lowercase(&entry.text_content().unwrap_or_default());
        browser::toggle(&entry, "hidden", !text.contains(&typed));
    }
}

fn focus(element: Option<Element>) {
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let _ = element.focus();
    }
}
