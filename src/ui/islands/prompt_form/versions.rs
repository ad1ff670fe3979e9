//! Texts that must not be lost: the replaced one, for *Undo*, and the one that another tab saved in the same draft.

use leptos::prelude::*;

use super::copy::LocalCopy;
use super::{PromptForm, Version};
use crate::ui::islands::browser;

impl From<LocalCopy> for Version {
    fn from(LocalCopy { text, pages, template, .. }: LocalCopy) -> Self {
        Self { text, pages, template, is_discarded: false }
    }
}

impl PromptForm {
    /// This browser's copy, if another tab wrote it since the page was opened. The caller is about to replace it.
    pub(super) fn other_tabs_copy(self) -> Option<LocalCopy> {
        let found = self.known.with_value(|known| known.found.clone());
        let stored = browser::stored(&self.storage_key()).filter(|stored| *stored != found)?;
        let copy = LocalCopy::read(&stored).filter(|copy| !self.is_own(copy))?;
        self.text.with_untracked(|text| copy.text != *text).then_some(copy)
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
        browser::replace_url(&with_draft(&browser::here(), &key));
        self.known.update_value(|known| {
            known.origin.clone_from(&key);
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
        if let Some(version) = other {
            self.use_version(&version);
        }
    }

    /// Restores the discarded or replaced text. *Undo* can then restore the current text.
    pub(super) fn undo(self) {
        self.restore(true);
        if let Some(version) = self.replaced.get_untracked() {
            self.set_replaced(None);
            self.use_version(&version);
        }
        if let Some(beside) = self.beside.get_value() {
            beside.undo();
        }
    }

    /// Whether *Undo* restores a text, of this form or of the one beside it.
    pub(super) fn can_undo(self) -> bool {
        self.replaced.read().is_some() || self.beside.get_value().is_some_and(Self::can_undo)
    }

    fn use_version(self, Version { text, pages, template, .. }: &Version) {
        let before = self.pages.get_untracked();
        self.fill(text, template);
        if self.is_new_job() {
            self.replaced.update(|replaced| {
                if let Some(replaced) = replaced {
                    replaced.pages = before;
                }
            });
            self.set_pages(pages);
            self.store_edit();
        }
    }

    /// Sets the text that *Undo* restores. It survives a reload of this tab.
    pub(super) fn set_replaced(self, replaced: Option<Version>) {
        let stored = replaced
            .as_ref()
            .map(|version| [&version.template, "\n", &version.pages, "\n", &version.text].concat());
        browser::store_for_tab(&self.undo_key(), &stored.unwrap_or_default());
        self.replaced.set(replaced);
    }

    pub(super) fn restore_replaced(self) {
        let stored = browser::stored_for_tab(&self.undo_key()).unwrap_or_default();
        let mut parts = stored.splitn(3, '\n').map(str::to_owned);
        if let (Some(template), Some(pages), Some(text)) = (parts.next(), parts.next(), parts.next()) {
            self.replaced.set(Some(Version { text, pages, template, is_discarded: false }));
        }
    }

    fn undo_key(self) -> String {
        self.storage_key() + "/undo"
    }
}

/// The URL `here` of the form, for the draft with this key.
fn with_draft(here: &str, key: &str) -> String {
    let (path, query) = here.split_once('?').unwrap_or((here, ""));
    let others = query.split('&').filter(|field| !field.is_empty() && !field.starts_with("draft="));
    let draft = ["draft=", key].concat();
    let fields: Vec<_> = others.chain([draft.as_str()]).collect();
    [path, "?", &fields.join("&")].concat()
}

#[cfg(test)]
mod tests {
    use super::with_draft;

    #[test]
    fn another_draft_keeps_the_other_fields_of_the_url() {
        assert_eq!(with_draft("/p/docs/jobs/new", "k"), "/p/docs/jobs/new?draft=k");
        assert_eq!(with_draft("/new?from=1&draft=a&path=%2Fb", "k"), "/new?from=1&path=%2Fb&draft=k");
    }
}
