//! Texts that must not be lost: the replaced one, for *Undo*, and the one that another tab saved in the same draft.

use leptos::prelude::*;

use super::copy::LocalCopy;
use super::{PromptForm, Version};
use crate::ui::islands::browser;

impl PromptForm {
    /// This browser's copy, if another tab wrote it since the page was opened. The caller is about to replace it.
    pub(super) fn other_tabs_copy(self) -> Option<LocalCopy> {
        let (found, before) = self.known.with_value(|known| (known.found.clone(), known.before.clone()));
        let stored = browser::stored(&self.storage_key()).filter(|stored| *stored != found)?;
        let copy = LocalCopy::read(&stored)?;
        let is_own = copy.intent == self.intent.get_untracked() || copy.intent == before;
        (!is_own && self.text.with_untracked(|text| copy.text != *text)).then_some(copy)
    }

    /// Shows another version of this draft, which the server saved at `saved_at`. The text of a new job becomes a separate
    /// draft, so that both remain. The text of a follow-up replaces the other version, which *Undo* restores.
    pub(super) fn show_other(self, version: Version, saved_at: Option<i64>) {
        if self.is_new_job() {
            self.become_another_draft();
        } else {
            if let Some(at) = saved_at {
                self.known.update_value(|known| known.base = at);
            }
            self.set_replaced(Some(version.clone()));
        }
        self.other.set(Some(version));
    }

    fn become_another_draft(self) {
        if self.other_tabs_copy().is_none() {
            browser::store(&self.storage_key(), "");
        }
        let key = browser::random_id();
        let here = browser::here();
        let path = here.split('?').next().unwrap_or_default();
        browser::replace_url(&[path, "?draft=", &key].concat());
        self.known.update_value(|known| {
            known.key = key;
            known.base = 0;
        });
        // Under the new key, too.
        self.set_replaced(self.replaced.get_untracked());
    }

    /// Replaces the text with the version in the notice.
    pub(super) fn use_other(self) {
        let other = self.other.get_untracked();
        self.other.set(None);
        if let Some(Version { text, template, .. }) = other {
            self.fill(&text, &template);
        }
    }

    /// Restores the discarded or replaced text. *Undo* can then restore the current text.
    pub(super) fn undo(self) {
        if let Some(Version { text, template, .. }) = self.replaced.get_untracked() {
            self.set_replaced(None);
            self.fill(&text, &template);
        }
    }

    /// Sets the text that *Undo* restores. It survives a reload of this tab.
    pub(super) fn set_replaced(self, replaced: Option<Version>) {
        let stored = replaced.as_ref().map(|version| [&version.template, "\n", &version.text].concat());
        browser::store_for_tab(&self.undo_key(), &stored.unwrap_or_default());
        self.replaced.set(replaced);
    }

    pub(super) fn restore_replaced(self) {
        let stored = browser::stored_for_tab(&self.undo_key()).unwrap_or_default();
        let replaced = stored.split_once('\n').map(|(template, text)| Version {
            text: text.to_owned(),
            template: template.to_owned(),
            ..Version::default()
        });
        self.replaced.set(replaced);
    }

    fn undo_key(self) -> String {
        self.storage_key() + "/undo"
    }
}
