//! The state of a form with a prompt, in signals: what is typed, where its draft is stored, and whether it is being sent. The server renders the form
//! (`pages::prompt_form`), which works without JavaScript; its islands are [`buttons`] and [`notes`]. A draft is stored in this browser at every edit,
//! and on the server when typing pauses ([`draft`]). It survives errors, reloads, an expired session and a change of device.

pub mod buttons;
mod copy;
mod draft;
pub mod notes;
mod notice;
mod sending;
mod versions;

use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{
    Element, Event, HtmlElement, HtmlFormElement, HtmlInputElement, HtmlTextAreaElement, MouseEvent,
    SubmitEvent,
};
use serde::{Deserialize, Serialize};

use crate::ui::islands::browser::{self, on_demand};
use crate::ui::islands::live::LiveState;
use crate::ui::marks::PAGES_FIELD;
use model::budget::{Budgets, Meter};
use model::error::ErrorCode;
use model::time::Timestamp;

pub use buttons::SendButtons;
pub use notes::DraftNotes;
pub use notice::other_version_of;
pub use sending::Attempt;

/// The names of the form's hidden fields: the key of a prefilled form, when the base version of the text was saved, in
/// milliseconds, and the intent of the form that began the draft.
pub const FORM: &str = "form";
pub const BASE: &str = "base";
pub const DRAFT: &str = "draft";

/// The form as the server rendered it.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct FormStart {
    /// The account of the text's author. The next person in this browser must not get the text.
    pub person: String,
    pub project: String,
    /// The job of a follow-up; `None` for a new job.
    pub job: Option<String>,
    pub intent: String,
    /// The intent of the form that began the draft; empty for a text other than of a new job.
    pub origin: String,
    /// The key of a prefilled form; empty without one.
    pub key: String,
    /// The id of the text's template; empty without one.
    pub template: String,
    /// When the server saved its draft, if it has one.
    pub saved_at: Option<Timestamp>,
    /// Whether the form was rendered with that draft.
    pub is_draft: bool,
    /// Whether the rendered text takes precedence over a draft in this browser.
    pub goes_first: bool,
    /// The longest prompt, in characters; 0 for a text that is not saved on the server.
    pub most: u32,
    pub prefill: PrefilledText,
    /// Why the form was refused, if it was.
    pub refused: Option<ErrorCode>,
    /// Whether the hourly budget has no room, so that the prompt is queued.
    pub is_full: bool,
}

/// The text of a form without its draft.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct PrefilledText {
    pub text: String,
    /// The id of the text's template; empty without one.
    pub template: String,
}

/// Where the newest text is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StoredIn {
    Nowhere,
    /// Only in this browser.
    Here,
    OnServer,
}

/// The text and pages as they were typed.
pub type Written = (String, String);

/// A text of the form that is not in its field.
#[derive(Clone, Default)]
struct Version {
    text: String,
    pages: String,
    /// The id of its template; empty without one.
    template: String,
    /// Whether the user discarded it.
    is_discarded: bool,
}

/// What happens to events in the form.
#[derive(Clone, Copy)]
pub struct Handlers {
    pub submit: fn(PromptForm, SubmitEvent),
    pub click: fn(PromptForm, MouseEvent),
}

/// What the browser and the server have of the draft.
#[derive(Clone, Default)]
struct Known {
    /// The key of a form with a draft of its own; empty for the first.
    key: String,
    /// When the base version of the text was saved, in milliseconds; 0 without one.
    base: i64,
    /// The intent of the form that began the draft: all forms with the draft start one job.
    origin: String,
    /// The intent under which this tab saved the text before, for example before a reload.
    before: String,
    /// This browser's copy when the page was opened.
    found: String,
    /// Whether the server may have a text, saved or being uploaded.
    may_be_on_server: bool,
    /// The text that may be sent with an unfilled placeholder.
    confirmed: String,
    /// Whether this browser's copy was looked for. What is typed before counts then.
    is_restored: bool,
    /// Whether the text was discarded after it was sent.
    is_discarded: bool,
}

/// The state of the form around an island, which is a context in the browser.
#[derive(Clone, Copy)]
pub struct PromptForm {
    start: StoredValue<FormStart>,
    /// The id of the text's field.
    field: &'static str,
    pub text: RwSignal<String>,
    /// The field for pages.
    pub pages: RwSignal<String>,
    /// The id of the text's template; empty without one.
    pub template: RwSignal<String>,
    intent: RwSignal<String>,
    /// The template that was picked last: its URL, or an id of the pick. The answer to an earlier pick is dropped.
    pub picked: RwSignal<String>,
    /// Increases whenever typing pauses.
    pub pauses: RwSignal<u32>,
    stored_in: RwSignal<StoredIn>,
    /// Whether the server did not respond when the text was last saved.
    is_unreached: RwSignal<bool>,
    is_pending: RwSignal<bool>,
    /// Whether the hourly budget is full, so that the prompt is queued.
    is_full: RwSignal<bool>,
    pub refused: RwSignal<Option<ErrorCode>>,
    /// The replaced text, for *Undo*.
    replaced: RwSignal<Option<Version>>,
    /// The text that another tab saved in the same draft.
    other: RwSignal<Option<Version>>,
    known: StoredValue<Known>,
    /// Counts edits, to detect a pause in typing.
    edits: StoredValue<u32>,
    /// The text that is being sent, if values of a template's fields were applied to it since: they were typed before the part that is loaded on
    /// demand was there.
    pub applied_to: StoredValue<Option<String>>,
    /// Whether the part that is loaded on demand was started for this form.
    pub has_part: StoredValue<bool>,
    /// A form with another text that is sent with this one.
    beside: StoredValue<Option<PromptForm>>,
}

impl PromptForm {
    /// The form with the text in the field with the id `field`.
    pub fn new(start: FormStart, field: &'static str) -> Self {
        let FormStart { key, template, intent, origin, is_draft, saved_at, refused, is_full, .. } =
            start.clone();
        let base = saved_at.filter(|_| is_draft).map_or(0, Timestamp::as_millis);
        let known = Known { key, base, origin, may_be_on_server: saved_at.is_some(), ..Known::default() };
        let text = || RwSignal::new(String::new());
        Self {
            start: StoredValue::new(start),
            field,
            text: text(),
            pages: text(),
            template: RwSignal::new(template),
            intent: RwSignal::new(intent),
            picked: text(),
            pauses: RwSignal::new(0),
            stored_in: RwSignal::new(if is_draft { StoredIn::OnServer } else { StoredIn::Nowhere }),
            is_unreached: RwSignal::new(false),
            is_pending: RwSignal::new(false),
            is_full: RwSignal::new(is_full),
            refused: RwSignal::new(refused),
            replaced: RwSignal::new(None),
            other: RwSignal::new(None),
            known: StoredValue::new(known),
            edits: StoredValue::new(0),
            applied_to: StoredValue::new(None),
            has_part: StoredValue::new(false),
            beside: StoredValue::new(None),
        }
    }

    /// The form around an island.
    pub fn here() -> Option<Self> {
        if browser::IS_HERE { use_context() } else { None }
    }

    /// Begins to store drafts. Call it in the browser only.
    pub fn begin(self) {
        for name in ["online", "visibilitychange", "pagehide", "pageshow"] {
            browser::on_window(name, move |event: Event| self.happened(&event));
        }
        notice::show_when_needed(self);
        // When the islands in the form are there: they begin with what the server rendered.
        browser::after(0, move || {
            if !self.is_gone() {
                self.restore(false);
            }
        });
    }

    fn happened(self, event: &Event) {
        match event.type_().as_str() {
            "online" => self.save(),
            "visibilitychange" if browser::is_hidden() => self.save(),
            "pagehide" => self.mark_as_own(),
            "pageshow" if browser::is_restored(event) => self.came_back(),
            _ => {}
        }
    }

    /// As [`Self::begin`], for a text that is sent with this one.
    pub fn begin_beside(self, other: Self) {
        other.begin();
        self.beside.set_value(Some(other));
    }

    /// Queues the prompt while this budget is full.
    pub fn follow_budget(self, live: &LiveState, of: fn(&Budgets) -> Meter) {
        live.on_budgets(move |budgets| self.is_full.set(of(budgets).left() == 0));
    }

    pub fn project(self) -> String {
        self.start.with_value(|start| start.project.clone())
    }

    fn is_new_job(self) -> bool {
        self.start.with_value(|start| start.job.is_none())
    }

    /// Whether the island was removed from the page.
    fn is_gone(self) -> bool {
        self.text.is_disposed()
    }

    /// The current text and pages.
    pub fn written(self) -> Written {
        (self.text.get_untracked(), self.pages.get_untracked())
    }

    pub fn text_field(self) -> Option<HtmlTextAreaElement> {
        browser::by_id(self.field)?.dyn_into().ok()
    }

    fn pages_field(self) -> Option<HtmlInputElement> {
        if self.is_new_job() { PAGES_FIELD.element()?.dyn_into().ok() } else { None }
    }

    pub fn form(self) -> Option<HtmlFormElement> {
        self.text_field()?.form()
    }

    pub fn focus(self) {
        browser::focus(self.field);
    }

    /// Submits the form, as the `pressed` button does, or the first one.
    pub fn submit(self, pressed: Option<&HtmlElement>) {
        if let Some(form) = self.form() {
            // The browser reports missing fields.
            let _ = form.request_submit_with_submitter(pressed);
        }
    }

    /// Sets the text as if it was typed. `template`: the id of its template, or empty. *Undo* restores the text before.
    pub fn fill(self, text: &str, template: &str) {
        self.restore(true);
        let before = Version {
            text: self.text.get_untracked(),
            pages: self.pages.get_untracked(),
            template: self.template.get_untracked(),
            is_discarded: false,
        };
        if !before.text.is_empty() && before.text != text {
            self.set_replaced(Some(before));
        }
        self.preview(text, template);
        self.focus();
    }

    /// Sets the text without taking the focus from the field that it is derived from.
    pub fn preview(self, text: &str, template: &str) {
        self.set_text(text);
        self.template.set(template.to_owned());
        self.store_edit();
    }

    fn set_text(self, text: &str) {
        self.text.set(text.to_owned());
        self.show_text();
    }

    fn show_text(self) {
        if let Some(field) = self.text_field() {
            field.set_value(&self.text.get_untracked());
        }
    }

    /// Sets the field for pages.
    pub fn set_pages(self, pages: &str) {
        self.pages.set(pages.to_owned());
        if let Some(field) = self.pages_field() {
            field.set_value(pages);
        }
    }

    /// Removes the link to the template.
    pub fn forget_template(self) {
        self.template.set(String::new());
        self.store_edit();
    }

    /// Handles an edit of a field: of the text, of the pages, or of one that belongs to a template.
    fn typed(self, event: &Event) {
        if self.is_new_job() {
            on_demand::load();
        }
        let id = event_target::<Element>(event).id();
        if !self.known.with_value(|known| known.is_restored) {
            return;
        }
        if id == self.field {
            self.text.set(event_target_value(event));
            self.store_edit();
        } else if id == PAGES_FIELD.name() && self.is_new_job() {
            self.pages.set(event_target_value(event));
            self.store_edit();
        } else if let Some(beside) = self.beside.get_value() {
            beside.typed(event);
        }
    }

    /// Sends on Ctrl or Cmd+Enter in a field.
    fn pressed(self, event: KeyboardEvent) {
        let is_in_field = browser::target(&event, "input,textarea").is_some();
        let Some(key) = browser::Key::of(event).filter(|_| is_in_field) else { return };
        if key.name == "Enter" && (key.ctrl_key() || key.meta_key()) {
            key.prevent_default();
            self.submit(None);
        }
    }

    fn left(self, event: &FocusEvent) {
        if event_target::<Element>(event).id() == self.field {
            self.save();
        }
    }
}

/// An element around the form, with its events. `handlers`: in the browser only.
pub fn around(
    form: PromptForm,
    class: &'static str,
    handlers: Option<Handlers>,
    children: Children,
) -> impl IntoView {
    provide_context(form);
    view! {
        <div
            class=class
            on:input=move |event| {
                if browser::IS_HERE {
                    form.typed(&event);
                }
            }
            on:focusout=move |event| {
                if browser::IS_HERE {
                    form.left(&event);
                }
            }
            on:keydown=move |event| {
                if browser::IS_HERE {
                    form.pressed(event);
                }
            }
            on:submit=move |event| {
                if let Some(handlers) = handlers {
                    (handlers.submit)(form, event);
                }
            }
            on:click=move |event| {
                if let Some(handlers) = handlers {
                    (handlers.click)(form, event);
                }
            }
        >
            {children()}
        </div>
    }
}
