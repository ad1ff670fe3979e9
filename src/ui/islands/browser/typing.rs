//! Pauses in typing.

use leptos::prelude::*;

use super::after;

/// The edits of a field, or of several fields with one result. Clones share them.
#[derive(Clone, Default)]
pub struct Edits(ArcStoredValue<u32>);

/// One edit.
pub struct Edit {
    edits: Edits,
    number: u32,
}

impl Edits {
    /// Counts an edit, and calls `action` if no other follows within `millis`.
    pub fn after_pause(&self, millis: u32, action: impl FnOnce(Edit) + 'static) {
        let edit = self.next();
        after(millis, move || {
            if edit.is_latest() {
                action(edit);
            }
        });
    }

    /// Cancels the pending action.
    pub fn cancel(&self) {
        self.next();
    }

    fn next(&self) -> Edit {
        self.0.update_value(|edits| *edits = edits.wrapping_add(1));
        Edit { edits: self.clone(), number: self.0.get_value() }
    }
}

impl Edit {
    /// Whether no other edit followed, so that a response to it is still wanted.
    pub fn is_latest(&self) -> bool {
        self.edits.0.get_value() == self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_is_latest_until_another_follows() {
        let edits = Edits::default();
        let first = edits.next();
        assert!(first.is_latest());
        let second = edits.clone().next();
        assert!(!first.is_latest() && second.is_latest());
        edits.cancel();
        assert!(!second.is_latest());
    }
}
