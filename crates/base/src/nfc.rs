//! Unicode normalization: one form for texts that look the same. People's texts are stored and searched in NFC, because
//! the indexes of SQLite and PostgreSQL treat other forms differently. Not for passwords or for names from the
//! platform.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// `text` in NFC.
pub fn nfc(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// `text` in NFD, the form in which some systems store names.
pub fn nfd(text: &str) -> String {
    text.nfd().collect()
}

/// A text of several lines in the form in which it is stored: in NFC, with line ends as `\n`.
pub fn stored_text(text: &str) -> String {
    nfc(&text.replace("\r\n", "\n")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decomposed_text_is_composed_and_other_text_unchanged() {
        for (text, normalized) in [
            ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"),
            ("\u{30ab}\u{3099}", "\u{30ac}"),
            ("\u{0438}\u{0306}", "\u{0439}"),
            ("\u{03b1}\u{0301}", "\u{03ac}"),
            ("e\u{0301}", "\u{00e9}"),
        ] {
            assert_eq!(nfc(text), normalized);
        }
        for text in ["", "plain", "\u{d55c}", "x\u{0301}", "ﬁ ①"] {
            assert!(matches!(nfc(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
