//! Text that a spreadsheet would evaluate as a formula. In other locales, spreadsheets split a line at other characters
//! than the comma and ignore the quotes of its cells. So a formula may also begin in the middle of a text.

use std::borrow::Cow;

/// Makes a spreadsheet show a cell as text.
const ESCAPE: char = '\'';

/// `text` with an apostrophe before each part that a spreadsheet could evaluate, and before a leading tab or line
/// break.
pub fn escaped(text: &str) -> Cow<'_, str> {
    let is_escaped =
        |(at, part): &(usize, &str)| is_formula(part) || (*at == 0 && part.starts_with(['\t', '\n', '\r']));
    let parts: Vec<(usize, &str)> = text.split_inclusive(separates).enumerate().collect();
    if !parts.iter().any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let escape = |part| is_escaped(part).then_some(ESCAPE);
    Cow::Owned(parts.iter().flat_map(|part| escape(part).into_iter().chain(part.1.chars())).collect())
}

/// Whether a spreadsheet may begin another cell or line after this character. Not after a comma: spreadsheets that
/// split at commas respect the quotes.
fn separates(letter: char) -> bool {
    matches!(
        letter,
        ';' | '\u{FF1B}' | '|' | '\t' | '\n' | '\u{B}' | '\u{C}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Whether a part begins like a formula, after characters that a spreadsheet may drop.
fn is_formula(part: &str) -> bool {
    part.chars().find(|letter| !is_dropped(*letter)).is_some_and(begins_formula)
}

/// Includes the full-width, small and other forms of these characters.
fn begins_formula(letter: char) -> bool {
    matches!(
        letter,
        '=' | '+' | '-' | '@' | '\u{207A}'..='\u{207C}' | '\u{208A}'..='\u{208C}' | '\u{2212}' | '\u{2A75}' | '\u{2A76}'
            | '\u{FB29}' | '\u{FE62}' | '\u{FE63}' | '\u{FE66}' | '\u{FE6B}' | '\u{FF0B}' | '\u{FF0D}' | '\u{FF1D}' | '\u{FF20}'
    )
}

/// Whether the character has no width, or is a quote that a spreadsheet may remove.
fn is_dropped(letter: char) -> bool {
    letter.is_whitespace()
        || letter.is_control()
        || letter == '"'
        || matches!(
            letter,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
                | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
                | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    use super::*;

    const BEGINNINGS: [char; 10] =
        ['=', '+', '-', '@', '\u{FF1D}', '\u{FF0B}', '\u{FF0D}', '\u{FF20}', '\u{FE62}', '\u{2212}'];

    /// Texts of special characters of spreadsheets, and of any characters.
    fn text() -> impl Strategy<Value = String> {
        let special = prop::sample::select(
            "=+-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20};\u{FF1B},|\t\r\n \u{A0}\u{3000}\u{FEFF}\u{200B}\u{202E}\"'a1/"
                .chars()
                .collect::<Vec<_>>(),
        );
        let letter = prop_oneof![4 => special, 1 => any::<char>()];
        prop::collection::vec(letter, 0..12).prop_map(String::from_iter)
    }

    /// The first character of a cell that a spreadsheet interprets.
    fn first(cell: &str) -> Option<char> {
        cell.trim_matches(|letter: char| {
            letter.is_whitespace() || "\"\u{FEFF}\u{200B}\u{202E}".contains(letter)
        })
        .chars()
        .next()
    }

    proptest! {
        #[test]
        fn text_contains_no_formula_in_any_locale(text in text()) {
            let cell = escaped(&text);
            prop_assert!(!cell.starts_with(['\t', '\r', '\n']));
            for separator in [';', '\u{FF1B}', '|', '\t', '\n', '\r'] {
                // The quotes around and inside the cell are treated as ordinary characters.
                for part in format!("\"{}\"", cell.replace('"', "\"\"")).split(separator) {
                    prop_assert!(!first(part).is_some_and(|first| BEGINNINGS.contains(&first)), "{part:?} of {cell:?}");
                }
            }
        }

        #[test]
        fn only_apostrophes_are_added(text in text()) {
            let without = |text: &str| text.replace(ESCAPE, "");
            prop_assert_eq!(without(&escaped(&text)), without(&text));
        }
    }

    #[test]
    fn each_form_of_an_operator_begins_a_formula() {
        for letter in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let is_operator = matches!(letter.nfkc().next(), Some('=' | '+' | '-' | '@' | '\u{2212}'));
            assert_eq!(begins_formula(letter), is_operator, "{letter:?}");
        }
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        for text in ["", "/a-b", "/a=b;c", "a - b", "/x,-y", "/a\r\nb", "ada@example.com", "1+1"] {
            assert!(matches!(escaped(text), Cow::Borrowed(same) if same == text), "{text}");
        }
        for (text, cell) in [
            ("=1", "'=1"),
            (" \u{FEFF}=1", "' \u{FEFF}=1"),
            ("\tx", "'\tx"),
            ("x;\"=1\"", "x;'\"=1\""),
            ("x; \u{FF1D}1;y", "x;' \u{FF1D}1;y"),
        ] {
            assert_eq!(escaped(text), cell);
        }
    }
}
