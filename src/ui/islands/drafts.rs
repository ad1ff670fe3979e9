//! Text that is being written, kept until it was sent: in this browser with every letter, and on the server whenever the
//! typing pauses, so that it survives errors, reloads, an expired session and a change of device. The newest copy wins.

mod copy;

use leptos::ev;
use leptos::html::{Input, Textarea};
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;

use crate::api::jobs::KeepDraft;
use crate::model::job::{DraftKept, JobForm};
use crate::ui::islands::browser;
use copy::{LocalCopy, ServerCopy};

/// What the names of all drafts in the browser's storage begin with.
const PREFIX: &str = "docket.draft/";

/// How long nobody types before the server gets the text, in milliseconds.
const PAUSE: u32 = 1_000;

/// Forgets all drafts: whoever signs in next at this browser must not read them.
pub fn forget_all() {
    browser::forget_stored(PREFIX);
}

/// Where the newest text is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Nowhere,
    /// In this browser, and not yet on the server.
    Here,
    OnServer,
}

/// One text in the making, and where it is kept.
#[derive(Clone, Copy)]
pub struct Draft {
    /// The project, and the job to follow up.
    form: StoredValue<(String, Option<String>)>,
    server: StoredValue<ServerCopy>,
    field: NodeRef<Textarea>,
    pages: NodeRef<Input>,
    /// The id of the template that the text came from; empty is none.
    template: RwSignal<String>,
    /// Counts what was typed, for whoever waits for a pause.
    edits: StoredValue<u32>,
    length: RwSignal<usize>,
    kept: RwSignal<Kept>,
    pauses: RwSignal<u32>,
    /// The text that the present one took the place of, and its template.
    replaced: RwSignal<Option<(String, String)>>,
}

impl Draft {
    /// The draft of the text for `project`, or for the follow-up to one of its jobs.
    pub fn of(project: &str, job: Option<&str>) -> Self {
        Self {
            form: StoredValue::new((project.to_owned(), job.map(str::to_owned))),
            server: StoredValue::new(ServerCopy::default()),
            field: NodeRef::new(),
            pages: NodeRef::new(),
            template: RwSignal::new(String::new()),
            edits: StoredValue::new(0),
            length: RwSignal::new(0),
            kept: RwSignal::new(Kept::Nowhere),
            pauses: RwSignal::new(0),
            replaced: RwSignal::new(None),
        }
    }

    /// Tells what the server says of the form that is being rendered with `text`, and gives the text to render. The same
    /// form rendered again, because the page around it has changed, keeps what stands in it.
    pub fn rendering(self, form: &JobForm, text: String) -> String {
        let intent = form.intent.to_string();
        if self.server.with_value(|server| server.intent == intent)
            && let Some((written, _)) = self.written()
        {
            return written;
        }
        let saved_at = form.draft_saved_at;
        let (most, may_be_there) = (form.prompt_max as usize, saved_at.is_some());
        self.server.set_value(ServerCopy { intent, saved_at, most, may_be_there });
        self.length.set(text.chars().count());
        let is_kept = may_be_there && text == form.draft;
        self.kept.set(if is_kept { Kept::OnServer } else { Kept::Nowhere });
        text
    }

    /// The field it belongs to.
    pub fn field(self) -> NodeRef<Textarea> {
        self.field
    }

    /// The field for pages beside it.
    pub fn pages(self) -> NodeRef<Input> {
        self.pages
    }

    /// The id of the template that the text came from; empty is none.
    pub fn template(self) -> RwSignal<String> {
        self.template
    }

    /// How many characters there are.
    pub fn length(self) -> usize {
        self.length.get()
    }

    pub fn kept(self) -> Kept {
        self.kept.get()
    }

    /// Changes whenever the typing pauses, and once the page is interactive.
    pub fn track_pauses(self) {
        self.pauses.track();
    }

    /// The text and the pages as they stand in the form.
    pub fn written(self) -> Option<(String, String)> {
        let text = self.field.try_get_untracked()??.value();
        let pages = self.pages.try_get_untracked().flatten().map(|pages| pages.value());
        Some((text, pages.unwrap_or_default()))
    }

    /// Submits the form it belongs to, as a press of its button does.
    pub fn submit(self) {
        if let Some(form) = self.field.try_get_untracked().flatten().and_then(|field| field.form()) {
            // A form that is not complete says so itself.
            let _ = form.request_submit();
        }
    }

    /// Once the field is there, puts the newest kept text into it: unless somebody typed before the page was interactive, or
    /// the page came with a text of its own that goes first.
    pub fn restore(self, page_goes_first: bool) {
        Effect::new(move |_| {
            let Some(field) = self.field.get() else { return };
            let rendered = field.default_value().unwrap_or_default();
            let typed = field.value() != rendered;
            if typed {
                self.keep();
            } else if let Some(kept) = self.newest().filter(|_| !page_goes_first || rendered.is_empty()) {
                field.set_value(&kept.text);
                if let Some(pages) = self.pages.get_untracked().filter(|pages| pages.value().is_empty()) {
                    pages.set_value(&kept.pages);
                }
                self.template.set(kept.template);
                self.length.set(kept.text.chars().count());
                self.kept.set(if kept.on_server { Kept::OnServer } else { Kept::Here });
                self.save();
            }
            self.pauses.update(|pauses| *pauses += 1);
            let leaving = window_event_listener(ev::visibilitychange, move |_| {
                if browser::is_hidden() {
                    self.save();
                }
            });
            on_cleanup(move || leaving.remove());
        });
    }

    /// The copy of this browser, where it is newer than what the server rendered. An older one is forgotten.
    fn newest(self) -> Option<LocalCopy> {
        let copy = LocalCopy::read(&browser::stored(&self.key())?);
        if copy.is_newer_than(self.server.get_value().saved_at) {
            return Some(copy);
        }
        browser::store(&self.key(), "");
        None
    }

    /// Keeps what was typed, here at once and on the server soon.
    pub fn keep(self) {
        let Some((text, pages)) = self.written() else { return };
        self.length.set(text.chars().count());
        self.kept.set(if text.is_empty() { Kept::Nowhere } else { Kept::Here });
        let at = copy::after(browser::now(), self.server.get_value().saved_at);
        if text.is_empty() {
            self.template.set(String::new());
        }
        let template = self.template.get_untracked();
        self.store(LocalCopy { at, on_server: false, template, pages, text });
        let edit = self.edit();
        browser::after(PAUSE, move || {
            if self.edits.try_get_value() == Some(edit) {
                self.save();
                self.pauses.try_update(|pauses| *pauses += 1);
            }
        });
    }

    /// Puts `text` into the field, as if somebody had typed it. `template`: the id of the one it came from, or empty.
    pub fn fill(self, text: &str, template: String) {
        if let Some(field) = self.field.get_untracked() {
            let before = (field.value(), self.template.get_untracked());
            self.replaced.set(Some(before).filter(|(before, _)| !before.is_empty() && before != text));
            field.set_value(text);
            self.template.set(template);
            self.keep();
            let _ = field.focus();
        }
    }

    /// Gives the server what it does not have yet.
    pub fn save(self) {
        let Some((text, pages)) = self.written() else { return };
        let Some(server) = self.server.try_get_value() else { return };
        let is_news = match text.chars().count() {
            0 => server.may_be_there,
            length => length <= server.most && self.kept.try_get_untracked() == Some(Kept::Here),
        };
        if is_news {
            self.give(text, pages);
        }
    }

    fn give(self, text: String, pages: String) {
        let (Some((project, job)), Some(server)) = (self.form.try_get_value(), self.server.try_get_value())
        else {
            return;
        };
        let edit = self.edits.try_get_value();
        self.server.update_value(|server| server.may_be_there = !text.is_empty());
        let template = self.template.try_get_untracked().unwrap_or_default();
        let fields = browser::fields_of(&[
            ("project", &project),
            ("job", job.as_deref().unwrap_or_default()),
            ("text", &text),
            ("paths", &pages),
            ("template_id", &template),
            ("intent", &server.intent),
        ]);
        spawn_local(async move {
            let Ok(kept) = browser::post::<DraftKept>(KeepDraft::PATH, &fields).await.answer else { return };
            let (Some(at), true) = (kept.saved_at, self.edits.try_get_value() == edit) else { return };
            self.server.try_update_value(|server| server.saved_at = Some(at));
            // Signing out forgets the copy of this browser, whatever is on its way then.
            if browser::stored(&self.key()).is_some() {
                self.store(LocalCopy { at, on_server: true, template, pages, text });
            }
            self.kept.try_set(Kept::OnServer);
        });
    }

    /// Empties the field and forgets every copy but the one for [`Self::undo`].
    pub fn discard(self) {
        self.fill("", String::new());
        self.save();
    }

    /// Whether a text can be put back that was discarded or replaced.
    pub fn can_undo(self) -> bool {
        self.replaced.with(Option::is_some)
    }

    /// Puts it back. What was written since can be put back in turn.
    pub fn undo(self) {
        if let Some((text, template)) = self.replaced.get_untracked() {
            self.fill(&text, template);
        }
    }

    /// The text was sent: empties the field and forgets what was kept here, as the server did there.
    pub fn sent(self) {
        if let Some(field) = self.field.try_get_untracked().flatten() {
            field.set_value("");
        }
        self.edit();
        self.template.try_set(String::new());
        self.replaced.try_set(None);
        self.length.try_set(0);
        self.kept.try_set(Kept::Nowhere);
        self.server.try_update_value(|server| (server.saved_at, server.may_be_there) = (None, false));
        browser::store(&self.key(), "");
    }

    fn edit(self) -> u32 {
        let edit = self.edits.get_value().wrapping_add(1);
        self.edits.set_value(edit);
        edit
    }

    fn store(self, copy: LocalCopy) {
        let value = if copy.text.is_empty() { String::new() } else { copy.to_string() };
        browser::store(&self.key(), &value);
    }

    fn key(self) -> String {
        let (project, job) = self.form.get_value();
        format!("{PREFIX}{project}/{}", job.as_deref().unwrap_or("new"))
    }
}
