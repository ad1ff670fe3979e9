//! Notifications of the browser.

use leptos::prelude::window;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::prelude::Closure;
use leptos::web_sys::js_sys::Reflect;
use leptos::web_sys::{Notification, NotificationOptions, NotificationPermission};
use wasm_bindgen_futures::JsFuture;

/// Whether the permission for notifications is granted.
pub fn may_notify() -> bool {
    can_notify() && Notification::permission() == NotificationPermission::Granted
}

/// Requests the permission for notifications. A browser may deny it without a prompt.
pub async fn request_notifications() -> bool {
    if let Some(request) = can_notify().then(Notification::request_permission).and_then(Result::ok) {
        let _ = JsFuture::from(request).await;
    }
    may_notify()
}

/// Shows a notification that opens `href`. A later one with the same `tag`, from any tab, replaces it.
pub fn notify(title: &str, text: &str, href: String, tag: &str) {
    if !may_notify() {
        return;
    }
    let options = NotificationOptions::new();
    options.set_body(text);
    options.set_tag(tag);
    // Some browsers allow notifications from service workers only; the toast is shown anyway.
    let Ok(notification) = Notification::new_with_options(title, &options) else { return };
    let shown = notification.clone();
    let open = Closure::once_into_js(move || {
        let _ = window().focus();
        shown.close();
        let _ = window().location().set_href(&href);
    });
    notification.set_onclick(Some(open.unchecked_ref()));
}

fn can_notify() -> bool {
    Reflect::has(&window(), &"Notification".into()).unwrap_or(false)
}
