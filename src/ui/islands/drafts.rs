//! Text that is being written, kept until it was sent: in this browser with every letter, and on the server whenever the
//! typing pauses, so that it survives errors, reloads, an expired session and a change of device. The newest copy wins.
//!
//! The form is the server's (`pages::prompt_form`); what is said about the text in it is kept current here.

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

/// What the names of all drafts in the browser's storage begin with.
const PREFIX: &str = "docket.draft/";

/// How long nobody types before the server gets the text, in milliseconds.
const PAUSE: u32 = 1_000;

/// From which share of the longest prompt on the characters are counted, in percent.
const NEAR_PERCENT: usize = 90;

/// The class of what says how long the text is, of where it is kept, and of the buttons to discard it and to take that back.
pub const COUNT: &str = "prompt-count";
pub const KEPT: &str = "draft-kept";
pub const DISCARD: &str = "draft-discard";
pub const UNDO: &str = "draft-undo";

/// Forgets all drafts: whoever signs in next at this browser must not read them.
pub fn forget_all() {
    browser::forget_stored(PREFIX);
}

/// What is said where the text is on the server.
pub const SAVED: &str = "Draft saved";

/// Where the newest text is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Nowhere,
    /// In this browser, and not yet on the server.
    Here,
    OnServer,
}

/// What the server knows of the text that it renders a form with.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DraftStart {
    /// When the server got the draft that it has.
    pub saved_at: Option<Timestamp>,
    /// Whether the form begins with that draft.
    pub is_draft: bool,
    /// Whether the form begins with a text that goes before the one in this browser.
    pub goes_first: bool,
    /// The longest text that can be sent, in characters; 0 for a text that the server does not keep.
    pub most: u32,
}

/// One text in the making, and where it is kept.
#[derive(Clone)]
pub struct Draft(Rc<State>);

struct State {
    project: String,
    /// The job to follow up; nothing for a new one.
    job: Option<String>,
    form: HtmlFormElement,
    field: HtmlTextAreaElement,
    most: usize,
    server: Cell<ServerCopy>,
    /// Counts what was typed, for whoever waits for a pause.
    edits: Cell<u32>,
    kept: Cell<Kept>,
    /// The text that the present one took the place of, and its template.
    replaced: RefCell<Option<(String, String)>>,
    on_change: RefCell<Vec<Box<dyn Fn()>>>,
    on_pause: RefCell<Vec<Box<dyn Fn()>>>,
}

impl Draft {
    /// The draft of the text in the field with this id: for `project`, or for the follow-up to one of its jobs.
    pub fn of(project: &str, job: Option<&str>, field: &str, start: &DraftStart) -> Option<Self> {
        let field: HtmlTextAreaElement = browser::by_id(field)?.dyn_into().ok()?;
        let may_be_there = start.saved_at.is_some();
        let draft = Self(Rc::new(State {
            project: project.to_owned(),
            job: job.map(str::to_owned),
            form: field.form()?,
            field,
            most: start.most as usize,
            server: Cell::new(ServerCopy { saved_at: start.saved_at, may_be_there }),
            edits: Cell::new(0),
            kept: Cell::new(if start.is_draft { Kept::OnServer } else { Kept::Nowhere }),
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
        browser::on_window::<Event>("visibilitychange", move |_| {
            if browser::is_hidden() {
                draft.save();
            }
        });
    }

    /// The form that the text is in.
    pub fn form(&self) -> &HtmlFormElement {
        &self.0.form
    }

    /// Calls `action` at every change of the text or of its template.
    pub fn on_change(&self, action: impl Fn() + 'static) {
        action();
        self.0.on_change.borrow_mut().push(Box::new(action));
    }

    /// Calls `action` when the typing pauses, and now.
    pub fn on_pause(&self, action: impl Fn() + 'static) {
        action();
        self.0.on_pause.borrow_mut().push(Box::new(action));
    }

    /// The next text is another one.
    pub fn renew_intent(&self) {
        if let Some(intent) = self.input("intent") {
            intent.set_value(&browser::random_id());
        }
    }

    /// The id of the template that the text came from; empty is none.
    pub fn template(&self) -> String {
        self.input("template_id").map(|input| input.value()).unwrap_or_default()
    }

    /// The text did not come from a template.
    pub fn forget_template(&self) {
        self.set_template("");
        self.store_edit();
    }

    fn set_template(&self, id: &str) {
        // Of the texts of one form, only that which the server keeps comes and goes with its template.
        if let Some(input) = self.input("template_id").filter(|_| self.0.most > 0) {
            input.set_value(id);
            input.set_disabled(id.is_empty());
        }
    }

    pub fn text(&self) -> String {
        self.0.field.value()
    }

    /// The text and the pages as they stand in the form.
    pub fn written(&self) -> (String, String) {
        (self.text(), self.pages().map(|pages| pages.value()).unwrap_or_default())
    }

    /// Submits the form, as a press of its button does.
    pub fn submit(&self) {
        // A form that is not complete says so itself.
        let _ = self.0.form.request_submit();
    }

    /// Puts the newest kept text into the field: unless somebody typed before the page was interactive, or the page came with a text of
    /// its own that goes first.
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

    /// The copy of this browser, where it is newer than what the server rendered. An older one is forgotten.
    fn newest(&self) -> Option<LocalCopy> {
        let copy = LocalCopy::read(&browser::stored(&self.key())?);
        if copy.is_newer_than(self.0.server.get().saved_at) {
            return Some(copy);
        }
        browser::store(&self.key(), "");
        None
    }

    /// Keeps what was typed, here at once and on the server soon.
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

    /// Puts `text` into the field, as if somebody had typed it. `template`: the id of the one it came from, or empty.
    pub fn fill(&self, text: &str, template: &str) {
        let before = (self.text(), self.template());
        let is_lost = !before.0.is_empty() && before.0 != text;
        self.0.replaced.replace(is_lost.then_some(before));
        self.0.field.set_value(text);
        self.set_template(template);
        self.store_edit();
        let _ = self.0.field.focus();
    }

    /// Puts back what was discarded or replaced. What was written since can be put back in turn.
    fn undo(&self) {
        let before = self.0.replaced.take();
        if let Some((text, template)) = before {
            self.fill(&text, &template);
        }
    }

    /// Gives the server what it does not have yet.
    fn save(&self) {
        let text = self.text();
        let is_unsaved = match text.chars().count() {
            0 => self.0.server.get().may_be_there,
            length => length <= self.0.most && self.0.kept.get() == Kept::Here,
        };
        if is_unsaved {
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
        // An empty text ends the draft.
        let fields = if text.is_empty() { fields + "&text=" } else { fields };
        let draft = self.clone();
        spawn_local(async move {
            let Ok(kept) = browser::post::<DraftKept>(KeepDraft::PATH, &fields).await.answer else { return };
            let (Some(at), true) = (kept.saved_at, draft.0.edits.get() == edit) else { return };
            draft.0.server.set(ServerCopy { saved_at: Some(at), ..draft.0.server.get() });
            // Signing out forgets the copy of this browser, whatever is on its way then.
            if browser::stored(&draft.key()).is_some() {
                draft.store(&LocalCopy { at, on_server: true, template, pages, text });
            }
            draft.0.kept.set(Kept::OnServer);
            draft.changed();
        });
    }

    /// The text was sent: empties the field and forgets what was kept here, as the server did there. What is typed next is another
    /// text.
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

    /// Says how long the text is, near the limit, and where it is kept.
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
            browser::set_text(&place, if kept == Kept::OnServer { SAVED } else { "" });
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
        [PREFIX, &self.0.project, "/", self.0.job.as_deref().unwrap_or("new")].concat()
    }

    /// The field for pages beside the text.
    fn pages(&self) -> Option<HtmlInputElement> {
        self.input("paths")
    }

    fn input(&self, name: &str) -> Option<HtmlInputElement> {
        browser::find_in(&self.0.form, &["input[name=", name, "]"].concat())?.dyn_into().ok()
    }

    fn part(&self, class: &str) -> Option<Element> {
        browser::find_in(&self.0.form, &[".", class].concat())
    }

    /// The buttons of the form that send the text.
    pub(super) fn buttons(&self) -> Vec<HtmlButtonElement> {
        let found = browser::all_in(&self.0.form, "button[data-send]");
        found.into_iter().filter_map(|button| button.dyn_into().ok()).collect()
    }
}
