//! Scripts the DOM: buttons that need JavaScript: theme, notifications, list of shortcuts, copying a text. Also removes this browser's
//! drafts on sign-out. Buttons that need a [`super::live::LiveState`] do nothing without one.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlInputElement};

use crate::ui::islands::live::LiveState;
use crate::ui::islands::{browser, prompt_form, shortcuts};
use crate::ui::marks::{self, SHORTCUTS, SIGN_OUT, THEME_FORM};

/// Attribute with one of the following values.
pub const BUTTON: &str = "data-button";
pub const THEME: &str = "theme";
pub const DENSITY: &str = "density";
pub const NOTIFY: &str = "notify";
pub const HELP: &str = "help";
/// Opens the command palette.
pub const PALETTE: &str = "palette";
/// Copies the text in its `data-copy` and shows `data-done` in a toast.
pub const COPY: &str = "copy";
/// As [`COPY`], behind the page's origin.
pub const COPY_URL: &str = "copy-url";
/// Prints the page.
pub const PRINT: &str = "print";

#[island]
pub fn Buttons() -> impl IntoView {
    if browser::IS_HERE {
        listen(LiveState::here());
    }
}

fn listen(live: Option<LiveState>) {
    show_notify_state(live.as_ref());
    browser::on_window("submit", |event: Event| {
        if browser::target(&event, &SIGN_OUT.selector()).is_some() {
            // The next user of this browser must not read them.
            prompt_form::forget_all();
        }
    });
    browser::on_window("change", |event: Event| {
        if let Some(form) = browser::target(&event, &THEME_FORM.selector()) {
            browser::choose_theme(&browser::value_of(&form.unchecked_into(), "theme"));
        }
        let check = browser::target(&event, &SHORTCUTS.selector());
        if let Some(check) = check.and_then(|check| check.dyn_into::<HtmlInputElement>().ok()) {
            browser::choose_shortcuts(check.checked());
        }
    });
    browser::on_window("click", move |event: Event| {
        let Some(button) = browser::target(&event, "[data-button]") else { return };
        match (button.get_attribute(BUTTON).as_deref(), &live) {
            (Some(THEME), _) => browser::toggle_theme(),
            (Some(DENSITY), _) => browser::toggle_density(),
            (Some(HELP), _) => shortcuts::open_help(),
            (Some(PRINT), _) => browser::print(),
            (Some(kind @ (COPY | COPY_URL)), live) => copy(&button, kind == COPY_URL, live.as_ref()),
            (Some(NOTIFY), Some(live)) => {
                let live = live.clone();
                spawn_local(async move {
                    let message = live.notifications.toggle().await;
                    show_notify_state(Some(&live));
                    live.toasts.show(message, "", None);
                });
            }
            _ => {}
        }
    });
}

fn copy(button: &Element, is_url: bool, live: Option<&LiveState>) {
    let text = button.get_attribute("data-copy").unwrap_or_default();
    let before = if is_url { browser::origin() } else { String::new() };
    let is_copied = browser::copy(&(before + &text));
    let done = button.get_attribute("data-done").filter(|_| is_copied);
    if let Some(live) = live {
        let message = done.as_deref().unwrap_or("This browser blocks copying. Select the text and copy it");
        live.toasts.show(message, "", None);
    }
}

/// Shows whether notifications are on.
fn show_notify_state(live: Option<&LiveState>) {
    let is_enabled = live.is_some_and(|live| live.notifications.are_enabled());
    if let Some(button) = marks::NOTIFY.element() {
        browser::set(&button, "aria-pressed", Some(if is_enabled { "true" } else { "false" }));
    }
}
