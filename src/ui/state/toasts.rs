//! Short notes about outcomes, shown for a while and read out politely.

use leptos::prelude::*;

use crate::ui::state::browser;

/// How long a note stays, in milliseconds.
const SHOWN_FOR: u32 = 10_000;

#[derive(Clone)]
pub struct Toast {
    pub id: u32,
    pub text: String,
    /// Where the note leads to, if anywhere.
    pub href: Option<String>,
}

#[derive(Clone, Copy)]
pub struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    next_id: StoredValue<u32>,
}

pub fn provide() {
    provide_context(Toasts { shown: RwSignal::new(Vec::new()), next_id: StoredValue::new(0) });
}

impl Toasts {
    pub fn get() -> Self {
        expect_context()
    }

    pub fn shown(self) -> Vec<Toast> {
        self.shown.get()
    }

    pub fn say(self, text: String, href: Option<String>) {
        let id = self.next_id.get_value();
        self.next_id.set_value(id.wrapping_add(1));
        self.shown.update(|toasts| toasts.push(Toast { id, text, href }));
        browser::after(SHOWN_FOR, move || self.dismiss(id));
    }

    pub fn dismiss(self, id: u32) {
        self.shown.try_update(|toasts| toasts.retain(|toast| toast.id != id));
    }
}
