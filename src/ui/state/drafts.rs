//! Text that is being written, kept in this browser until it was sent: it survives errors, reloads and an expired session.

use leptos::html::Textarea;
use leptos::prelude::*;

use crate::ui::erase::effect;
use crate::ui::state::browser;

/// What the names of all drafts in the browser's storage begin with.
const PREFIX: &str = "docket.draft/";

/// Forgets all drafts: whoever signs in next at this browser must not read them.
pub fn forget_all() {
    browser::forget_stored(PREFIX);
}

/// Where one text is kept.
#[derive(Clone, Copy)]
pub struct Draft {
    key: StoredValue<String>,
    field: NodeRef<Textarea>,
}

impl Draft {
    /// The draft of the text for `project`, or for the follow-up to one of its jobs.
    pub fn of(project: &str, job: Option<&str>) -> Self {
        let key = format!("{PREFIX}{project}/{}", job.unwrap_or("new"));
        Self { key: StoredValue::new(key), field: NodeRef::new() }
    }

    /// The field it belongs to.
    pub fn field(self) -> NodeRef<Textarea> {
        self.field
    }

    /// Once the field is there, puts the kept text into it: unless somebody typed before the page was interactive, or the
    /// page came with a text of its own that goes first.
    pub fn restore(self, page_goes_first: bool) {
        effect(move || {
            let Some(field) = self.field.get() else { return };
            let rendered = field.default_value().unwrap_or_default();
            let taken = field.value() != rendered || (page_goes_first && !rendered.is_empty());
            if let Some(kept) = browser::stored(&self.key.get_value()).filter(|_| !taken) {
                field.set_value(&kept);
            }
        });
    }

    pub fn keep(self) {
        if let Some(field) = self.field.get_untracked() {
            browser::store(&self.key.get_value(), &field.value());
        }
    }

    /// Puts `text` into the field in place of what stands there, to be edited.
    pub fn fill(self, text: &str) {
        if let Some(field) = self.field.get_untracked() {
            field.set_value(text);
            let _ = field.focus();
            self.keep();
        }
    }

    /// The text was sent: empties the field and forgets what was kept.
    pub fn sent(self) {
        if let Some(field) = self.field.try_get_untracked().flatten() {
            field.set_value("");
        }
        browser::store(&self.key.get_value(), "");
    }
}
