//! Scripts the DOM: stores what is typed into a plain form with a text, for the person and the URL, until it is posted or the person signs out. It
//! survives a reload and the end of the session. Prompts have drafts instead ([`crate::ui::islands::prompt_form`]).

use leptos::server_fn::ServerFn;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::js_sys::Reflect;
use leptos::web_sys::{Element, Event, HtmlFormElement};
use send_wrapper::SendWrapper;

use super::LiveState;
use crate::ui::islands::browser;
use api::annotations::SaveAnnotation;
use api::jobs::ImportJob;
use api::templates::SaveTemplate;
use model::headers::PERSON_FIELD;

/// What the forms post to.
const KEPT: [&str; 3] = [SaveTemplate::PATH, SaveAnnotation::PATH, ImportJob::PATH];

pub(super) fn listen(live: &LiveState) {
    browser::on_window("input", |event: Event| {
        let Some(form) = browser::target(&event, "form").and_then(|form| form.dyn_into().ok()) else {
            return;
        };
        if let Some(key) = key(&form) {
            browser::store(&key, &browser::typed_fields(&form).unwrap_or_default());
        }
    });
    for form in browser::all("form").into_iter().filter_map(|form| form.dyn_into().ok()) {
        restore(live, form);
    }
}

/// Removes what is stored of a form that was posted.
pub(super) fn forget(form: &HtmlFormElement) {
    if let Some(key) = key(form) {
        browser::store(&key, "");
    }
}

/// The key of what is stored; `None` for another form.
fn key(form: &HtmlFormElement) -> Option<String> {
    let action = form.get_attribute("action").filter(|action| KEPT.contains(&action.as_str()))?;
    // A page may have several forms for notes.
    let [person, id] = [PERSON_FIELD, "id"].map(|name| browser::value_of(form, name));
    Some([browser::DRAFTS, &person, &action, "/", &id, &browser::here()].concat())
}

/// Fills a form with what is stored, and says so. *Undo* returns to what the server rendered.
fn restore(live: &LiveState, form: HtmlFormElement) {
    let Some(stored) = key(&form).and_then(|key| browser::stored(&key)) else { return };
    let mut has_changed = false;
    for field in browser::all_in(&form, "[name]:not([type=hidden])") {
        let name = field.get_attribute("name").unwrap_or_default();
        let (before, value) = (browser::value_of(&form, &name), browser::value_in(&stored, &name));
        if let Some(value) = value.filter(|value| *value != before) {
            let _ = Reflect::set(&field, &"value".into(), &JsValue::from_str(&value));
            has_changed = true;
        }
    }
    if !has_changed {
        return;
    }
    open(&form);
    let form = SendWrapper::new(form);
    live.toasts.show_with_undo("What you wrote before is here again", move || {
        forget(&form);
        form.reset();
    });
}

/// Opens the details around the form.
fn open(form: &Element) {
    if let Ok(Some(details)) = form.closest("details") {
        browser::set_open(&details, true);
    }
}
