//! Scripts the DOM: keyboard shortcuts and the dialog that lists them. They are ignored while an input has the focus, in a text that
//! dictation software sends, and if the person has switched them off (WCAG 2.1.4). Rows are the `li` or `tr` around an element that [`ROW_TARGET`]
//! matches.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlDialogElement, HtmlElement};

use crate::ui::components::row_target::ROW_TARGET;
use crate::ui::islands::browser;
use crate::ui::marks::SHORTCUT_LIST;
use model::links;

/// Keys that follow within this time, in milliseconds, arrive at once: nobody types so fast.
const BURST: u32 = 40;

/// A fragment in the URL that focuses the search field of the new page.
const SEARCH: &str = "#search";

/// `children` is the dialog with their list, which only the server renders.
#[island]
pub fn Shortcuts(project: String, may_start: bool, children: Children) -> impl IntoView {
    if browser::IS_HERE {
        listen(project, may_start);
    }
    children()
}

fn listen(project: String, may_start: bool) {
    let keys = StoredValue::new(String::new());
    let after_g = StoredValue::new(false);
    let edits = browser::Edits::default();
    let scope = StoredValue::new((project, may_start));
    browser::on_key(&window(), move |event| {
        if event.default_prevented()
            || event.ctrl_key()
            || event.meta_key()
            || event.alt_key()
            || is_typing(event)
            || browser::is_on_document(browser::NO_SHORTCUTS)
        {
            return;
        }
        if event.name.chars().count() != 1 {
            return after_g.set_value(false);
        }
        // Firefox would open its own search.
        if event.name == "/" {
            event.prevent_default();
        }
        if event.repeat() {
            return act(&scope.get_value(), false, &event.name);
        }
        keys.update_value(|keys| keys.push_str(&event.name));
        edits.after_pause(BURST, move |_| {
            let pressed = keys.try_update_value(std::mem::take).unwrap_or_default();
            if is_text(&pressed) {
                return after_g.set_value(false);
            }
            for key in pressed.chars() {
                let key = key.to_string();
                let is_after_g = after_g.get_value();
                after_g.set_value(key == "g");
                act(&scope.get_value(), is_after_g, &key);
            }
        });
    });
    if browser::fragment() == SEARCH {
        browser::forget_fragment();
        focus(search());
    }
}

/// Whether dictation software sent `keys`, which arrived at once: a text has several letters, and not always the same.
fn is_text(keys: &str) -> bool {
    let mut letters = keys.chars();
    let first = letters.next();
    keys.chars().count() > 2 && letters.any(|letter| Some(letter) != first)
}

pub(super) fn open_help() {
    let dialog = SHORTCUT_LIST.element().and_then(|dialog| dialog.dyn_into::<HtmlDialogElement>().ok());
    if let Some(dialog) = dialog.filter(|dialog| !dialog.open()) {
        let _ = dialog.show_modal();
    }
}

fn act((project, may_start): &(String, bool), is_after_g: bool, key: &str) {
    let has_project = !project.is_empty();
    if is_after_g && has_project {
        if let Some(page) = links::by_key(project, key) {
            browser::go(&page);
        }
        return;
    }
    let target = match key {
        "c" if *may_start && has_project => links::new_job(project, "", ""),
        "/" if search().is_none() && has_project => links::jobs(project) + SEARCH,
        "/" => return focus(search()),
        "?" => return open_help(),
        "." => return browser::toggle_theme(),
        "j" => return step(1),
        "k" => return step(-1),
        "x" => return choose(),
        _ => return,
    };
    browser::go(&target);
}

fn search() -> Option<Element> {
    browser::find("input[type=search]")
}

fn is_typing(event: &Event) -> bool {
    browser::target(event, "input:not([type=checkbox]), textarea, select, dialog").is_some()
}

/// Moves the focus `by` rows; from outside the rows to the first or last one.
fn step(by: i32) {
    let rows = browser::all(ROW_TARGET);
    let is_in_sight = |row: &Element| {
        row.local_name() == "summary" || matches!(row.closest("details:not([open])"), Ok(None))
    };
    let rows: Vec<_> = rows.into_iter().filter(is_in_sight).collect();
    let focused = document().active_element();
    let count = rows.len() as i32;
    let row = |at: i32| rows.get(at as usize).cloned();
    let is_current = |row: Element| row_of(&row).is_some_and(|row| row.contains(focused.as_deref()));
    // The row of a batch contains those of its jobs.
    let current = (0..count).rev().find(|at| row(*at).is_some_and(is_current));
    let next = match current {
        Some(at) => at + by,
        None if by > 0 => 0,
        None => count - 1,
    };
    if (0..count).contains(&next) {
        focus(row(next));
    }
}

/// Toggles the checkbox of the focused row.
fn choose() {
    let row = document().active_element().and_then(|focused| row_of(&focused));
    let check = row.and_then(|row| browser::find_in(&row, "input[type=checkbox]"));
    if let Some(check) = check.and_then(|check| check.dyn_into::<HtmlElement>().ok()) {
        check.click();
    }
}

fn row_of(element: &Element) -> Option<Element> {
    element.closest("li, tr").ok()?
}

fn focus(element: Option<Element>) {
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let _ = element.focus();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_letters_at_once_are_a_text() {
        for text in ["jack", "the", "exit", "gja", "?jk"] {
            assert!(is_text(text), "{text}");
        }
        for keys in ["", "j", "gj", "jx", "jjj", "kkkkkk"] {
            assert!(!is_text(keys), "{keys}");
        }
    }
}
