//! The live region with the toasts. It is at the bottom of the rail, or above the page on small screens, and never covers controls.

use std::any::Any;

use leptos::html;
use leptos::mount::mount_to;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement};

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;
use crate::ui::islands::toasts::{Kind, Toast, Toasts};

/// The live region. Always on the page, so that screen readers announce what is inserted. Only the browser renders toasts.
#[island]
pub fn ToastRegion() -> impl IntoView {
    let region = NodeRef::<html::Div>::new();
    if let Some(live) = LiveState::here() {
        let (toasts, on_page) = (live.toasts, StoredValue::new_local(Vec::<OnPage>::new()));
        browser::effect(move || {
            if let Some(region) = region.get() {
                let shown = toasts.shown();
                on_page.update_value(|on_page| show(&region, on_page, toasts, &shown));
            }
        });
    }
    view! { <div node_ref=region class="toasts" role="status" aria-live="polite" aria-atomic="false"></div> }
}

/// A toast on the page, each with a mounted view of its own: `<For>` would make the module 2 KB larger.
struct OnPage {
    id: u32,
    element: Element,
    /// What had the focus when it was shown.
    before: Option<Element>,
    /// Dropping it removes the view.
    _view: Box<dyn Any>,
}

/// Removes toasts that are no longer shown, and inserts new ones before the others.
fn show(region: &Element, on_page: &mut Vec<OnPage>, toasts: Toasts, shown: &[Toast]) {
    on_page.retain(|toast| {
        let stays = shown.iter().any(|shown| shown.id == toast.id);
        if !stays {
            toast.remove();
        }
        stays
    });
    for toast in shown.iter().rev() {
        if on_page.iter().all(|found| found.id != toast.id)
            && let Some(added) = OnPage::of(toasts, toast)
        {
            let _ = region.insert_before(&added.element, region.first_child().as_ref());
            on_page.push(added);
        }
    }
}

impl OnPage {
    fn of(toasts: Toasts, toast: &Toast) -> Option<Self> {
        let element: HtmlElement = document().create_element("div").ok()?.dyn_into().ok()?;
        element.set_class_name(match toast.kind {
            Kind::Done => "toast",
            Kind::Problem => "toast toast-bad",
            Kind::Announced => "visually-hidden",
        });
        let (id, content) = (toast.id, toast.clone());
        let view = mount_to(element.clone(), move || toast_view(toasts, content));
        let before =
            document().active_element().filter(|before| matches!(before.closest(".toasts"), Ok(None)));
        Some(Self { id, element: element.into(), before, _view: Box::new(view) })
    }

    /// Removes it from the page, and gives its focus back.
    fn remove(&self) {
        let had_focus = self.element.contains(document().active_element().as_deref());
        self.element.remove();
        if !had_focus {
            return;
        }
        if let Some(before) = self.before.as_ref().and_then(|before| before.dyn_ref::<HtmlElement>()) {
            let _ = before.focus();
        }
        // It may be removed or hidden.
        if browser::has_no_focus() {
            browser::focus("content");
        }
    }
}

/// Any of its buttons and links dismisses it. What it does not have is hidden.
fn toast_view(toasts: Toasts, toast: Toast) -> impl IntoView {
    let Toast { id, kind, text, quoted, href, undo, .. } = toast;
    let dismiss = move |_| toasts.remove(id);
    let (is_link, has_undo) = (href.is_some(), undo.is_some());
    let follow = move |_| {
        if is_link {
            toasts.remove(id);
        }
    };
    let use_undo = move |_| {
        if let Some(undo) = undo {
            undo.run(());
        }
        toasts.remove(id);
    };
    view! {
        <i class="icon icon-cross" hidden=kind != Kind::Problem></i>
        // Without a URL it is no link, and stays.
        <a href=href on:click=follow>{text} " " <bdi>{quoted}</bdi></a>
        <button type="button" class="button" hidden=!has_undo on:click=use_undo>{if has_undo { "Undo" } else { "" }}</button>
        <button type="button" class="quiet" aria-label="Dismiss" hidden=kind == Kind::Announced on:click=dismiss>
            {icon(icon::CLOSE)}
        </button>
    }
}
