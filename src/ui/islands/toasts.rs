//! Toasts: short messages in a polite live region ([`super::toast_region`]). Changes that are visible on the page are announced to screen readers only.

use leptos::prelude::*;

use crate::ui::islands::browser;

/// How long a toast is shown, in milliseconds.
const SHOWN_FOR: u32 = 10_000;

/// How long a toast waits again while somebody reads or uses it, in milliseconds.
const AFTER_READING: u32 = 2_000;

/// A toast under the pointer or the focus.
const IN_USE: &str = ".toast:is(:hover, :focus-within)";

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
pub(super) enum Kind {
    Done,
    Problem,
    /// For screen readers only.
    Announced,
}

#[derive(Clone)]
pub struct Toast {
    pub(super) id: u32,
    pub(super) kind: Kind,
    pub(super) text: String,
    /// User content.
    pub(super) quoted: String,
    pub(super) href: Option<String>,
    pub(super) undo: Option<Callback<()>>,
    /// Whether its time has started.
    is_seen: bool,
}

/// The toasts of the page, the newest first: it stays visible where not all fit.
#[derive(Clone, Copy)]
pub struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    next_id: StoredValue<u32>,
}

impl Default for Toasts {
    fn default() -> Self {
        Self { shown: RwSignal::new(Vec::new()), next_id: StoredValue::new(0) }
    }
}

impl Toasts {
    /// Shows `text` and the user content `quoted`. The toast's time starts when the page is visible and focused.
    pub fn show(self, text: &str, quoted: &str, href: Option<String>) {
        self.insert(Kind::Done, text, quoted, href, None);
    }

    /// As [`Self::show`], for an error.
    pub fn warn(self, text: &str, quoted: &str, href: Option<String>) {
        self.insert(Kind::Problem, text, quoted, href, None);
    }

    /// Announces to screen readers a change that is visible on the page.
    pub fn announce(self, text: &str, quoted: &str) {
        self.insert(Kind::Announced, text, quoted, None, None);
    }

    /// Shows `text` with an undo button, until it is used, dismissed or replaced by another such toast.
    pub fn show_with_undo(self, text: &str, undo: impl Fn() + Send + Sync + 'static) {
        self.shown.update(|shown| shown.retain(|toast| toast.undo.is_none()));
        self.insert(Kind::Done, text, "", None, Some(Callback::new(move |()| undo())));
    }

    fn insert(self, kind: Kind, text: &str, quoted: &str, href: Option<String>, undo: Option<Callback<()>>) {
        let id = self.next_id.get_value();
        self.next_id.set_value(id.wrapping_add(1));
        // What can be undone stays.
        let is_seen = undo.is_some();
        let toast = Toast { id, kind, text: text.to_owned(), quoted: quoted.to_owned(), href, undo, is_seen };
        self.shown.update(|shown| shown.insert(0, toast));
        if browser::is_watched() {
            self.start_unseen();
        }
    }

    /// Starts the time of unseen toasts, now that the page is in view.
    pub(super) fn start_unseen(self) {
        let mut started = Vec::new();
        self.shown.update_untracked(|shown| {
            for toast in shown.iter_mut().filter(|toast| !toast.is_seen) {
                toast.is_seen = true;
                started.push(toast.id);
            }
        });
        for id in started {
            browser::after(SHOWN_FOR, move || self.expire(id));
        }
    }

    /// Removes a toast whose time is over, but none while somebody reads or uses one.
    fn expire(self, id: u32) {
        if browser::find(IN_USE).is_some() {
            browser::after(AFTER_READING, move || self.expire(id));
        } else {
            self.remove(id);
        }
    }

    pub(super) fn shown(self) -> Vec<Toast> {
        self.shown.get()
    }

    pub(super) fn remove(self, id: u32) {
        self.shown.update(|shown| shown.retain(|toast| toast.id != id));
    }
}
