//! Scripts the DOM: buttons that need JavaScript: theme, notifications, list of shortcuts, copying a text. Buttons that need a
//! [`super::live::LiveState`] do nothing without one.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlInputElement};

use crate::ui::islands::live::LiveState;
use crate::ui::islands::{browser, shortcuts};
use crate::ui::marks::{self, SHORTCUTS, THEME_FORM};

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
/// As [`COPY`], the value of the field with this id.
pub const COPY_FIELD: &str = "copy-field";
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
            (Some(kind @ (COPY | COPY_URL | COPY_FIELD)), live) => copy(&button, kind, live.as_ref()),
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

fn copy(button: &Element, kind: &str, live: Option<&LiveState>) {
    let named = button.get_attribute("data-copy").unwrap_or_default();
    let text = match kind {
        COPY_URL => browser::origin() + &named,
        COPY_FIELD => browser::value(&named),
        _ => named,
    };
    let is_copied = browser::copy(&text);
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
