//! Drafts of prompts: stored in this browser at every edit and on the server when typing pauses, so that they survive
//! errors, reloads, an expired session and a change of device. The newest copy wins.
//!
//! The server renders the form (`pages::prompt_form`); this module updates the notes about its text.

mod copy;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{
    Element, Event, HtmlButtonElement, HtmlFormElement, HtmlInputElement, HtmlTextAreaElement, KeyboardEvent,
};
use serde::{Deserialize, Serialize};

use crate::api::jobs::KeepDraft;
use crate::model::job::DraftKept;
use crate::model::time::Timestamp;
use crate::ui::charts::number::grouped;
use crate::ui::islands::browser;
use copy::{LocalCopy, ServerCopy};

/// Prefix of the drafts' keys in `localStorage`.
const PREFIX: &str = "docket.draft/";

/// The attribute of the frame that has the id of the signed-in person.
pub const PERSON: &str = "data-person";

/// Pause in typing before the text is saved on the server, in milliseconds.
const PAUSE: u32 = 1_000;

/// The character count is shown from this share of the limit on, in percent.
const NEAR_PERCENT: usize = 90;

/// The classes of the character count, of the note that the draft is saved, and of the buttons to discard and undo.
pub const COUNT: &str = "prompt-count";
pub const KEPT: &str = "draft-kept";
pub const DISCARD: &str = "draft-discard";
pub const UNDO: &str = "draft-undo";

/// Removes all drafts: the next user of this browser must not read them.
pub fn forget_all() {
    browser::forget_stored(PREFIX);
}

/// The note that the draft is saved on the server.
pub const SAVED: &str = "Draft saved";

/// The note that only this browser has it, because the server cannot be reached.
const SAVED_HERE: &str = "Draft saved in this browser";

/// Where the newest text is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
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
}

/// The draft of one text field.
#[derive(Clone)]
pub struct Draft(Rc<State>);

struct State {
    /// The account whose text it is: the next person at this browser must not get it.
    person: String,
    project: String,
    /// The job of a follow-up; `None` for a new job.
    job: Option<String>,
    form: HtmlFormElement,
    field: HtmlTextAreaElement,
    most: usize,
    server: Cell<ServerCopy>,
    /// Counts edits, to detect a pause in typing.
    edits: Cell<u32>,
    kept: Cell<Kept>,
    /// Whether the server did not answer when the text was last saved.
    is_unreached: Cell<bool>,
    /// The replaced text and the id of its template, for undo.
    replaced: RefCell<Option<(String, String)>>,
    on_change: RefCell<Vec<Box<dyn Fn()>>>,
    on_pause: RefCell<Vec<Box<dyn Fn()>>>,
}

impl Draft {
    /// The draft of the field with this id: of a new job in `project`, or of a follow-up to `job`.
    pub fn of(project: &str, job: Option<&str>, field: &str, start: &DraftStart) -> Option<Self> {
        let field: HtmlTextAreaElement = browser::by_id(field)?.dyn_into().ok()?;
        let may_be_there = start.saved_at.is_some();
        // Drafts of earlier versions, which say nothing of their author. The server has those it was sent.
        browser::store(&[PREFIX, project, "/", job.unwrap_or("new")].concat(), "");
        let draft = Self(Rc::new(State {
            person: browser::find(&["[", PERSON, "]"].concat())?.get_attribute(PERSON)?,
            project: project.to_owned(),
            job: job.map(str::to_owned),
            form: field.form()?,
            field,
            most: start.most as usize,
            server: Cell::new(ServerCopy { saved_at: start.saved_at, may_be_there }),
            edits: Cell::new(0),
            kept: Cell::new(if start.is_draft { Kept::OnServer } else { Kept::Nowhere }),
            is_unreached: Cell::new(false),
            replaced: RefCell::default(),
            on_change: RefCell::default(),
            on_pause: RefCell::default(),
        }));
        draft.listen();
        draft.restore(start.goes_first);
        Some(draft)
    }

    fn listen(&self) {
        let draft = self.clone();
        browser::on::<Event>(&self.0.field, "input", move |_| draft.store_edit());
        let draft = self.clone();
        browser::on::<Event>(&self.0.field, "blur", move |_| draft.save());
        let draft = self.clone();
        browser::on(&self.0.field, "keydown", move |event: KeyboardEvent| {
            if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
                event.prevent_default();
                draft.submit();
            }
        });
        if let Some(pages) = self.pages() {
            let draft = self.clone();
            browser::on::<Event>(&pages, "input", move |_| draft.store_edit());
        }
        if let Some(discard) = self.part(DISCARD) {
            let draft = self.clone();
            browser::on(&discard, "click", move |event: Event| {
                event.prevent_default();
                draft.fill("", "");
                draft.save();
            });
        }
        if let Some(undo) = self.part(UNDO) {
            let draft = self.clone();
            browser::on::<Event>(&undo, "click", move |_| draft.undo());
        }
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
            intent.set_value(&browser::random_id());
        }
    }

    /// The id of the text's template; empty without one.
    pub fn template(&self) -> String {
        self.input("template_id").map(|input| input.value()).unwrap_or_default()
    }

    /// Removes the link to the template.
    pub fn forget_template(&self) {
        self.set_template("");
        self.store_edit();
    }

    fn set_template(&self, id: &str) {
        // Only a text that is saved on the server has a template.
        if let Some(input) = self.input("template_id").filter(|_| self.0.most > 0) {
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

    /// Restores the newest stored text, unless the user typed before hydration or the page's own text takes precedence.
    fn restore(&self, page_goes_first: bool) {
        let field = &self.0.field;
        let rendered = field.default_value().unwrap_or_default();
        if field.value() != rendered {
            return self.store_edit();
        }
        if let Some(kept) = self.newest().filter(|_| !page_goes_first || rendered.is_empty()) {
            field.set_value(&kept.text);
            if let Some(pages) = self.pages().filter(|pages| pages.value().is_empty()) {
                pages.set_value(&kept.pages);
            }
            self.set_template(&kept.template);
            self.0.kept.set(if kept.on_server { Kept::OnServer } else { Kept::Here });
            self.save();
        }
        self.changed();
    }

    /// This browser's copy, if it is newer than the server's; an older one is removed.
    fn newest(&self) -> Option<LocalCopy> {
        let copy = LocalCopy::read(&browser::stored(&self.key())?);
        if copy.is_newer_than(self.0.server.get().saved_at) {
            return Some(copy);
        }
        browser::store(&self.key(), "");
        None
    }

    /// Stores the edit in this browser at once, and on the server after a pause.
    pub fn store_edit(&self) {
        let (text, pages) = self.written();
        self.0.kept.set(if text.is_empty() { Kept::Nowhere } else { Kept::Here });
        let at = copy::after(browser::now(), self.0.server.get().saved_at);
        if text.is_empty() {
            self.set_template("");
        }
        self.store(&LocalCopy { at, on_server: false, template: self.template(), pages, text });
        self.changed();
        let (draft, edit) = (self.clone(), self.edit());
        browser::after(PAUSE, move || {
            if draft.0.edits.get() == edit {
                draft.save();
                draft.0.on_pause.borrow().iter().for_each(|action| action());
            }
        });
    }

    /// Sets the text as if it was typed. `template`: the id of its template, or empty.
    pub fn fill(&self, text: &str, template: &str) {
        let before = (self.text(), self.template());
        let is_lost = !before.0.is_empty() && before.0 != text;
        self.0.replaced.replace(is_lost.then_some(before));
        self.0.field.set_value(text);
        self.set_template(template);
        self.store_edit();
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

    /// Restores the discarded or replaced text. The current text can be restored in turn.
    fn undo(&self) {
        let before = self.0.replaced.take();
        if let Some((text, template)) = before {
            self.fill(&text, &template);
        }
    }

    /// Saves the text on the server if it is not there yet.
    fn save(&self) {
        let text = self.text();
        let is_unsaved = match text.chars().count() {
            0 => self.0.server.get().may_be_there,
            length => length <= self.0.most && self.0.kept.get() == Kept::Here,
        };
        if is_unsaved && browser::is_online() {
            self.upload(text);
        }
    }

    fn upload(&self, text: String) {
        let pages = self.written().1;
        let (edit, template) = (self.0.edits.get(), self.template());
        self.0.server.set(ServerCopy { may_be_there: !text.is_empty(), ..self.0.server.get() });
        let fields = browser::fields_of(&[
            ("project", &self.0.project),
            ("job", self.0.job.as_deref().unwrap_or_default()),
            ("paths", &pages),
            ("template_id", &template),
            ("intent", &self.input("intent").map(|intent| intent.value()).unwrap_or_default()),
            ("text", &text),
        ]);
        // An empty text deletes the draft.
        let fields = if text.is_empty() { fields + "&text=" } else { fields };
        let draft = self.clone();
        spawn_local(async move {
            let answer = browser::post::<DraftKept>(KeepDraft::PATH, &fields).await.answer;
            draft.0.is_unreached.set(answer.is_err());
            let Ok(kept) = answer else { return draft.changed() };
            let (Some(at), true) = (kept.saved_at, draft.0.edits.get() == edit) else { return };
            draft.0.server.set(ServerCopy { saved_at: Some(at), ..draft.0.server.get() });
            // Signing out removed the local copy; a late answer must not bring it back.
            if browser::stored(&draft.key()).is_some() {
                draft.store(&LocalCopy { at, on_server: true, template, pages, text });
            }
            draft.0.kept.set(Kept::OnServer);
            draft.changed();
        });
    }

    /// Clears the field and the stored copy after sending, and sets a new intent. The server deleted its draft.
    pub fn sent(&self) {
        self.renew_intent();
        self.0.field.set_value("");
        self.edit();
        self.set_template("");
        self.0.replaced.take();
        self.0.kept.set(Kept::Nowhere);
        self.0.server.set(ServerCopy::default());
        browser::store(&self.key(), "");
        self.changed();
    }

    /// Updates the character count, the saved note and the buttons.
    fn changed(&self) {
        let (length, most) = (self.text().chars().count(), self.0.most);
        let can_undo = self.0.replaced.borrow().is_some();
        if let Some(count) = self.part(COUNT) {
            let near = most > 0 && length * 100 >= most * NEAR_PERCENT;
            let text = match (near, can_undo, length) {
                (true, ..) => {
                    [&grouped(length as u64), " of ", &grouped(most as u64), " characters"].concat()
                }
                (false, true, 0) => "Draft discarded".to_owned(),
                (false, true, _) => "Your previous text is kept".to_owned(),
                (false, false, _) => String::new(),
            };
            browser::set_text(&count, &text);
            browser::set(&count, "data-over", (near && length > most).then_some("true"));
        }
        let kept = self.0.kept.get();
        if let Some(place) = self.part(KEPT) {
            let is_unreached = self.0.is_unreached.get() || !browser::is_online();
            let said = match kept {
                Kept::OnServer => SAVED,
                Kept::Here if is_unreached && browser::stored(&self.key()).is_some() => SAVED_HERE,
                _ => "",
            };
            browser::set_text(&place, said);
        }
        for (class, is_hidden) in [(DISCARD, kept == Kept::Nowhere), (UNDO, !can_undo)] {
            if let Some(button) = self.part(class) {
                browser::toggle(&button, "hidden", is_hidden);
            }
        }
        self.0.on_change.borrow().iter().for_each(|action| action());
    }

    fn edit(&self) -> u32 {
        let edit = self.0.edits.get().wrapping_add(1);
        self.0.edits.set(edit);
        edit
    }

    fn store(&self, copy: &LocalCopy) {
        let value = if copy.text.is_empty() { String::new() } else { copy.to_string() };
        browser::store(&self.key(), &value);
    }

    fn key(&self) -> String {
        let State { person, project, job, .. } = &*self.0;
        [PREFIX, person, "/", project, "/", job.as_deref().unwrap_or("new")].concat()
    }

    /// The field for pages.
    fn pages(&self) -> Option<HtmlInputElement> {
        self.input("paths")
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
