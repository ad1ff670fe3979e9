//! Which characters a name may contain. Pure.

/// Whether `name` has no control, invisible or direction-changing characters.
pub fn is_plain(name: &str) -> bool {
    name.chars().all(is_plain_letter)
}

/// Whether it is no control, invisible or direction-changing character.
pub fn is_plain_letter(letter: char) -> bool {
    !letter.is_control() && !is_unseen(letter)
}

/// Direction marks and overrides, line and paragraph separators, and zero-width spaces. Joiners are allowed, because some
/// scripts need them.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{61C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_may_have_any_script_but_no_invisible_characters() {
        for name in
            ["Acme docs", "<b>", "שלום", "Überblick 概要", "می\u{200C}خواهم", "\u{1F469}\u{200D}\u{1F4BB}"]
        {
            assert!(is_plain(name), "{name:?}");
        }
        for name in ["\u{202E}ada", "ada\u{200B}", "a\u{2066}b", "a\nb", "a\0b", "a\u{2028}b", "\u{FEFF}a"] {
            assert!(!is_plain(name), "{name:?}");
        }
    }
}
