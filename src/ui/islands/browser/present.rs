//! The browser's own facilities. Each fails quietly: a page without storage or clipboard still does its main job.

use gloo_timers::callback::{Interval, Timeout};
use leptos::prelude::{document, window};
use leptos::wasm_bindgen::prelude::Closure;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::js_sys::{Date, Reflect};
use leptos::web_sys::{
    Element, Event, EventTarget, FormData, HtmlDocument, HtmlElement, HtmlFormElement, HtmlInputElement,
    MouseEvent, NodeList, Notification, NotificationOptions, NotificationPermission, Storage, SubmitEvent,
    UrlSearchParams,
};
use wasm_bindgen_futures::JsFuture;

use crate::model::time::Timestamp;

/// The element with that id.
pub fn by_id(id: &str) -> Option<Element> {
    document().get_element_by_id(id)
}

/// The first element that `selector` chooses.
pub fn find(selector: &str) -> Option<Element> {
    document().query_selector(selector).ok().flatten()
}

/// The first element below `element` that `selector` chooses.
pub fn find_in(element: &Element, selector: &str) -> Option<Element> {
    element.query_selector(selector).ok().flatten()
}

/// All elements that `selector` chooses.
pub fn all(selector: &str) -> Vec<Element> {
    document().query_selector_all(selector).map(listed).unwrap_or_default()
}

/// All elements below `element` that `selector` chooses.
pub fn all_in(element: &Element, selector: &str) -> Vec<Element> {
    element.query_selector_all(selector).map(listed).unwrap_or_default()
}

fn listed(found: NodeList) -> Vec<Element> {
    (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect()
}

/// The element that an event happened to, or the next around it that `selector` chooses.
pub fn target(event: &Event, selector: &str) -> Option<Element> {
    let element: Element = event.target()?.dyn_into().ok()?;
    element.closest(selector).ok().flatten()
}

/// The form that is being submitted.
pub fn submitted(event: &Event) -> Option<HtmlFormElement> {
    event.target()?.dyn_into().ok()
}

/// Sets the attribute `name`, or takes it away where there is no value.
pub fn set(element: &Element, name: &str, value: Option<&str>) {
    let _ = match value {
        Some(value) => element.set_attribute(name, value),
        None => element.remove_attribute(name),
    };
}

/// Sets or takes away an attribute that has no value.
pub fn toggle(element: &Element, name: &str, is_set: bool) {
    set(element, name, is_set.then_some(""));
}

/// Puts `text` into `element`, if it says something else.
pub fn set_text(element: &Element, text: &str) {
    if element.text_content().as_deref() != Some(text) {
        element.set_text_content(Some(text));
    }
}

/// Whether a click on a link is one that opens it here.
pub fn is_plain(event: &MouseEvent) -> bool {
    event.button() == 0
        && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key())
        && !event.default_prevented()
}

pub fn now() -> Timestamp {
    Timestamp::from_millis(Date::now() as i64)
}

/// `at` in the reader's language and time zone.
pub fn local_time(at: Timestamp) -> String {
    let date = Date::new(&JsValue::from_f64(at.as_millis() as f64));
    date.to_locale_string("default", &JsValue::UNDEFINED).into()
}

/// Runs `action` every `millis` milliseconds, for as long as the page is there.
pub fn every(millis: u32, action: impl FnMut() + 'static) {
    Interval::new(millis, action).forget();
}

pub fn after(millis: u32, action: impl FnOnce() + 'static) {
    Timeout::new(millis, action).forget();
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
pub async fn ask_to_notify() -> bool {
    if let Some(asked) = can_notify().then(Notification::request_permission).and_then(Result::ok) {
        let _ = JsFuture::from(asked).await;
    }
    may_notify()
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

/// Whether nothing on the page has the focus.
pub fn has_no_focus() -> bool {
    document().active_element().is_none_or(|element| element.tag_name() == "BODY")
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

/// Goes to `href`, as a click on a link does.
pub fn go(href: &str) {
    let _ = window().location().assign(href);
}

/// Whether a link of ours led to the page: not an address that was typed, a reload, nor the way back.
pub fn came_by_link() -> bool {
    let navigations = window().performance().map(|performance| performance.get_entries_by_type("navigation"));
    let kind = navigations
        .and_then(|navigations| Reflect::get(&navigations.get(0), &"type".into()).ok()?.as_string());
    let origin = window().location().origin().unwrap_or_default();
    kind.as_deref() == Some("navigate") && document().referrer().starts_with(&(origin + "/"))
}

/// Path and query of the page.
pub fn here() -> String {
    let location = window().location();
    location.pathname().unwrap_or_default() + &location.search().unwrap_or_default()
}

/// The fragment of the address, with its `#`.
pub fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}

/// Takes the fragment out of the address, without a step on the way back.
pub fn forget_fragment() {
    replace_address(&here());
}

/// Makes `address` the page's own, without a step on the way back.
pub fn replace_address(address: &str) {
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(address));
    }
}

/// Makes `address` the page's own; the way back leads to the one before.
pub fn push_address(address: &str) {
    if let Ok(history) = window().history() {
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(address));
    }
}

/// Calls `action` at each `event` of the window, for as long as the page is there.
pub fn on_window<E: JsCast>(event: &str, action: impl FnMut(E) + 'static) {
    on(&window(), event, action);
}

/// Calls `action` at each `event` of `target`, for as long as the page is there.
pub fn on<E: JsCast>(target: &EventTarget, event: &str, mut action: impl FnMut(E) + 'static) {
    listen(target, event, Box::new(move |event: Event| action(event.unchecked_into())));
}

fn listen(target: &EventTarget, event: &str, action: Box<dyn FnMut(Event)>) {
    let action = Closure::wrap(action).into_js_value();
    let _ = target.add_event_listener_with_callback(event, action.unchecked_ref());
}

/// A random id in the form of a UUID, for intents.
pub fn random_id() -> String {
    let mut bytes = [0_u8; 16];
    if let Ok(crypto) = window().crypto() {
        let _ = crypto.get_random_values_with_u8_array(&mut bytes);
    }
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// The form's fields url-encoded, with what the pressed button says.
pub fn fields(form: &HtmlFormElement, event: &SubmitEvent) -> Option<String> {
    let fields = FormData::new_with_form(form).ok()?;
    if let Some(button) = event.submitter()
        && let (Some(name), Some(value)) = (button.get_attribute("name"), button.get_attribute("value"))
    {
        fields.append_with_str(&name, &value).ok()?;
    }
    Some(UrlSearchParams::new_with_str_sequence_sequence(&fields).ok()?.to_string().into())
}

/// What stands in the field `name` of `form`.
pub fn value_of(form: &HtmlFormElement, name: &str) -> String {
    let fields = FormData::new_with_form(form).ok();
    fields.and_then(|fields| fields.get(name).as_string()).unwrap_or_default()
}

/// The value of the field `name` in a query, decoded.
pub fn value_in(query: &str, name: &str) -> Option<String> {
    UrlSearchParams::new_with_str(query).ok()?.get(name)
}

/// Writes `value` into the field with that id.
pub fn set_value(id: &str, value: &str) {
    if let Some(field) =
        document().get_element_by_id(id).and_then(|field| field.dyn_into::<HtmlInputElement>().ok())
    {
        field.set_value(value);
    }
}

/// Scrolls up to the element with that id.
pub fn scroll_to(id: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        element.scroll_into_view();
    }
}

/// As [`stored`], for this tab alone.
pub fn stored_for_tab(key: &str) -> Option<String> {
    window().session_storage().ok()??.get_item(key).ok()?
}

/// As [`store`], for this tab alone.
pub fn store_for_tab(key: &str, value: &str) {
    if let Ok(Some(storage)) = window().session_storage() {
        let _ = if value.is_empty() { storage.remove_item(key) } else { storage.set_item(key, value) };
    }
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
