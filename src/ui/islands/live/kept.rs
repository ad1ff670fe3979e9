//! Scripts the DOM: stores what is typed into a plain form with a text, for the person and the page, until it is posted or the person signs out. It
//! survives a reload and the end of the session. Each tab has a copy of its own, so that tabs with the same form keep both texts; a new tab takes over
//! the last one. Prompts have drafts instead ([`crate::ui::islands::prompt_form`]). All but [`listen`] is loaded when somebody types, or has typed.

use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::wasm_split::{SplitLoaderError, wasm_split};
use leptos::web_sys::js_sys::Reflect;
use leptos::web_sys::{Element, Event, HtmlFormElement};
use send_wrapper::SendWrapper;

use super::LiveState;
use crate::ui::islands::browser::{self, on_demand};
use api::annotations::SaveAnnotation;
use api::jobs::ImportJob;
use api::templates::SaveTemplate;
use model::headers::PERSON_FIELD;

/// What the forms post to.
const KEPT: [&str; 3] = [SaveTemplate::PATH, SaveAnnotation::PATH, ImportJob::PATH];

/// What to do with the copies of a form.
#[derive(Clone, Copy)]
pub(super) enum Task {
    /// Stores what is typed as the copy of this tab.
    Store,
    /// Removes the copies of what was posted or discarded. Another text of another tab stays.
    Forget,
    /// Fills the form with what is stored, and says so. *Undo* returns to what the server rendered.
    Restore,
}

pub(super) fn listen(live: &LiveState) {
    let state = live.clone();
    browser::on_window("input", move |event: Event| {
        if let Some(form) = browser::target(&event, "form").and_then(|form| form.dyn_into().ok()) {
            spawn_local(keep(Task::Store, form, state.clone()));
        }
    });
    for form in browser::all("form").into_iter().filter_map(|form| form.dyn_into().ok()) {
        let has_copies = prefix(&form).is_some_and(|prefix| !browser::stored_keys(&prefix).is_empty());
        if has_copies {
            spawn_local(keep(Task::Restore, form, live.clone()));
        }
    }
}

/// Does this with a form that is kept, and nothing with another one. Without the part nothing is kept.
pub(super) async fn keep(task: Task, form: HtmlFormElement, live: LiveState) {
    if prefix(&form).is_some() && on_demand::loaded().await {
        let _ = kept(task, form, live).await;
    }
}

/// How the keys of all copies of a form begin; `None` for a form that is not kept.
fn prefix(form: &HtmlFormElement) -> Option<String> {
    let action = form.get_attribute("action").filter(|action| KEPT.contains(&action.as_str()))?;
    Some([browser::DRAFTS, &browser::value_of(form, PERSON_FIELD), &action, "/"].concat())
}

#[wasm_split(on_demand, wasm_split_path = leptos::wasm_split, fallible)]
fn kept(task: Task, form: HtmlFormElement, live: LiveState) -> Result<(), SplitLoaderError> {
    if let Some(key) = key(&form) {
        match task {
            Task::Store => store(&key, &form),
            Task::Forget => forget(&key, &form),
            Task::Restore => restore(&key, &live, form),
        }
    }
    Ok(())
}

fn key(form: &HtmlFormElement) -> Option<String> {
    let (prefix, here) = (prefix(form)?, browser::here());
    // The query of analytics changes while the form stays.
    let is_note = form.get_attribute("action").as_deref() == Some(SaveAnnotation::PATH);
    let page = if is_note { here.split('?').next().unwrap_or_default() } else { &here };
    // A page may have several forms for notes.
    Some([&prefix, &browser::value_of(form, "id"), page].concat())
}

fn store(key: &str, form: &HtmlFormElement) {
    let copy = browser::stored_for_tab(key).unwrap_or_else(|| {
        let copy = [key, "#", &browser::now().as_millis().to_string()].concat();
        browser::store_for_tab(key, &copy);
        copy
    });
    browser::store(&copy, &typed(form));
}

fn forget(key: &str, form: &HtmlFormElement) {
    let typed = typed(form);
    for copy in copies(key) {
        if browser::stored(&copy).as_ref() == Some(&typed) {
            browser::store(&copy, "");
        }
    }
}

/// The copies of all tabs, in no particular order.
fn copies(key: &str) -> Vec<String> {
    browser::stored_keys(&[key, "#"].concat())
}

/// The fields that differ from what the server rendered, url-encoded.
fn typed(form: &HtmlFormElement) -> String {
    let fields = fields(form);
    let typed = fields.iter().filter(|field| !field.is_unchanged());
    browser::fields_of(&typed.map(|field| (field.name.as_str(), field.value.as_str())).collect::<Vec<_>>())
}

fn restore(key: &str, live: &LiveState, form: HtmlFormElement) {
    let own = browser::stored_for_tab(key).filter(|copy| browser::stored(copy).is_some());
    let Some(copy) = own.or_else(|| copies(key).into_iter().max()) else { return };
    let stored = browser::stored(&copy).unwrap_or_default();
    for field in fields(&form) {
        if let Some(value) = browser::value_in(&stored, &field.name) {
            let _ = Reflect::set(&field.element, &"value".into(), &JsValue::from_str(&value));
        }
    }
    // This tab takes over the copy. The tab that wrote it stores it again when somebody types there.
    browser::store(&copy, "");
    store(key, &form);
    open(&form);
    let (key, form) = (key.to_owned(), SendWrapper::new(form));
    live.toasts.show_with_undo("What you wrote before is here again", move || {
        forget(&key, &form);
        form.reset();
    });
}

/// A field that a person fills in.
struct Field {
    element: Element,
    name: String,
    value: String,
}

fn fields(form: &HtmlFormElement) -> Vec<Field> {
    let elements = browser::all_in(form, "[name]:not([type=hidden])").into_iter();
    let fields = elements.map(|element| {
        let name = element.get_attribute("name").unwrap_or_default();
        Field { value: browser::value_of(form, &name), name, element }
    });
    fields.collect()
}

impl Field {
    /// Whether it has the value that the server rendered.
    fn is_unchanged(&self) -> bool {
        let rendered = Reflect::get(&self.element, &"defaultValue".into());
        rendered.ok().and_then(|rendered| rendered.as_string()).as_deref() == Some(&self.value)
    }
}

/// Opens the details around the form.
fn open(form: &Element) {
    if let Ok(Some(details)) = form.closest("details") {
        browser::set_open(&details, true);
    }
}
