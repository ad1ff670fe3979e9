//! Pressed keys. Islands read keys only by [`Key::of`].

use std::ops::Deref;

use leptos::web_sys::{EventTarget, KeyboardEvent};

use super::on;

/// What browsers report as the code of each key that an input method handles. Safari does so for the Enter that ends a composition, too.
const OF_INPUT_METHOD: u32 = 229;

/// A pressed key, and its event.
pub struct Key {
    /// As `KeyboardEvent.key`, except for a letter that is not Latin: then the Latin letter at the same place of the keyboard, so that shortcuts
    /// work on every layout.
    pub name: String,
    event: KeyboardEvent,
}

impl Deref for Key {
    type Target = KeyboardEvent;

    fn deref(&self) -> &KeyboardEvent {
        &self.event
    }
}

impl Key {
    /// The pressed key. While an input method composes a text, all keys belong to it.
    pub fn of(event: KeyboardEvent) -> Option<Self> {
        if event.is_composing() || event.key_code() == OF_INPUT_METHOD {
            return None;
        }
        let name = latin(event.key(), &event.code());
        Some(Self { name, event })
    }
}

/// Calls `action` for each key that is pressed in `target`, as [`Key::of`] returns it.
pub fn on_key(target: &EventTarget, action: impl Fn(&Key) + 'static) {
    on(target, "keydown", move |event: KeyboardEvent| {
        if let Some(key) = Key::of(event) {
            action(&key);
        }
    });
}

/// `code` is the place of the key, as `KeyK` for the letter K of an English keyboard.
fn latin(key: String, code: &str) -> String {
    match code.strip_prefix("Key") {
        Some(letter) if !key.is_ascii() && key.chars().count() == 1 => letter.to_ascii_lowercase(),
        _ => key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_other_scripts_are_named_by_their_place() {
        // Russian, Greek, Hebrew, Arabic, Korean, Turkish
        for (key, code, name) in [
            ("л", "KeyK", "k"),
            ("Л", "KeyK", "k"),
            ("κ", "KeyK", "k"),
            ("ל", "KeyK", "k"),
            ("ن", "KeyK", "k"),
            ("ㅏ", "KeyK", "k"),
            ("ı", "KeyI", "i"),
        ] {
            assert_eq!(latin(key.to_owned(), code), name, "{key}");
        }
    }

    #[test]
    fn latin_letters_and_other_keys_keep_their_names() {
        // AZERTY, Dvorak, German, French
        for (key, code) in [
            ("a", "KeyQ"),
            ("t", "KeyK"),
            ("ö", "Semicolon"),
            ("é", "Digit2"),
            ("?", "Slash"),
            ("Enter", "Enter"),
            ("ArrowUp", "ArrowUp"),
        ] {
            assert_eq!(latin(key.to_owned(), code), key);
        }
    }
}
