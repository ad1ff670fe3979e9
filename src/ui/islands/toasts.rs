//! Short messages about outcomes, shown for a while and read out politely. Part of [`super::live::Live`]; put
//! into the page as elements, for nothing of a toast changes once it is shown.

use leptos::prelude::*;
use leptos::web_sys::Element;

use crate::ui::islands::browser;

/// How long a toast stays, in milliseconds.
const SHOWN_FOR: u32 = 10_000;

/// The icon of the button that dismisses a toast.
const CROSS: &str =
    r#"<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M4 4l8 8M12 4l-8 8"></path></svg>"#;

/// What a toast offers to take back: a form of `fields` (url-encoded) for the endpoint `path`.
pub struct Undo {
    pub path: String,
    pub fields: String,
    /// What is said once it is taken back.
    pub done: String,
}

#[derive(Clone, Copy)]
pub struct Toasts {
    next_id: StoredValue<u32>,
    /// What was said while nobody looked.
    unseen: StoredValue<Vec<String>>,
}

impl Toasts {
    pub(super) fn new() -> Self {
        Self { next_id: StoredValue::new(0), unseen: StoredValue::new(Vec::new()) }
    }

    /// Says `text`, and after it what a person wrote. The toast's time begins when somebody looks at the page.
    pub fn say(self, text: impl Into<String>, quoted: impl Into<String>, href: Option<String>) {
        let Some((id, _)) = self.show(&text.into(), &quoted.into(), href.as_deref()) else { return };
        self.unseen.update_value(|unseen| unseen.push(id));
        if browser::is_watched() {
            self.look();
        }
    }

    /// Says `text` with a way to take it back. It stays until it is used, dismissed or followed by another of its kind.
    pub fn say_with_undo(self, text: &str, undo: impl Fn() + 'static) {
        if let Ok(Some(before)) = document().query_selector(".toast[data-undo]") {
            before.remove();
        }
        let (Some((id, toast)), Some(button)) = (self.show(text, "", None), element("button", "button"))
        else {
            return;
        };
        let _ = toast.set_attribute("data-undo", "");
        let _ = button.set_attribute("type", "button");
        button.set_text_content(Some("Undo"));
        let _ = toast.insert_before(&button, toast.last_child().as_ref());
        browser::on_click(&button, move || {
            dismiss(&id);
            undo();
        });
    }

    /// Puts a toast into the region; its id, and itself.
    fn show(self, text: &str, quoted: &str, href: Option<&str>) -> Option<(String, Element)> {
        let region = document().query_selector(".toasts").ok()??;
        let number = self.next_id.get_value();
        self.next_id.set_value(number.wrapping_add(1));
        let id = ["toast-", &number.to_string()].concat();
        let toast = element("div", "toast")?;
        toast.set_id(&id);
        let said = element(if href.is_some() { "a" } else { "span" }, "")?;
        said.set_text_content(Some(&[text, " "].concat()));
        if !quoted.is_empty() {
            let quote = element("bdi", "")?;
            quote.set_text_content(Some(quoted));
            said.append_child(&quote).ok()?;
        }
        if let Some(href) = href {
            said.set_attribute("href", href).ok()?;
            browser::on_click(&said, {
                let id = id.clone();
                move || dismiss(&id)
            });
        }
        let close = element("button", "quiet")?;
        close.set_attribute("type", "button").ok()?;
        close.set_attribute("aria-label", "Dismiss").ok()?;
        close.set_inner_html(CROSS);
        browser::on_click(&close, {
            let id = id.clone();
            move || dismiss(&id)
        });
        toast.append_child(&said).ok()?;
        toast.append_child(&close).ok()?;
        region.append_child(&toast).ok()?;
        Some((id, toast))
    }

    /// Somebody looks at the page.
    pub(super) fn look(self) {
        for id in self.unseen.try_update_value(std::mem::take).unwrap_or_default() {
            browser::after(SHOWN_FOR, move || dismiss(&id));
        }
    }
}

fn element(name: &str, class: &str) -> Option<Element> {
    let element = document().create_element(name).ok()?;
    if !class.is_empty() {
        element.set_class_name(class);
    }
    Some(element)
}

fn dismiss(id: &str) {
    if let Some(toast) = document().get_element_by_id(id) {
        toast.remove();
    }
}

/// Where toasts appear. Always on the page, so that screen readers hear what is put into it.
pub(super) fn region() -> impl IntoView + use<> {
    view! { <div class="toasts" role="status" aria-live="polite" aria-atomic="false"></div> }
}
