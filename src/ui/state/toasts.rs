//! Short notes about outcomes, shown for a while and read out politely.

use leptos::prelude::*;

use crate::ui::state::browser;

/// How long a note stays, in milliseconds.
const SHOWN_FOR: u32 = 10_000;

#[derive(Clone)]
pub struct Toast {
    pub id: u32,
    pub text: String,
    /// What a person wrote, after the text; empty if nothing.
    pub quoted: String,
    /// Where the note leads to, if anywhere.
    pub href: Option<String>,
}

#[derive(Clone, Copy)]
pub struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    next_id: StoredValue<u32>,
    /// What was said while nobody looked.
    unseen: StoredValue<Vec<u32>>,
}

pub fn provide() {
    provide_context(Toasts {
        shown: RwSignal::new(Vec::new()),
        next_id: StoredValue::new(0),
        unseen: StoredValue::new(Vec::new()),
    });
}

impl Toasts {
    pub fn get() -> Self {
        expect_context()
    }

    pub fn shown(self) -> Vec<Toast> {
        self.shown.get()
    }

    pub fn say(self, text: String, href: Option<String>) {
        self.say_of(text, String::new(), href);
    }

    /// Says `text`, and after it what a person wrote. Its time begins when somebody looks at the page.
    pub fn say_of(self, text: String, quoted: String, href: Option<String>) {
        let id = self.next_id.get_value();
        self.next_id.set_value(id.wrapping_add(1));
        self.shown.update(|toasts| toasts.push(Toast { id, text, quoted, href }));
        self.unseen.update_value(|unseen| unseen.push(id));
        if browser::is_watched() {
            self.look();
        }
    }

    /// Somebody looks at the page.
    pub fn look(self) {
        for id in self.unseen.try_update_value(std::mem::take).unwrap_or_default() {
            browser::after(SHOWN_FOR, move || self.dismiss(id));
        }
    }

    pub fn dismiss(self, id: u32) {
        self.shown.try_update(|toasts| toasts.retain(|toast| toast.id != id));
    }
}
