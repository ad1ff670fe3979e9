//! The server's stand-ins: nothing is there, nothing happens. Same names and shapes as `present` and `fetch`.

use leptos::ev::{EventDescriptor, SubmitEvent};
use leptos::web_sys::{Document, Element, HtmlFormElement};
use serde::de::DeserializeOwned;

use super::Reply;
use crate::error::AppError;
use crate::model::time::Timestamp;

pub fn now() -> Timestamp {
    crate::ui::clock::now()
}

pub fn local_time(at: Timestamp) -> String {
    at.to_string()
}

pub fn every(_millis: u32, _action: impl FnMut() + 'static) {}

pub fn after(_millis: u32, _action: impl FnOnce() + 'static) {}

pub fn on_click(_element: &Element, _action: impl Fn() + 'static) {}

pub fn on_window<E: EventDescriptor + 'static>(_event: E, _action: impl Fn(E::EventType) + 'static) {}

pub async fn post<T: DeserializeOwned>(_path: &str, _fields: &str) -> Reply<T> {
    Reply { answer: Err(AppError::unreachable()), redirect: None }
}

pub async fn post_raw(_path: &str, _fields: &str) -> Reply<String> {
    Reply { answer: Err(AppError::unreachable()), redirect: None }
}

pub async fn fetch_page(_address: &str) -> Result<Document, AppError> {
    Err(AppError::unreachable())
}

pub fn fields(_form: &HtmlFormElement, _event: &SubmitEvent) -> Option<String> {
    None
}

pub fn value_of(_form: &HtmlFormElement, _name: &str) -> String {
    String::new()
}

pub fn value_in(_query: &str, _name: &str) -> Option<String> {
    None
}

pub fn set_value(_id: &str, _value: &str) {}

pub fn scroll_to(_id: &str) {}

pub fn go(_href: &str) {}

pub fn came_by_link() -> bool {
    false
}

pub fn here() -> String {
    String::new()
}

pub fn fragment() -> String {
    String::new()
}

pub fn forget_fragment() {}

pub fn replace_address(_address: &str) {}

pub fn push_address(_address: &str) {}

pub fn random_id() -> String {
    String::new()
}

pub fn is_hidden() -> bool {
    false
}

pub fn is_watched() -> bool {
    true
}

pub fn may_notify() -> bool {
    false
}

pub fn ask_to_notify(_heard: impl FnOnce(bool) + 'static) {}

pub fn notify(_title: &str, _text: &str, _href: String, _tag: &str) {}

pub fn focused() -> Option<String> {
    None
}

pub fn has_no_focus() -> bool {
    true
}

pub fn focus(_id: &str) -> bool {
    false
}

pub fn focus_is_lost() -> bool {
    false
}

pub fn stored(_key: &str) -> Option<String> {
    None
}

pub fn store(_key: &str, _value: &str) {}

pub fn stored_for_tab(_key: &str) -> Option<String> {
    None
}

pub fn store_for_tab(_key: &str, _value: &str) {}

pub fn forget_stored(_prefix: &str) {}

pub fn copy(_text: &str) {}

pub fn toggle_theme() {}

pub fn set_on_document(_name: &str, _value: &str) {}
