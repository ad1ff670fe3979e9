//! Toasts: short messages in a polite live region. Changes that are visible on the page are announced to screen readers only.
//! The region is at the bottom of the rail, or above the page on small screens. It never covers controls. Used by
//! [`super::live::Live`].

use std::cell::{Cell, RefCell};

use leptos::either::Either;
use leptos::prelude::*;
use leptos::web_sys::{Element, Event};

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::{browser, morph};

/// How long a toast is shown, in milliseconds.
const SHOWN_FOR: u32 = 10_000;

/// The undo of a toast: url-encoded `fields` to post to the endpoint `path`.
#[derive(Clone)]
pub struct Undo {
    pub path: String,
    pub fields: String,
    /// The toast after the undo.
    pub done: String,
}

/// The kind of a toast, which decides its icon and color.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Done,
    Problem,
}

#[derive(Default)]
pub struct Toasts {
    next_id: Cell<u32>,
    /// The ids of toasts whose time has not started.
    unseen: RefCell<Vec<String>>,
}

impl Toasts {
    /// Shows `text` and the user content `quoted`. The toast's time starts when the page is visible and focused.
    pub fn show(&self, text: &str, quoted: &str, href: Option<String>) {
        self.show_kind(Kind::Done, text, quoted, href);
    }

    /// As [`Self::show`], for an error.
    pub fn warn(&self, text: &str, quoted: &str, href: Option<String>) {
        self.show_kind(Kind::Problem, text, quoted, href);
    }

    fn show_kind(&self, kind: Kind, text: &str, quoted: &str, href: Option<String>) {
        if let Some((id, _)) = self.insert_toast(kind, text, quoted, href, false) {
            self.start(id);
        }
    }

    /// Starts the time of a toast when the page is in view.
    fn start(&self, id: String) {
        self.unseen.borrow_mut().push(id);
        if browser::is_watched() {
            self.start_unseen();
        }
    }

    /// Announces to screen readers a change that is visible on the page.
    pub fn announce(&self, text: &str, quoted: &str) {
        let text = [text, " ", quoted].concat();
        let inserted = self.insert(|id| view! { <p id=id class="visually-hidden">{text}</p> });
        if let Some((id, _)) = inserted {
            self.start(id);
        }
    }

    /// Shows `text` with an undo button, until it is used, dismissed or replaced by another such toast.
    pub fn show_with_undo(&self, text: &str, undo: impl Fn() + 'static) {
        if let Some(before) = browser::find(".toast[data-undo]") {
            before.remove();
        }
        let Some((_, toast)) = self.insert_toast(Kind::Done, text, "", None, true) else { return };
        if let Some(button) = browser::find_in(&toast, ".button") {
            browser::on::<Event>(&button, "click", move |_| undo());
        }
    }

    /// Inserts a toast; returns its id and element. Any of its buttons and links dismisses it.
    fn insert_toast(
        &self,
        kind: Kind,
        text: &str,
        quoted: &str,
        href: Option<String>,
        has_undo: bool,
    ) -> Option<(String, Element)> {
        let (id, toast) =
            self.insert(|id| toast(kind, id, text.to_owned(), quoted.to_owned(), href, has_undo))?;
        for control in browser::all_in(&toast, "a, button") {
            let toast = toast.clone();
            browser::on::<Event>(&control, "click", move |_| toast.remove());
        }
        Some((id, toast))
    }

    /// Adds an element with a new id to the region.
    fn insert<V: IntoView>(&self, view: impl FnOnce(String) -> V) -> Option<(String, Element)> {
        let region = browser::find(".toasts")?;
        let number = self.next_id.get();
        self.next_id.set(number.wrapping_add(1));
        let id = ["toast-", &number.to_string()].concat();
        let mut shown = None;
        morph::rendered(|| view(id.clone()), |now| shown = now.first_element_child());
        let shown = shown?;
        // The newest toast stays visible where not all fit.
        region.insert_before(&shown, region.first_child().as_ref()).ok()?;
        Some((id, shown))
    }

    /// Starts the time of unseen toasts, now that the page is in view.
    pub(super) fn start_unseen(&self) {
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
    kind: Kind,
    id: String,
    text: String,
    quoted: String,
    href: Option<String>,
    has_undo: bool,
) -> impl IntoView + use<> {
    let content = view! { {text} " " <bdi>{quoted}</bdi> };
    let content = match href {
        Some(href) => Either::Left(view! { <a href=href>{content}</a> }),
        None => Either::Right(view! { <span>{content}</span> }),
    };
    let undo = has_undo.then(|| view! { <button type="button" class="button">"Undo"</button> });
    let class = if kind == Kind::Problem { "toast toast-bad" } else { "toast" };
    let problem = (kind == Kind::Problem).then(|| icon(icon::CROSS));
    view! {
        <div id=id class=class data-undo=has_undo.then_some("")>
            {problem}
            {content}
            {undo}
            <button type="button" class="quiet" aria-label="Dismiss">{icon(icon::CLOSE)}</button>
        </div>
    }
}

/// The live region for toasts. Always on the page, so that screen readers announce what is inserted.
pub fn region() -> impl IntoView + use<> {
    view! { <div class="toasts" role="status" aria-live="polite" aria-atomic="false"></div> }
}
