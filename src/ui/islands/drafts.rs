//! Drafts of prompts. They are stored in this browser at every edit, and on the server when typing pauses. They survive errors,
//! reloads, an expired session and a change of device.
//!
//! The server renders the form (`pages::prompt_form`); [`notes`] updates the notes about its text, and [`versions`]
//! handles a draft that another tab changed.

mod copy;
mod notes;
mod versions;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{
    Element, Event, HtmlButtonElement, HtmlFormElement, HtmlInputElement, HtmlTextAreaElement,
};
use serde::{Deserialize, Serialize};

use crate::ui::islands::browser;
use api::jobs::SaveDraft;
use copy::LocalCopy;
use model::draft::SavedDraft;
use model::page_path;
use model::time::Timestamp;

pub use notes::{COUNT, DISCARD, SAVED, SAVED_NOTE, UNDO};
pub use versions::{OTHER, OTHER_PAGES, OTHER_TEXT, USE_OTHER};

/// Prefix of the drafts' keys in the browser's storage.
const PREFIX: &str = "docket.draft/";

/// The attribute of the frame with the id of the signed-in person.
pub const PERSON: &str = "data-person";

/// The names of the form's hidden fields: the key of a prefilled form, and when the base version of the text was saved, in
/// milliseconds.
pub const FORM: &str = "form";
pub const BASE: &str = "base";

/// Pause in typing before the text is saved on the server, in milliseconds.
const PAUSE: u32 = 1_000;

/// Removes all drafts, because the next user of this browser must not read them.
pub fn forget_all() {
    browser::forget_stored(PREFIX);
}

/// Where the newest text is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StoredIn {
    Nowhere,
    /// Only in this browser.
    Here,
    OnServer,
}

/// The server's draft when it rendered the form.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DraftStart {
    /// When the server saved its draft, if it has one.
    pub saved_at: Option<Timestamp>,
    /// Whether the form was rendered with that draft.
    pub is_draft: bool,
    /// Whether the rendered text takes precedence over a draft in this browser.
    pub goes_first: bool,
    /// The longest prompt, in characters; 0 for a text that is not saved on the server.
    pub most: u32,
    pub prefill: PrefilledText,
}

/// The text of a form without its draft.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PrefilledText {
    pub text: String,
    /// The id of the text's template; empty without one.
    pub template: String,
}

/// The draft of one text field.
#[derive(Clone)]
pub struct Draft(Rc<State>);

struct State {
    /// The account of the text's author. The next person in this browser must not get the text.
    person: String,
    project: String,
    /// The job of a follow-up; `None` for a new job.
    job: Option<String>,
    form: HtmlFormElement,
    field: HtmlTextAreaElement,
    start: DraftStart,
    /// Whether the server may have a text, saved or being uploaded.
    may_be_there: Cell<bool>,
    /// Counts edits, to detect a pause in typing.
    edits: Cell<u32>,
    stored_in: Cell<StoredIn>,
    /// Whether the server did not respond when the text was last saved.
    is_unreached: Cell<bool>,
    /// The intent under which this tab saved the text before, for example before a reload.
    before: RefCell<String>,
    /// This browser's copy when the page was opened.
    found: RefCell<String>,
    /// The replaced text and the id of its template, for undo.
    replaced: RefCell<Option<(String, String)>>,
    on_change: RefCell<Vec<Box<dyn Fn()>>>,
    on_pause: RefCell<Vec<Box<dyn Fn()>>>,
}

impl Draft {
    /// The draft of the field with this id: of a new job in `project`, or of a follow-up to `job`.
    pub fn of(project: &str, job: Option<&str>, field: &str, start: &DraftStart) -> Option<Self> {
        let field: HtmlTextAreaElement = browser::by_id(field)?.dyn_into().ok()?;
        let draft = Self(Rc::new(State {
            person: browser::find(&["[", PERSON, "]"].concat())?.get_attribute(PERSON)?,
            project: project.to_owned(),
            job: job.map(str::to_owned),
            form: field.form()?,
            field,
            start: start.clone(),
            may_be_there: Cell::new(start.saved_at.is_some()),
            edits: Cell::new(0),
            stored_in: Cell::new(if start.is_draft { StoredIn::OnServer } else { StoredIn::Nowhere }),
            is_unreached: Cell::new(false),
            before: RefCell::default(),
            found: RefCell::default(),
            replaced: RefCell::default(),
            on_change: RefCell::default(),
            on_pause: RefCell::default(),
        }));
        draft.listen();
        draft.restore();
        Some(draft)
    }

    fn listen(&self) {
        let draft = self.clone();
        browser::on::<Event>(&self.0.field, "input", move |_| draft.store_edit());
        let draft = self.clone();
        browser::on::<Event>(&self.0.field, "blur", move |_| draft.save());
        let draft = self.clone();
        browser::on_key(&self.0.field, move |key| {
            if key.name == "Enter" && (key.ctrl_key() || key.meta_key()) {
                key.prevent_default();
                draft.submit();
            }
        });
        if let Some(pages) = self.pages() {
            let draft = self.clone();
            browser::on::<Event>(&pages, "input", move |_| draft.store_edit());
        }
        self.on_click(DISCARD, Self::discard);
        self.on_click(UNDO, Self::undo);
        self.on_click(USE_OTHER, Self::use_other);
        let draft = self.clone();
        browser::on_window::<Event>("offline", move |_| draft.changed());
        let draft = self.clone();
        browser::on_window::<Event>("online", move |_| draft.save());
        let draft = self.clone();
        browser::on_window::<Event>("visibilitychange", move |_| {
            if browser::is_hidden() {
                draft.save();
            }
        });
    }

    fn on_click(&self, class: &str, action: fn(&Self)) {
        if let Some(button) = self.part(class) {
            let draft = self.clone();
            browser::on(&button, "click", move |event: Event| {
                event.prevent_default();
                action(&draft);
            });
        }
    }

    /// The form of the field.
    pub fn form(&self) -> &HtmlFormElement {
        &self.0.form
    }

    /// Calls `action` now and at every change of the text or its template.
    pub fn on_change(&self, action: impl Fn() + 'static) {
        action();
        self.0.on_change.borrow_mut().push(Box::new(action));
    }

    /// Calls `action` now and whenever typing pauses.
    pub fn on_pause(&self, action: impl Fn() + 'static) {
        action();
        self.0.on_pause.borrow_mut().push(Box::new(action));
    }

    /// Sets a new intent: the next text is a new prompt.
    pub fn renew_intent(&self) {
        if let Some(intent) = self.input("intent") {
            self.0.before.replace(intent.value());
            intent.set_value(&browser::random_id());
        }
    }

    /// The id of the text's template; empty without one.
    pub fn template(&self) -> String {
        self.value_of("template_id")
    }

    /// Removes the link to the template.
    pub fn forget_template(&self) {
        self.set_template("");
        self.store_edit();
    }

    fn set_template(&self, id: &str) {
        // Only a text that is saved on the server has a template.
        if let Some(input) = self.input("template_id").filter(|_| self.0.start.most > 0) {
            input.set_value(id);
            input.set_disabled(id.is_empty());
        }
    }

    pub fn text(&self) -> String {
        self.0.field.value()
    }

    /// The current values of the text and pages fields.
    pub fn written(&self) -> (String, String) {
        (self.text(), self.pages().map(|pages| pages.value()).unwrap_or_default())
    }

    /// Submits the form, as its button does.
    pub fn submit(&self) {
        // The browser reports missing fields.
        let _ = self.0.form.request_submit();
    }

    /// Restores this browser's copy, unless the user typed before hydration or the page's own text takes precedence; then
    /// *Undo* restores it.
    fn restore(&self) {
        let State { field, start, .. } = &*self.0;
        let rendered = field.default_value().unwrap_or_default();
        let is_typed = field.value() != rendered;
        self.restore_replaced();
        if let Some(copy) = self.newest() {
            // Another tab may still be writing under its intent.
            if browser::stored_for_tab(&self.tab_key()).as_ref() == Some(&copy.intent) {
                self.0.before.replace(copy.intent);
            }
            if !is_typed && (!start.goes_first || rendered.is_empty()) {
                field.set_value(&copy.text);
                if let Some(pages) = self.pages().filter(|pages| pages.value() == pages.default_value()) {
                    pages.set_value(&copy.pages);
                }
                self.set_template(&copy.template);
                self.set_base(copy.base);
                self.0.stored_in.set(if copy.on_server { StoredIn::OnServer } else { StoredIn::Here });
                self.save();
            } else if !copy.on_server && copy.text != field.value() {
                self.set_replaced(Some((copy.text, copy.template)));
            }
        }
        if is_typed { self.store_edit() } else { self.changed() }
    }

    /// This browser's copy, if it is newer than the server's; an older one is removed.
    fn newest(&self) -> Option<LocalCopy> {
        let stored = browser::stored(&self.key())?;
        if let Some(copy) = LocalCopy::read(&stored).filter(|copy| copy.is_newer_than(self.0.start.saved_at))
        {
            self.0.found.replace(stored);
            return Some(copy);
        }
        browser::store(&self.key(), "");
        None
    }

    /// Stores the edit in this browser at once, and on the server after a pause.
    pub fn store_edit(&self) {
        if let Some(copy) = self.other_tabs_copy() {
            self.show_other(&copy.text, &copy.pages, &copy.template, None);
        }
        self.0.stored_in.set(if self.text().is_empty() { StoredIn::Nowhere } else { StoredIn::Here });
        if self.text().is_empty() {
            self.set_template("");
        }
        self.store(false);
        self.changed();
        let (draft, edit) = (self.clone(), self.edit());
        browser::after(PAUSE, move || {
            if draft.0.edits.get() == edit {
                draft.save();
                draft.0.on_pause.borrow().iter().for_each(|action| action());
            }
        });
    }

    /// Sets the text as if it was typed. `template`: the id of its template, or empty. *Undo* restores the text before.
    pub fn fill(&self, text: &str, template: &str) {
        let before = (self.text(), self.template());
        if !before.0.is_empty() && before.0 != text {
            self.set_replaced(Some(before));
        }
        self.preview(text, template);
        let _ = self.0.field.focus();
    }

    /// Sets the text without taking the focus from the field that it is derived from.
    pub fn preview(&self, text: &str, template: &str) {
        self.0.field.set_value(text);
        self.set_template(template);
        self.store_edit();
    }

    /// Moves the caret behind the text, if the page opened with the focus in the field.
    pub fn go_to_end(&self) {
        if browser::focused().is_some_and(|id| id == self.0.field.id()) {
            let end = self.text().encode_utf16().count() as u32;
            let _ = self.0.field.set_selection_range(end, end);
        }
    }

    /// Deletes the draft everywhere. The field returns to its content without a draft.
    fn discard(&self) {
        let PrefilledText { text, template } = &self.0.start.prefill;
        self.fill(text, template);
        self.edit();
        self.0.stored_in.set(StoredIn::Nowhere);
        browser::store(&self.key(), "");
        self.upload(String::new());
        self.changed();
    }

    /// Saves the text on the server if it is not there yet.
    fn save(&self) {
        let text = self.text();
        let is_unsaved = match text.chars().count() {
            0 => self.0.may_be_there.get(),
            length => length <= self.0.start.most as usize && self.0.stored_in.get() == StoredIn::Here,
        };
        if is_unsaved && browser::is_online() {
            self.upload(text);
        }
    }

    fn upload(&self, text: String) {
        let (edit, pages) = (self.0.edits.get(), self.written().1);
        self.0.may_be_there.set(!text.is_empty());
        let fields = browser::fields_of(&[
            ("project", &self.0.project),
            ("job", self.0.job.as_deref().unwrap_or_default()),
            (FORM, &self.value_of(FORM)),
            (BASE, &self.base().to_string()),
            ("paths", &pages),
            ("template_id", &self.template()),
            ("intent", &self.value_of("intent")),
            ("before", &self.0.before.borrow()),
            ("text", &text),
        ]);
        // An empty text deletes the draft.
        let fields = if text.is_empty() { fields + "&text=" } else { fields };
        let draft = self.clone();
        spawn_local(async move {
            let result = browser::post::<SavedDraft>(SaveDraft::PATH, &fields).await.result;
            draft.0.is_unreached.set(result.is_err());
            let Ok(saved) = result else { return draft.changed() };
            // Signing out removed the local copy; a late response must not restore it.
            let is_stored = browser::stored(&draft.key()).is_some();
            if draft.0.edits.get() != edit {
                return;
            }
            if let Some(other) = saved.changed {
                let at = other.saved_at.as_millis();
                draft.show_other(&other.text, &other.paths, &other.template, Some(at));
                draft.0.may_be_there.set(true);
                if is_stored {
                    draft.store(false);
                    draft.save();
                }
            } else if let Some(at) = saved.saved_at {
                draft.set_base(at.as_millis());
                if is_stored {
                    draft.store(true);
                }
                draft.0.stored_in.set(StoredIn::OnServer);
            }
            draft.changed();
        });
    }

    /// Clears the field and the stored copy after sending, and sets a new intent. The server deleted its draft.
    pub fn sent(&self) {
        self.renew_intent();
        self.0.field.set_value("");
        self.edit();
        self.set_template("");
        self.set_replaced(None);
        self.0.stored_in.set(StoredIn::Nowhere);
        self.0.may_be_there.set(false);
        self.set_base(0);
        browser::store(&self.key(), "");
        self.changed();
    }

    fn edit(&self) -> u32 {
        let edit = self.0.edits.get().wrapping_add(1);
        self.0.edits.set(edit);
        edit
    }

    /// Stores the current text in this browser. `on_server`: whether the server has it.
    fn store(&self, on_server: bool) {
        let (text, pages) = self.written();
        if text.is_empty() {
            return browser::store(&self.key(), "");
        }
        let (base, template, intent) = (self.base(), self.template(), self.value_of("intent"));
        browser::store_for_tab(&self.tab_key(), &intent);
        let copy = LocalCopy { base, on_server, template, intent, pages, text };
        browser::store(&self.key(), &copy.to_string());
    }

    fn key(&self) -> String {
        let State { person, project, job, .. } = &*self.0;
        let form = self.value_of(FORM);
        let slash = if form.is_empty() { "" } else { "/" };
        [PREFIX, person, "/", project, "/", job.as_deref().unwrap_or("new"), slash, &form].concat()
    }

    /// The key of the intent under which this tab stored the copy.
    fn tab_key(&self) -> String {
        self.key() + "/tab"
    }

    /// When the base version of the text was saved, in milliseconds; 0 without one.
    fn base(&self) -> i64 {
        self.value_of(BASE).parse().unwrap_or(0)
    }

    fn set_base(&self, at: i64) {
        if let Some(input) = self.input(BASE) {
            input.set_value(&at.to_string());
        }
    }

    /// The field for pages.
    fn pages(&self) -> Option<HtmlInputElement> {
        self.input("paths")
    }

    /// Replaces the page `old` with `new`.
    pub fn replace_page(&self, old: &str, new: &str) {
        if let Some(pages) = self.pages() {
            pages.set_value(&page_path::replaced(&pages.value(), old, new));
        }
    }

    fn value_of(&self, name: &str) -> String {
        self.input(name).map(|input| input.value()).unwrap_or_default()
    }

    fn input(&self, name: &str) -> Option<HtmlInputElement> {
        browser::find_in(&self.0.form, &["input[name=", name, "]"].concat())?.dyn_into().ok()
    }

    fn part(&self, class: &str) -> Option<Element> {
        browser::find_in(&self.0.form, &[".", class].concat())
    }

    /// The buttons that send the form.
    pub(super) fn buttons(&self) -> Vec<HtmlButtonElement> {
        let found = browser::all_in(&self.0.form, "button[data-send]");
        found.into_iter().filter_map(|button| button.dyn_into().ok()).collect()
    }
}
