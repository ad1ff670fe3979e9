//! The browser's own facilities. Each fails quietly: a page without storage or clipboard still does its main job.

use gloo_timers::callback::{Interval, Timeout};
use leptos::prelude::{document, window};
use leptos::server_fn::redirect::call_redirect_hook;
use leptos::task::spawn_local;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::js_sys::{Date, Reflect};
use web_sys::{
    HtmlDocument, HtmlElement, Notification, NotificationOptions, NotificationPermission, Storage,
};

use crate::api::call::{self, Answer};
use crate::model::time::Timestamp;

/// A timer that runs until it is dropped.
pub struct Every {
    _interval: Interval,
}

pub fn now() -> Timestamp {
    Timestamp::from_millis(Date::now() as i64)
}

/// `at` in the reader's language and time zone.
pub fn local_time(at: Timestamp) -> String {
    let date = Date::new(&JsValue::from_f64(at.as_millis() as f64));
    date.to_locale_string("default", &JsValue::UNDEFINED).into()
}

pub fn every(millis: u32, action: impl FnMut() + 'static) -> Every {
    Every { _interval: Interval::new(millis, action) }
}

pub fn after(millis: u32, action: impl FnOnce() + 'static) {
    Timeout::new(millis, action).forget();
}

/// Posts a form's fields, says what was answered, and goes where the server function sends the browser.
pub fn post(path: &'static str, fields: String, heard: impl FnOnce(Answer) + 'static) {
    spawn_local(async move {
        let call::Reply { answer, redirect } = call::post(path, &fields).await;
        heard(answer);
        match redirect {
            // The further steps of signing in are pages that only the server has.
            Some(place) if place.starts_with("/login/") => load_if_hydrated(&place),
            Some(place) => call_redirect_hook(&place),
            None => {}
        }
    });
}

/// Whether nobody can see the page.
pub fn is_hidden() -> bool {
    document().hidden()
}

/// Whether somebody is looking at the page right now.
pub fn is_watched() -> bool {
    !is_hidden() && document().has_focus().unwrap_or(true)
}

/// Whether the browser lets us notify.
pub fn may_notify() -> bool {
    can_notify() && Notification::permission() == NotificationPermission::Granted
}

/// Asks the person, through the browser, whether we may notify; a browser may refuse by itself.
pub fn ask_to_notify(heard: impl FnOnce(bool) + 'static) {
    spawn_local(async move {
        if let Some(asked) = can_notify().then(Notification::request_permission).and_then(Result::ok) {
            let _ = JsFuture::from(asked).await;
        }
        heard(may_notify());
    });
}

/// Shows a notification that opens `href`. Of those with one `tag`, from whichever tab, the browser keeps one.
pub fn notify(title: &str, text: &str, href: String, tag: &str) {
    if !may_notify() {
        return;
    }
    let options = NotificationOptions::new();
    options.set_body(text);
    options.set_tag(tag);
    // Some browsers allow it to service workers only; a toast is shown all the same.
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

/// The id of the element that has the focus, if it has one.
pub fn focused() -> Option<String> {
    document().active_element().map(|element| element.id()).filter(|id| !id.is_empty())
}

/// Gives the focus to the element with that id; says whether there is one.
pub fn focus(id: &str) -> bool {
    let element = document().get_element_by_id(id).and_then(|element| element.dyn_into::<HtmlElement>().ok());
    element.is_some_and(|element| element.focus().is_ok())
}

pub fn stored(key: &str) -> Option<String> {
    storage()?.get_item(key).ok()?
}

/// Keeps `value`, or forgets the key where it is empty.
pub fn store(key: &str, value: &str) {
    if let Some(storage) = storage() {
        // A full or forbidden storage costs the draft after a reload, nothing else.
        let _ = if value.is_empty() { storage.remove_item(key) } else { storage.set_item(key, value) };
    }
}

/// Forgets every key that begins with `prefix`.
pub fn forget_stored(prefix: &str) {
    let Some(storage) = storage() else { return };
    for at in (0..storage.length().unwrap_or(0)).rev() {
        if let Some(key) = storage.key(at).ok().flatten().filter(|key| key.starts_with(prefix)) {
            let _ = storage.remove_item(&key);
        }
    }
}

pub fn copy(text: &str) {
    let _ = window().navigator().clipboard().write_text(text);
}

/// Goes from light to dark or back, and keeps the choice for a year.
pub fn toggle_theme() {
    let theme = if is_dark() { "light" } else { "dark" };
    set_on_document("data-theme", theme);
    if let Some(page) = document().dyn_ref::<HtmlDocument>() {
        let _ = page.set_cookie(&format!("theme={theme}; Path=/; SameSite=Lax; Max-Age=31536000"));
    }
}

pub fn set_on_document(name: &str, value: &str) {
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute(name, value);
    }
}

/// Leaves an interactive page for `href` by a request to the server.
pub fn load_if_hydrated(href: &str) {
    if document().document_element().is_some_and(|root| root.has_attribute("data-hydrated")) {
        let _ = window().location().set_href(href);
    }
}

/// What the document calls the single sign-on provider, if there is one.
pub fn provider() -> Option<String> {
    document().document_element()?.get_attribute("data-provider")
}

fn is_dark() -> bool {
    match document().document_element().and_then(|root| root.get_attribute("data-theme")) {
        Some(chosen) => chosen == "dark",
        None => window()
            .match_media("(prefers-color-scheme: dark)")
            .ok()
            .flatten()
            .is_some_and(|query| query.matches()),
    }
}

fn storage() -> Option<Storage> {
    window().local_storage().ok()?
}
