//! Searches while a person types. When typing in the form with `role="search"` pauses, the regions of the page are replaced
//! with those of the form's URL. Without JavaScript, and on Enter, the browser navigates there.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Event, HtmlFormElement};

use crate::ui::islands::browser;
use crate::ui::islands::live::{LiveState, forms};

/// The id of the search field.
pub const FIELD: &str = "q";

/// The region with the results.
const RESULTS: &str = "[data-region=list]";

/// How long typing has to pause, in milliseconds.
const PAUSE: u32 = 250;

/// How long after a failure the page is requested again, in milliseconds.
const AGAIN: u32 = 5_000;

#[island]
pub fn LiveSearch() -> impl IntoView {
    if let Some(live) = LiveState::here() {
        listen(live);
    }
}

fn listen(live: LiveState) {
    // The second one: whether the current history entry belongs to an earlier pause.
    let (edits, is_search) = (browser::Edits::default(), StoredValue::new(false));
    let (state, pending) = (live.clone(), edits.clone());
    browser::on_window("input", move |event: Event| {
        let form = browser::target(&event, "form[role=search]");
        let Some(form) = form.and_then(|form| form.dyn_into::<HtmlFormElement>().ok()) else { return };
        let state = state.clone();
        edits.after_pause(PAUSE, move |_| search(&state, &form, is_search));
    });
    // The browser navigates to the results: a pending search would add a second entry to the history.
    browser::on_window("submit", move |_: Event| pending.cancel());
    let state = live.clone();
    live.on_history(move |_| {
        is_search.set_value(false);
        let url = state.url();
        let query = url.split_once('?').unwrap_or_default().1;
        browser::set_value(FIELD, &browser::value_in(query, FIELD).unwrap_or_default());
        show(&state, false);
    });
}

fn search(live: &LiveState, form: &HtmlFormElement, is_search: StoredValue<bool>) {
    let action = form.get_attribute("action").unwrap_or_default();
    let Some(fields) = browser::typed_fields(form) else { return };
    let url = forms::with_given(&action, &fields);
    if url == live.url() {
        return;
    }
    // Back leads to the page before the search, not to each pause.
    match is_search.get_value() {
        true => live.change_to(&url),
        false => live.go_to(&url),
    }
    is_search.set_value(true);
    show(live, false);
}

/// Shows the page at the current URL. After a failure it tries again until the URL changes. `is_again`: the person knows of the failure.
fn show(live: &LiveState, is_again: bool) {
    let (state, url) = (live.clone(), live.url());
    live.show_address(browser::find(RESULTS), move |shown| match shown {
        Ok(()) => announce(&state),
        Err(error) => {
            if !is_again {
                state.toasts.warn(&error.message, "", None);
            }
            browser::after(AGAIN, move || {
                if state.url() == url {
                    show(&state, true);
                }
            });
        }
    });
}

/// Announces the number of results, or that there are none.
fn announce(live: &LiveState) {
    let count = browser::find("[data-region=list] :is(.list-position:not(:empty), .empty h2)");
    if let Some(text) = count.and_then(|count| count.text_content()) {
        live.toasts.announce(&text, "");
    }
}
