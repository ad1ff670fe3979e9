//! The live region with the toasts. It is at the bottom of the rail, or above the page on small screens, and never covers controls.

use leptos::html;
use leptos::mount::mount_to;
use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;
use crate::ui::islands::toasts::{Kind, Toast, Toasts};

/// The live region. Always on the page, so that screen readers announce what is inserted. Only the browser renders toasts.
#[island]
pub fn ToastRegion() -> impl IntoView {
    let region = NodeRef::<html::Div>::new();
    if let Some(live) = LiveState::here() {
        let toasts = live.toasts;
        let list = move || {
            let toast = move |toast| toast_view(toasts, toast);
            view! { <For each=move || toasts.shown() key=|toast| toast.id children=toast /> }
        };
        browser::effect(move || {
            if let Some(region) = region.get() {
                mount_to(region.into(), list).forget();
            }
        });
    }
    view! { <div node_ref=region class="toasts" role="status" aria-live="polite" aria-atomic="false"></div> }
}

/// Any of its buttons and links dismisses it.
fn toast_view(toasts: Toasts, toast: Toast) -> impl IntoView {
    let Toast { id, kind, text, quoted, href, undo, .. } = toast;
    let dismiss = move |_| toasts.remove(id);
    let is_link = href.is_some();
    let follow = move |_| {
        if is_link {
            toasts.remove(id);
        }
    };
    let class = match kind {
        Kind::Done => "toast",
        Kind::Problem => "toast toast-bad",
        Kind::Announced => "visually-hidden",
    };
    let undo = undo.map(|undo| {
        let use_it = move |_| {
            undo.run(());
            toasts.remove(id);
        };
        view! { <button type="button" class="button" on:click=use_it>"Undo"</button> }
    });
    let close = (kind != Kind::Announced).then(|| {
        view! { <button type="button" class="quiet" aria-label="Dismiss" on:click=dismiss>{icon(icon::CLOSE)}</button> }
    });
    view! {
        <div class=class>
            {(kind == Kind::Problem).then(|| icon(icon::CROSS))}
            // Without a URL it is no link, and stays.
            <a href=href on:click=follow>{text} " " <bdi>{quoted}</bdi></a>
            {undo}
            {close}
        </div>
    }
}
