//! Short messages about outcomes, shown for a while and read out politely. Part of [`super::live::Live`].

use std::cell::{Cell, RefCell};

use leptos::either::Either;
use leptos::prelude::*;
use leptos::web_sys::{Element, Event};

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::{browser, morph};

/// How long a toast stays, in milliseconds.
const SHOWN_FOR: u32 = 10_000;

/// What a toast offers to take back: a form of `fields` (url-encoded) for the endpoint `path`.
#[derive(Clone)]
pub struct Undo {
    pub path: String,
    pub fields: String,
    /// What is said once it is taken back.
    pub done: String,
}

#[derive(Default)]
pub struct Toasts {
    next_id: Cell<u32>,
    /// What was said while nobody looked.
    unseen: RefCell<Vec<String>>,
}

impl Toasts {
    /// Says `text`, and after it what a person wrote. The toast's time begins when somebody looks at the page.
    pub fn say(&self, text: &str, quoted: &str, href: Option<String>) {
        let Some((id, _)) = self.show(text, quoted, href, false) else { return };
        self.unseen.borrow_mut().push(id);
        if browser::is_watched() {
            self.look();
        }
    }

    /// Says `text` with a way to take it back. It stays until it is used, dismissed or followed by another of its kind.
    pub fn say_with_undo(&self, text: &str, undo: impl Fn() + 'static) {
        if let Some(before) = browser::find(".toast[data-undo]") {
            before.remove();
        }
        let Some((_, toast)) = self.show(text, "", None, true) else { return };
        if let Some(button) = browser::find_in(&toast, ".button") {
            browser::on::<Event>(&button, "click", move |_| undo());
        }
    }

    /// Puts a toast into the region; its id, and itself. Any of its buttons and links dismisses it.
    fn show(
        &self,
        text: &str,
        quoted: &str,
        href: Option<String>,
        has_undo: bool,
    ) -> Option<(String, Element)> {
        let region = browser::find(".toasts")?;
        let number = self.next_id.get();
        self.next_id.set(number.wrapping_add(1));
        let id = ["toast-", &number.to_string()].concat();
        let mut shown = None;
        morph::rendered(
            || toast(id.clone(), text.to_owned(), quoted.to_owned(), href, has_undo),
            |now| shown = now.first_element_child(),
        );
        let toast = shown?;
        region.append_child(&toast).ok()?;
        for control in browser::all_in(&toast, "a, button") {
            let toast = toast.clone();
            browser::on::<Event>(&control, "click", move |_| toast.remove());
        }
        Some((id, toast))
    }

    /// Somebody looks at the page.
    pub(super) fn look(&self) {
        for id in self.unseen.take() {
            browser::after(SHOWN_FOR, move || {
                if let Some(toast) = browser::by_id(&id) {
                    toast.remove();
                }
            });
        }
    }
}

fn toast(
    id: String,
    text: String,
    quoted: String,
    href: Option<String>,
    has_undo: bool,
) -> impl IntoView + use<> {
    let said = view! { {text} " " <bdi>{quoted}</bdi> };
    let said = match href {
        Some(href) => Either::Left(view! { <a href=href>{said}</a> }),
        None => Either::Right(view! { <span>{said}</span> }),
    };
    let undo = has_undo.then(|| view! { <button type="button" class="button">"Undo"</button> });
    view! {
        <div id=id class="toast" data-undo=has_undo.then_some("")>
            {said}
            {undo}
            <button type="button" class="quiet" aria-label="Dismiss">{icon(icon::CLOSE)}</button>
        </div>
    }
}

/// Where toasts appear. Always on the page, so that screen readers hear what is put into it.
pub(super) fn region() -> impl IntoView + use<> {
    view! { <div class="toasts" role="status" aria-live="polite" aria-atomic="false"></div> }
}
