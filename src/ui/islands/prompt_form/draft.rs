//! Stores the draft of a form: in this browser at every edit, and on the server when typing pauses.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;

use super::copy::LocalCopy;
use super::{BASE, FORM, FormStart, PrefilledText, PromptForm, StoredIn, Version};
use crate::ui::islands::browser;
use api::jobs::SaveDraft;
use model::draft::SavedDraft;

/// Prefix of the drafts' keys in the browser's storage.
const PREFIX: &str = "docket.draft/";

/// Pause in typing before the text is saved on the server, in milliseconds.
const PAUSE: u32 = 1_000;

/// Removes all drafts, because the next user of this browser must not read them.
pub fn forget_all() {
    browser::forget_stored(PREFIX);
}

impl PromptForm {
    /// Restores this browser's copy, unless the user typed before hydration or the page's own text takes precedence; then
    /// *Undo* restores it.
    pub(super) fn restore(self) {
        let Some(field) = self.text_field() else { return };
        let rendered = field.default_value().unwrap_or_default();
        let is_typed = field.value() != rendered;
        self.text.set(field.value());
        self.pages.set(self.pages_field().map(|pages| pages.value()).unwrap_or_default());
        self.restore_replaced();
        if let Some(copy) = self.newest() {
            // Another tab may still be writing under its intent.
            if browser::stored_for_tab(&self.tab_key()).as_ref() == Some(&copy.intent) {
                self.known.update_value(|known| known.before.clone_from(&copy.intent));
            }
            let goes_first = self.start.with_value(|start| start.goes_first) && !rendered.is_empty();
            if !is_typed && !goes_first {
                self.use_copy(&copy);
            } else if !copy.on_server && copy.text != field.value() {
                let LocalCopy { text, template, .. } = copy;
                self.set_replaced(Some(Version { text, template, ..Version::default() }));
            }
        }
        self.known.update_value(|known| known.is_restored = true);
        if is_typed {
            self.store_edit();
        }
        self.go_to_end();
        self.pauses.update(|pauses| *pauses += 1);
    }

    fn use_copy(self, copy: &LocalCopy) {
        self.set_text(&copy.text);
        if self.pages_field().is_some_and(|pages| pages.value() == pages.default_value()) {
            self.set_pages(&copy.pages);
        }
        self.template.set(copy.template.clone());
        self.known.update_value(|known| known.base = copy.base);
        self.stored_in.set(if copy.on_server { StoredIn::OnServer } else { StoredIn::Here });
        self.save();
    }

    /// This browser's copy, if it is newer than the server's; an older one is removed.
    fn newest(self) -> Option<LocalCopy> {
        let stored = browser::stored(&self.storage_key())?;
        let saved_at = self.start.with_value(|start| start.saved_at);
        if let Some(copy) = LocalCopy::read(&stored).filter(|copy| copy.is_newer_than(saved_at)) {
            self.known.update_value(|known| known.found = stored);
            return Some(copy);
        }
        browser::store(&self.storage_key(), "");
        None
    }

    /// Moves the caret behind the text, if the page opened with the focus in the field.
    fn go_to_end(self) {
        let Some(field) = self.text_field().filter(|_| browser::focused().as_deref() == Some(self.field))
        else {
            return;
        };
        let end = self.text.with_untracked(|text| text.encode_utf16().count() as u32);
        let _ = field.set_selection_range(end, end);
    }

    /// Stores the edit in this browser at once, and on the server after a pause.
    pub(super) fn store_edit(self) {
        if let Some(LocalCopy { text, pages, template, .. }) = self.other_tabs_copy() {
            self.show_other(Version { text, pages, template }, None);
        }
        let is_empty = self.text.with_untracked(String::is_empty);
        self.stored_in.set(if is_empty { StoredIn::Nowhere } else { StoredIn::Here });
        if is_empty {
            self.template.set(String::new());
        }
        self.store(false);
        self.hide_warning();
        let edit = self.edit();
        browser::after(PAUSE, move || {
            if self.is_latest(edit) {
                self.save();
                self.pauses.update(|pauses| *pauses += 1);
            }
        });
    }

    /// Deletes the draft everywhere. The field returns to its content without a draft.
    pub(super) fn discard(self) {
        let PrefilledText { text, template } = self.start.with_value(|start| start.prefill.clone());
        self.fill(&text, &template);
        self.edit();
        self.stored_in.set(StoredIn::Nowhere);
        self.known.update_value(|known| known.is_discarded = true);
        browser::store(&self.storage_key(), "");
        self.upload(String::new());
    }

    /// Saves the text on the server if it is not there yet.
    pub(super) fn save(self) {
        let text = self.text.get_untracked();
        let most = self.start.with_value(|start| start.most as usize);
        let is_unsaved = match text.chars().count() {
            0 => self.known.with_value(|known| known.may_be_on_server),
            length => length <= most && self.stored_in.get_untracked() == StoredIn::Here,
        };
        if is_unsaved {
            self.upload(text);
        }
    }

    pub(super) fn upload(self, text: String) {
        let edit = self.edits.get_value();
        self.known.update_value(|known| known.may_be_on_server = !text.is_empty());
        let fields = self.draft_fields(&text);
        spawn_local(async move {
            let result = browser::post::<SavedDraft>(SaveDraft::PATH, &fields).await.result;
            if self.is_gone() {
                return;
            }
            self.is_unreached.set(result.is_err());
            if let (Ok(saved), true) = (result, self.is_latest(edit)) {
                self.uploaded(saved);
            }
        });
    }

    fn draft_fields(self, text: &str) -> String {
        let (start, known) = (self.start.get_value(), self.known.get_value());
        let (pages, template) = (self.pages.get_untracked(), self.template.get_untracked());
        let fields = browser::fields_of(&[
            ("project", &start.project),
            ("job", start.job.as_deref().unwrap_or_default()),
            (FORM, &known.key),
            (BASE, &known.base.to_string()),
            ("paths", &pages),
            ("template_id", &template),
            ("intent", &self.intent.get_untracked()),
            ("before", &known.before),
            ("text", text),
        ]);
        // An empty text deletes the draft.
        if text.is_empty() { fields + "&text=" } else { fields }
    }

    /// Handles the answer to the newest text.
    fn uploaded(self, saved: SavedDraft) {
        // Signing out removed the local copy; a late response must not restore it.
        let is_stored = browser::stored(&self.storage_key()).is_some();
        if let Some(other) = saved.changed {
            let at = other.saved_at.as_millis();
            let version = Version { text: other.text, pages: other.paths, template: other.template };
            self.show_other(version, Some(at));
            self.known.update_value(|known| known.may_be_on_server = true);
            if is_stored {
                self.store(false);
                self.save();
            }
        } else if let Some(at) = saved.saved_at {
            self.known.update_value(|known| known.base = at.as_millis());
            if is_stored {
                self.store(true);
            }
            self.stored_in.set(StoredIn::OnServer);
        }
    }

    /// Removes what was sent from the field and from this browser, and sets a new intent. The server deleted its draft. A text that was typed
    /// meanwhile stays.
    pub(super) fn forget_sent(self, sent: &str) {
        self.renew_intent();
        self.known.update_value(|known| {
            known.base = 0;
            known.may_be_on_server = false;
        });
        if self.text.with_untracked(|text| text != sent && !text.is_empty()) {
            return self.store_edit();
        }
        self.set_text("");
        self.edit();
        self.template.set(String::new());
        self.set_replaced(None);
        self.stored_in.set(StoredIn::Nowhere);
        browser::store(&self.storage_key(), "");
    }

    /// Sets a new intent: the next text is a new prompt.
    pub(super) fn renew_intent(self) {
        let before = self.intent.get_untracked();
        self.known.update_value(|known| known.before = before);
        self.intent.set(browser::random_id());
    }

    fn edit(self) -> u32 {
        self.edits.update_value(|edits| *edits = edits.wrapping_add(1));
        self.edits.get_value()
    }

    /// Whether no other edit followed; `false` if the island was removed.
    fn is_latest(self, edit: u32) -> bool {
        self.edits.try_get_value() == Some(edit)
    }

    /// Stores the current text in this browser. `on_server`: whether the server has it.
    fn store(self, on_server: bool) {
        let (text, pages) = self.written();
        if text.is_empty() {
            return browser::store(&self.storage_key(), "");
        }
        let (template, intent) = (self.template.get_untracked(), self.intent.get_untracked());
        let base = self.known.with_value(|known| known.base);
        browser::store_for_tab(&self.tab_key(), &intent);
        let copy = LocalCopy { base, on_server, template, intent, pages, text };
        browser::store(&self.storage_key(), &copy.to_string());
    }

    /// The key of this browser's copy.
    pub(super) fn storage_key(self) -> String {
        let FormStart { person, project, job, .. } = self.start.get_value();
        let form = self.known.with_value(|known| known.key.clone());
        let slash = if form.is_empty() { "" } else { "/" };
        [PREFIX, &person, "/", &project, "/", job.as_deref().unwrap_or("new"), slash, &form].concat()
    }

    /// The key of the intent under which this tab stored the copy.
    fn tab_key(self) -> String {
        self.storage_key() + "/tab"
    }
}
