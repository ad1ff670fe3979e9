//! Where toasts appear. It is always on the page, so that screen readers hear what is put into it.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::erase::{Erase, handler};
use crate::ui::state::toasts::{Toast, Toasts};

pub fn region() -> AnyView {
    let toasts = Toasts::get();
    let shown = move || toasts.shown().into_iter().map(|note| toast(toasts, note)).collect_view().into_any();
    view! {
        <div class="toasts" role="status" aria-live="polite" aria-atomic="false">
            {move || shown()}
        </div>
    }
    .erase()
}

fn toast(toasts: Toasts, Toast { id, text, quoted, href }: Toast) -> AnyView {
    let text = [text.into_any(), view! { <bdi>{quoted}</bdi> }.erase()].collect_view();
    let text = match href {
        Some(href) => view! { <a href=href on:click=handler(move |_| toasts.dismiss(id))>{text}</a> }.erase(),
        None => view! { <span>{text}</span> }.erase(),
    };
    view! {
        <div class="toast">
            {text}
            <button type="button" class="quiet" aria-label="Dismiss" on:click=handler(move |_| toasts.dismiss(id))>
                {icon(icon::CLOSE)}
            </button>
        </div>
    }
    .erase()
}
