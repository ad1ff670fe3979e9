//! The server's stand-ins: nothing is there, nothing happens. Same names and shapes as `present`.

use std::time::SystemTime;

use leptos::prelude::use_context;

use crate::api::call::Answer;
use crate::model::time::Timestamp;

/// What the sign-in page calls the single sign-on provider. The server provides it when it renders a page.
#[derive(Clone)]
pub struct Provider(pub String);

/// A timer that never runs.
pub struct Every;

/// The system's clock, for pages that the server renders without saying what time it is.
pub fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

pub fn local_time(at: Timestamp) -> String {
    at.to_string()
}

pub fn every(_millis: u32, _action: impl FnMut() + 'static) -> Every {
    Every
}

pub fn after(_millis: u32, _action: impl FnOnce() + 'static) {}

pub fn post(_path: &'static str, _fields: String, _heard: impl FnOnce(Answer) + 'static) {}

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

pub fn focus(_id: &str) -> bool {
    false
}

pub fn stored(_key: &str) -> Option<String> {
    None
}

pub fn store(_key: &str, _value: &str) {}

pub fn forget_stored(_prefix: &str) {}

pub fn copy(_text: &str) {}

pub fn toggle_theme() {}

pub fn set_on_document(_name: &str, _value: &str) {}

pub fn provider() -> Option<String> {
    use_context().map(|Provider(name)| name)
}

pub fn load_if_hydrated(_href: &str) {}
