//! Texts that must not be lost: the replaced one, for *Undo*, and the one that another tab saved in the same draft.

use super::copy::LocalCopy;
use super::{Draft, FORM};
use crate::ui::islands::browser;

/// The classes of the notice with the other tab's version, of its text and pages in it, and of its button.
pub const OTHER: &str = "draft-other";
pub const OTHER_TEXT: &str = "draft-other-text";
pub const OTHER_PAGES: &str = "draft-other-pages";
pub const USE_OTHER: &str = "draft-use-other";

impl Draft {
    /// This browser's copy, if another tab wrote it since the page was opened. The caller is about to replace it.
    pub(super) fn other_tabs_copy(&self) -> Option<LocalCopy> {
        let stored = browser::stored(&self.key()).filter(|stored| *stored != *self.0.found.borrow())?;
        let copy = LocalCopy::read(&stored)?;
        let is_own = copy.intent == self.value_of("intent") || copy.intent == *self.0.before.borrow();
        (!is_own && copy.text != self.text()).then_some(copy)
    }

    /// Shows another version of this draft, which the server saved at `saved_at`. The text of a new job becomes a separate
    /// draft, so that both remain. The text of a follow-up replaces the other version, which *Undo* restores.
    pub(super) fn show_other(&self, text: &str, pages: &str, template: &str, saved_at: Option<i64>) {
        if let Some(form) = self.input(FORM) {
            if self.other_tabs_copy().is_none() {
                browser::store(&self.key(), "");
            }
            form.set_value(&browser::random_id());
            self.set_base(0);
            let here = browser::here();
            let path = here.split('?').next().unwrap_or_default();
            browser::replace_url(&[path, "?draft=", &form.value()].concat());
            self.set_replaced(self.0.replaced.take());
        } else {
            if let Some(at) = saved_at {
                self.set_base(at);
            }
            self.set_replaced(Some((text.to_owned(), template.to_owned())));
        }
        if let Some(notice) = self.part(OTHER) {
            for (class, text) in [(OTHER_TEXT, text), (OTHER_PAGES, pages)] {
                if let Some(shown) = browser::find_in(&notice, &[".", class].concat()) {
                    browser::set_text(&shown, text);
                }
            }
            browser::set(&notice, "data-template", Some(template));
            browser::toggle(&notice, "hidden", false);
        }
    }

    /// Replaces the text with the version in the notice.
    pub(super) fn use_other(&self) {
        let Some(notice) = self.part(OTHER) else { return };
        let text = self.part(OTHER_TEXT).and_then(|shown| shown.text_content()).unwrap_or_default();
        browser::toggle(&notice, "hidden", true);
        self.fill(&text, &notice.get_attribute("data-template").unwrap_or_default());
    }

    /// Restores the discarded or replaced text. *Undo* can then restore the current text.
    pub(super) fn undo(&self) {
        let before = self.0.replaced.borrow().clone();
        if let Some((text, template)) = before {
            self.set_replaced(None);
            self.fill(&text, &template);
        }
    }

    /// Sets the text that *Undo* restores. It survives a reload of this tab.
    pub(super) fn set_replaced(&self, replaced: Option<(String, String)>) {
        let stored = replaced.as_ref().map(|(text, template)| [template, "\n", text].concat());
        browser::store_for_tab(&self.undo_key(), &stored.unwrap_or_default());
        self.0.replaced.replace(replaced);
    }

    pub(super) fn restore_replaced(&self) {
        let stored = browser::stored_for_tab(&self.undo_key()).unwrap_or_default();
        let replaced = stored.split_once('\n').map(|(template, text)| (text.to_owned(), template.to_owned()));
        self.0.replaced.replace(replaced);
    }

    fn undo_key(&self) -> String {
        self.key() + "/undo"
    }
}
