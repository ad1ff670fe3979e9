//! Stores the draft of a form: in this browser at every edit, and on the server when typing pauses.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;

use super::copy::{CopyState, LocalCopy};
use super::{BASE, DRAFT, FORM, FormStart, PrefilledText, PromptForm, StoredIn, Version};
use crate::ui::islands::browser;
use api::jobs::SaveDraft;
use model::draft::SavedDraft;

/// Pause in typing before the text is saved on the server, in milliseconds.
const PAUSE: u32 = 1_000;

impl PromptForm {
    /// Restores this browser's copy, unless the user typed before hydration or the page's own text takes precedence; then
    /// *Undo* restores it. Nothing is restored under a click: `is_used` if the shown text is sent, replaced or discarded now.
    pub(super) fn restore(self, is_used: bool) {
        let Some(field) = self.text_field().filter(|_| !self.known.with_value(|known| known.is_restored))
        else {
            return;
        };
        self.known.update_value(|known| known.is_restored = true);
        let rendered = field.default_value().unwrap_or_default();
        let pages = self.pages_field();
        let is_typed = field.value() != rendered
            || pages.as_ref().is_some_and(|pages| pages.value() != pages.default_value());
        self.text.set(field.value());
        self.pages.set(pages.map(|pages| pages.value()).unwrap_or_default());
        self.restore_replaced();
        let is_own = self.take_own_mark();
        if let Some(copy) = self.newest() {
            let goes_first = self.start.with_value(|start| start.goes_first) && !rendered.is_empty();
            // A page that is loaded again shows what was written in it.
            let goes_first = goes_first && !(is_own == Some(copy.intent.clone()) && browser::came_again());
            if !is_typed && !is_used && !goes_first {
                // Another tab may still be writing under its intent.
                if is_own.as_ref() == Some(&copy.intent) {
                    self.known.update_value(|known| known.before.clone_from(&copy.intent));
                }
                self.use_copy(&copy);
            } else if copy.text != field.value() && !copy.text.is_empty() {
                self.set_replaced(Some(copy.into()));
            }
        }
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
        self.known.update_value(|known| {
            known.base = copy.base;
            known.origin.clone_from(&copy.origin);
        });
        self.stored_in.set(match copy.state {
            CopyState::Saved => StoredIn::OnServer,
            CopyState::Typed | CopyState::Posted => StoredIn::Here,
        });
        // The server may have processed it: the same intent starts nothing twice.
        if copy.state == CopyState::Posted {
            self.intent.set(copy.intent.clone());
        } else {
            self.save();
        }
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
    pub fn store_edit(self) {
        if let Some(copy) = self.other_tabs_copy() {
            self.show_other(copy.into(), None);
        }
        let (text, pages) = self.written();
        let is_empty = text.is_empty() && pages.is_empty();
        self.stored_in.set(if is_empty { StoredIn::Nowhere } else { StoredIn::Here });
        if text.is_empty() {
            self.template.set(String::new());
            self.begin_draft();
        }
        self.store(CopyState::Typed);
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
        self.restore(true);
        let PrefilledText { text, template } = self.start.with_value(|start| start.prefill.clone());
        self.fill(&text, &template);
        self.replaced.update(|replaced| {
            if let Some(replaced) = replaced {
                replaced.is_discarded = true;
            }
        });
        self.edit();
        self.stored_in.set(StoredIn::Nowhere);
        self.known.update_value(|known| known.is_discarded = true);
        self.begin_draft();
        self.remove_copy("");
        self.upload(String::new());
        if let Some(beside) = self.beside.get_value() {
            beside.discard();
        }
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
        // Such a text has no draft on the server.
        if self.start.with_value(|start| start.most == 0) {
            return;
        }
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
            (DRAFT, &known.origin),
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
            let version = Version {
                text: other.text,
                pages: other.paths,
                template: other.template,
                is_discarded: false,
            };
            self.show_other(version, Some(at));
            self.known.update_value(|known| known.may_be_on_server = true);
            if is_stored {
                self.store(CopyState::Typed);
                self.save();
            }
        } else if let Some(at) = saved.saved_at {
            self.known.update_value(|known| known.base = at.as_millis());
            if is_stored {
                self.store(CopyState::Saved);
            }
            self.stored_in.set(StoredIn::OnServer);
        }
    }

    /// Removes what was sent from the field and from this browser, and sets a new intent. The server deleted its draft. A text that was typed
    /// meanwhile stays, and one that was replaced by the sent text is the draft again. `leaves`: the field shows the sent text as long as the page is
    /// there.
    pub(super) fn forget_sent(self, sent: &str, leaves: bool) {
        self.renew_intent();
        self.known.update_value(|known| {
            known.base = 0;
            known.may_be_on_server = false;
        });
        self.other.set(None);
        if self.text.with_untracked(|text| text != sent && !text.is_empty()) {
            return self.store_edit();
        }
        let replaced = self.replaced.get_untracked();
        self.set_replaced(None);
        self.remove_copy(sent);
        let Version { text, template, .. } =
            replaced.filter(|kept| !kept.is_discarded && kept.text != sent).unwrap_or_default();
        self.text.set(text.clone());
        if !leaves {
            self.show_text();
        }
        if text.is_empty() {
            self.edit();
            self.template.set(String::new());
            self.stored_in.set(StoredIn::Nowhere);
        } else {
            self.template.set(template);
            self.store_edit();
        }
    }

    /// Removes this browser's copy, unless another tab wrote it with another text than `sent`.
    fn remove_copy(self, sent: &str) {
        let stored = browser::stored(&self.storage_key()).and_then(|stored| LocalCopy::read(&stored));
        let is_own = stored.is_none_or(|copy| copy.text == sent || self.is_own(&copy));
        if is_own {
            browser::store(&self.storage_key(), "");
        }
    }

    /// Whether this page wrote the copy.
    pub(super) fn is_own(self, copy: &LocalCopy) -> bool {
        let is_before = self.known.with_value(|known| copy.intent == known.before);
        is_before || self.intent.with_untracked(|intent| copy.intent == *intent)
    }

    /// Marks the copy as this tab's own, for the page that is loaded next in it. A copy of the tab has no mark, because this page is still open.
    pub(super) fn mark_as_own(self) {
        if browser::stored(&self.storage_key()).is_some() {
            browser::store_for_tab(&self.tab_key(), &self.intent.get_untracked());
        }
    }

    /// The intent under which this tab stored the copy before.
    pub(super) fn take_own_mark(self) -> Option<String> {
        let intent = browser::stored_for_tab(&self.tab_key());
        browser::store_for_tab(&self.tab_key(), "");
        intent
    }

    /// Sets a new intent: the next text is a new prompt.
    pub(super) fn renew_intent(self) {
        let before = self.intent.get_untracked();
        self.known.update_value(|known| known.before = before);
        self.intent.set(browser::random_id());
        self.begin_draft();
    }

    /// What is written from now on is another draft.
    fn begin_draft(self) {
        if self.is_new_job() {
            self.known.update_value(|known| known.origin = browser::random_id());
        }
    }

    fn edit(self) -> u32 {
        self.edits.update_value(|edits| *edits = edits.wrapping_add(1));
        self.edits.get_value()
    }

    /// Whether no other edit followed; `false` if the island was removed.
    fn is_latest(self, edit: u32) -> bool {
        self.edits.try_get_value() == Some(edit)
    }

    /// Stores the current text in this browser.
    pub(super) fn store(self, state: CopyState) {
        let (text, pages) = self.written();
        if text.is_empty() && pages.is_empty() {
            return self.remove_copy("");
        }
        let (template, intent) = (self.template.get_untracked(), self.intent.get_untracked());
        let (base, origin) = self.known.with_value(|known| (known.base, known.origin.clone()));
        let copy = LocalCopy { base, state, template, intent, origin, pages, text };
        browser::store(&self.storage_key(), &copy.to_string());
    }

    /// The key of this browser's copy.
    pub(super) fn storage_key(self) -> String {
        let FormStart { person, project, job, .. } = self.start.get_value();
        let form = self.known.with_value(|known| known.key.clone());
        let slash = if form.is_empty() { "" } else { "/" };
        [browser::DRAFTS, &person, "/", &project, "/", job.as_deref().unwrap_or("new"), slash, &form].concat()
    }

    /// The key of the intent under which this tab stored the copy.
    fn tab_key(self) -> String {
        self.storage_key() + "/tab"
    }
}
