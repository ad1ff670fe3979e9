//! The DOM without signals: elements, listeners, timers and forms. Failures are ignored: a page without a clipboard still works.

use gloo_timers::callback::{Interval, Timeout};
use leptos::prelude::{document, on_cleanup, window};
use leptos::wasm_bindgen::prelude::Closure;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::js_sys::{Array, Date, Function, JsString, Object, Reflect};
use leptos::web_sys::{
    Element, Event, EventTarget, FormData, HtmlElement, HtmlFormElement, HtmlInputElement, MouseEvent,
    MutationObserver, MutationObserverInit, NodeList, SubmitEvent, UrlSearchParams,
};
use send_wrapper::SendWrapper;

use model::time::Timestamp;

/// The element with this id.
pub fn by_id(id: &str) -> Option<Element> {
    document().get_element_by_id(id)
}

/// The first element that matches `selector`.
pub fn find(selector: &str) -> Option<Element> {
    document().query_selector(selector).ok().flatten()
}

/// The first descendant of `element` that matches `selector`.
pub fn find_in(element: &Element, selector: &str) -> Option<Element> {
    element.query_selector(selector).ok().flatten()
}

/// All elements that match `selector`.
pub fn all(selector: &str) -> Vec<Element> {
    document().query_selector_all(selector).map(listed).unwrap_or_default()
}

/// All descendants of `element` that match `selector`.
pub fn all_in(element: &Element, selector: &str) -> Vec<Element> {
    element.query_selector_all(selector).map(listed).unwrap_or_default()
}

fn listed(found: NodeList) -> Vec<Element> {
    (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect()
}

/// The event's target or its closest ancestor that matches `selector`.
pub fn target(event: &Event, selector: &str) -> Option<Element> {
    let element: Element = event.target()?.dyn_into().ok()?;
    element.closest(selector).ok().flatten()
}

/// The form of a submit event.
pub fn submitted(event: &Event) -> Option<HtmlFormElement> {
    event.target()?.dyn_into().ok()
}

/// Sets the attribute `name`, or removes it without a value.
pub fn set(element: &Element, name: &str, value: Option<&str>) {
    let _ = match value {
        Some(value) => element.set_attribute(name, value),
        None => element.remove_attribute(name),
    };
}

/// Closes the open popovers that `is_meant` matches.
pub fn close_popovers(is_meant: impl Fn(&Element) -> bool) {
    for popover in all(":popover-open").iter().filter(|popover| is_meant(popover)) {
        let _ = popover.dyn_ref::<HtmlElement>().map(HtmlElement::hide_popover);
    }
}

/// Sets or removes a boolean attribute.
pub fn toggle(element: &Element, name: &str, is_set: bool) {
    set(element, name, is_set.then_some(""));
}

/// Marks an element as busy for screen readers and styles, or no longer.
pub fn set_busy(element: &Element, is_busy: bool) {
    set(element, "aria-busy", is_busy.then_some("true"));
}

/// Opens or closes details.
pub fn set_open(details: &Element, is_open: bool) {
    toggle(details, "open", is_open);
}

/// `text` in lower case. Uses the browser's tables, because those of Rust add several KB.
pub fn lowercase(text: &str) -> String {
    JsString::from(text).to_lower_case().into()
}

/// Sets the text content, if it differs.
pub fn set_text(element: &Element, text: &str) {
    if element.text_content().as_deref() != Some(text) {
        element.set_text_content(Some(text));
    }
}

/// Whether a click on a link opens it in this tab: the main button, no modifier key.
pub fn is_plain(event: &MouseEvent) -> bool {
    event.button() == 0
        && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key())
        && !event.default_prevented()
}

pub fn now() -> Timestamp {
    Timestamp::from_millis(Date::now() as i64)
}

/// Runs `action` every `millis` milliseconds until the page unloads.
pub fn every(millis: u32, action: impl FnMut() + 'static) {
    Interval::new(millis, action).forget();
}

/// Calls `action` after each change of the page's elements, and of the attributes that keep it current.
pub fn on_change_of_page(action: impl FnMut() + 'static) {
    let action = Closure::<dyn FnMut()>::new(action).into_js_value();
    let what = MutationObserverInit::new();
    what.set_child_list(true);
    what.set_subtree(true);
    let names = ["data-every", "data-follows"].map(JsValue::from_str);
    what.set_attribute_filter(&Array::from_iter(names));
    if let (Ok(observer), Some(page)) = (MutationObserver::new(action.unchecked_ref()), document().body()) {
        let _ = observer.observe_with_options(&page, &what);
    }
}

pub fn after(millis: u32, action: impl FnOnce() + 'static) {
    Timeout::new(millis, action).forget();
}

/// Whether the browser has a network.
pub fn is_online() -> bool {
    window().navigator().on_line()
}

/// Whether the page is hidden: in a background tab or a minimized window.
pub fn is_hidden() -> bool {
    document().hidden()
}

/// Whether the page is visible and has the focus.
pub fn is_watched() -> bool {
    !is_hidden() && document().has_focus().unwrap_or(true)
}

/// The id of the focused element, if it has one.
pub fn focused() -> Option<String> {
    document().active_element().map(|element| element.id()).filter(|id| !id.is_empty())
}

/// Whether no element has the focus.
pub fn has_no_focus() -> bool {
    document().active_element().is_none_or(|element| element.local_name() == "body")
}

/// Focuses the element with this id. Returns false without such an element.
pub fn focus(id: &str) -> bool {
    let element = by_id(id).and_then(|element| element.dyn_into::<HtmlElement>().ok());
    element.is_some_and(|element| element.focus().is_ok())
}

/// Focuses the page's content if the focused element is hidden now, such as a button of a toolbar: the browser would drop the focus.
pub fn leave_hidden() {
    let focused = document().active_element();
    if focused.is_some_and(|focused| focused.get_bounding_client_rect().height() == 0.0) {
        focus("content");
    }
}

/// As [`focus`], without scrolling to the element.
pub fn focus_where_it_is(id: &str) {
    let top = window().scroll_y().unwrap_or(0.0);
    focus(id);
    scroll_to_y(top);
}

/// Copies `text`. Returns false where browsers have no clipboard: on pages over http.
pub fn copy(text: &str) -> bool {
    let clipboard = window().navigator().clipboard();
    let has_clipboard = clipboard.is_object();
    if has_clipboard {
        let _ = clipboard.write_text(text);
    }
    has_clipboard
}

/// Opens the browser's print dialog.
pub fn print() {
    let _ = window().print();
}

/// Adds a listener for `event` on the window, as [`on`].
pub fn on_window<E: JsCast>(event: &str, action: impl FnMut(E) + 'static) {
    on(&window(), event, action);
}

/// Adds a listener for `event` on `target`. It is removed with the island that adds it.
pub fn on<E: JsCast>(target: &EventTarget, event: &str, mut action: impl FnMut(E) + 'static) {
    listen(target, event, Box::new(move |event: Event| action(event.unchecked_into())));
}

fn listen(target: &EventTarget, event: &str, action: Box<dyn FnMut(Event)>) {
    let action: Function = Closure::wrap(action).into_js_value().unchecked_into();
    let _ = target.add_event_listener_with_callback(event, &action);
    let listener = SendWrapper::new((target.clone(), event.to_owned(), action));
    on_cleanup(move || {
        let (target, event, action) = listener.take();
        let _ = target.remove_event_listener_with_callback(&event, &action);
    });
}

/// A random UUID-formatted id for intents.
pub fn random_id() -> String {
    let mut bytes = [0_u8; 16];
    if let Ok(crypto) = window().crypto() {
        let _ = crypto.get_random_values_with_u8_array(&mut bytes);
    }
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// The form's url-encoded fields, with the name and value of the pressed button.
pub fn fields(form: &HtmlFormElement, event: &SubmitEvent) -> Option<String> {
    fields_with(form, event.submitter().as_ref(), &[])
}

/// As [`fields`], with the `given` values instead of those in the form; without the fields whose given value is empty.
pub fn fields_with(
    form: &HtmlFormElement,
    pressed: Option<&HtmlElement>,
    given: &[(&str, &str)],
) -> Option<String> {
    let fields = FormData::new_with_form(form).ok()?;
    for (name, value) in given {
        match *value {
            "" => fields.delete(name),
            value => fields.set_with_str(name, value).ok()?,
        }
    }
    if let Some(button) = pressed
        && let (Some(name), Some(value)) = (button.get_attribute("name"), button.get_attribute("value"))
    {
        // A checkbox may have the same name.
        fields.set_with_str(&name, &value).ok()?;
    }
    encoded(&fields)
}

/// The form's url-encoded fields, without a button.
pub fn typed_fields(form: &HtmlFormElement) -> Option<String> {
    encoded(&FormData::new_with_form(form).ok()?)
}

fn encoded(fields: &FormData) -> Option<String> {
    Some(UrlSearchParams::new_with_str_sequence_sequence(fields).ok()?.to_string().into())
}

/// The value of the field `name` of `form`.
pub fn value_of(form: &HtmlFormElement, name: &str) -> String {
    let fields = FormData::new_with_form(form).ok();
    fields.and_then(|fields| fields.get(name).as_string()).unwrap_or_default()
}

/// The value of the field with this id.
pub fn value(id: &str) -> String {
    let value = by_id(id).and_then(|field| Reflect::get(&field, &"value".into()).ok());
    value.and_then(|value| value.as_string()).unwrap_or_default()
}

/// The decoded value of the field `name` in a query.
pub fn value_in(query: &str, name: &str) -> Option<String> {
    UrlSearchParams::new_with_str(query).ok()?.get(name)
}

/// Sets the value of the input with this id.
pub fn set_value(id: &str, value: &str) {
    if let Some(field) = by_id(id).and_then(|field| field.dyn_into::<HtmlInputElement>().ok()) {
        field.set_value(value);
    }
}

/// Whether a part of the element is in the viewport.
pub fn is_in_view(element: &Element) -> bool {
    let (shown, window) = (element.get_bounding_client_rect(), window());
    let height = window.inner_height().ok().and_then(|height| height.as_f64()).unwrap_or_default();
    shown.height() > 0.0 && shown.bottom() > 0.0 && shown.top() < height
}

/// Scrolls to the element with this id.
pub fn scroll_to(id: &str) {
    if let Some(element) = by_id(id) {
        element.scroll_into_view();
    }
}

/// Scrolls the container of `element` as far as needed to show it.
pub fn show_nearest(element: &Element) {
    let options = Object::new();
    let _ = Reflect::set(&options, &"block".into(), &"nearest".into());
    let scroll = Reflect::get(element, &"scrollIntoView".into()).ok();
    if let Some(scroll) = scroll.and_then(|scroll| scroll.dyn_into::<Function>().ok()) {
        let _ = scroll.call1(element, &options);
    }
}

/// Scrolls the page to `y` px.
pub fn scroll_to_y(y: f64) {
    window().scroll_to_with_x_and_y(0.0, y);
}
