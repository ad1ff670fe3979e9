//! Short messages about outcomes, shown for a while and read out politely. Part of [`super::live::Live`].

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::browser;

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

#[derive(Clone)]
struct Toast {
    id: u32,
    text: String,
    /// What a person wrote, after the text; empty if nothing.
    quoted: String,
    /// Where the toast leads to, if anywhere.
    href: Option<String>,
    undo: Option<Undo>,
}

#[derive(Clone, Copy)]
pub struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    next_id: StoredValue<u32>,
    /// What was said while nobody looked.
    unseen: StoredValue<Vec<u32>>,
}

impl Toasts {
    pub(super) fn new() -> Self {
        Self {
            shown: RwSignal::new(Vec::new()),
            next_id: StoredValue::new(0),
            unseen: StoredValue::new(Vec::new()),
        }
    }

    /// Says `text`, and after it what a person wrote. The toast's time begins when somebody looks at the page.
    pub fn say(self, text: impl Into<String>, quoted: impl Into<String>, href: Option<String>) {
        let id = self.push(text.into(), quoted.into(), href, None);
        self.unseen.update_value(|unseen| unseen.push(id));
        if browser::is_watched() {
            self.look();
        }
    }

    /// Says `text` with a way to take it back. It stays until it is used, dismissed or followed by another of its kind.
    pub fn say_with_undo(self, text: String, undo: Undo) {
        self.shown.update(|toasts| toasts.retain(|toast| toast.undo.is_none()));
        self.push(text, String::new(), None, Some(undo));
    }

    fn push(self, text: String, quoted: String, href: Option<String>, undo: Option<Undo>) -> u32 {
        let id = self.next_id.get_value();
        self.next_id.set_value(id.wrapping_add(1));
        self.shown.update(|toasts| toasts.push(Toast { id, text, quoted, href, undo }));
        id
    }

    /// Somebody looks at the page.
    pub(super) fn look(self) {
        for id in self.unseen.try_update_value(std::mem::take).unwrap_or_default() {
            browser::after(SHOWN_FOR, move || self.dismiss(id));
        }
    }

    fn dismiss(self, id: u32) {
        self.shown.try_update(|toasts| toasts.retain(|toast| toast.id != id));
    }
}

/// Where toasts appear. Always on the page, so that screen readers hear what is put into it. `undo` does what an Undo button asks for.
pub(super) fn region(toasts: Toasts, undo: impl Fn(Undo) + Clone + Send + Sync + 'static) -> impl IntoView {
    view! {
        <div class="toasts" role="status" aria-live="polite" aria-atomic="false">
            {move || {
                let undo = undo.clone();
                toasts.shown.get().into_iter().map(|shown| toast(toasts, shown, undo.clone())).collect_view()
            }}
        </div>
    }
}

fn toast(toasts: Toasts, toast: Toast, undo: impl Fn(Undo) + 'static) -> AnyView {
    let Toast { id, text, quoted, href, undo: way_back } = toast;
    let text = view! { {text} <bdi>{quoted}</bdi> };
    let text = match href {
        Some(href) => view! { <a href=href on:click=move |_| toasts.dismiss(id)>{text}</a> }.into_any(),
        None => view! { <span>{text}</span> }.into_any(),
    };
    let way_back = way_back.map(|way_back| {
        let press = move |_| {
            toasts.dismiss(id);
            undo(way_back.clone());
        };
        view! { <button type="button" class="button" on:click=press>"Undo"</button> }
    });
    view! {
        <div class="toast">
            {text} {way_back}
            <button type="button" class="quiet" aria-label="Dismiss" on:click=move |_| toasts.dismiss(id)>
                {icon(icon::CLOSE)}
            </button>
        </div>
    }
    .into_any()
}
