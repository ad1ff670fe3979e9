//! The notes about a text: its length near the limit, where its draft is saved, and which buttons are shown.

use super::{Draft, StoredIn};
use crate::ui::charts::number::grouped;
use crate::ui::islands::browser;

/// The character count is shown from this share of the limit on, in percent.
const NEAR_PERCENT: usize = 90;

/// The classes of the character count, of the note that the draft is saved, and of the buttons to discard and undo.
pub const COUNT: &str = "prompt-count";
pub const SAVED_NOTE: &str = "draft-saved";
pub const DISCARD: &str = "draft-discard";
pub const UNDO: &str = "draft-undo";

/// The note that the draft is saved on the server.
pub const SAVED: &str = "Draft saved";

/// The note that only this browser has it, because the server cannot be reached.
const SAVED_HERE: &str = "Draft saved in this browser";

impl Draft {
    /// Updates the character count, the saved note and the buttons, and calls the change listeners.
    pub(super) fn changed(&self) {
        let (length, most) = (self.text().chars().count(), self.0.start.most as usize);
        let (stored_in, can_undo) = (self.0.stored_in.get(), self.0.replaced.borrow().is_some());
        if let Some(count) = self.part(COUNT) {
            let near = most > 0 && length * 100 >= most * NEAR_PERCENT;
            let text = match (near, can_undo, stored_in) {
                (true, ..) => {
                    [&grouped(length as u64), " of ", &grouped(most as u64), " characters"].concat()
                }
                (false, true, StoredIn::Nowhere) => "Draft discarded".to_owned(),
                (false, true, _) => "Your previous text is saved".to_owned(),
                (false, false, _) => String::new(),
            };
            browser::set_text(&count, &text);
            browser::set(&count, "data-over", (near && length > most).then_some("true"));
        }
        if let Some(note) = self.part(SAVED_NOTE) {
            let is_unreached = self.0.is_unreached.get() || !browser::is_online();
            let text = match stored_in {
                StoredIn::OnServer => SAVED,
                StoredIn::Here if is_unreached && browser::stored(&self.key()).is_some() => SAVED_HERE,
                _ => "",
            };
            browser::set_text(&note, text);
        }
        for (class, is_hidden) in [(DISCARD, stored_in == StoredIn::Nowhere), (UNDO, !can_undo)] {
            if let Some(button) = self.part(class) {
                browser::toggle(&button, "hidden", is_hidden);
            }
        }
        self.0.on_change.borrow().iter().for_each(|action| action());
    }
}
