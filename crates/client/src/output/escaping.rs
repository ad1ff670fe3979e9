//! Escapes text for terminals and for the logs of CI systems. Control characters, and those that change the direction of text, are shown as
//! `\u{1b}`. A backslash stands in what a CI system would obey: a line that begins with `::`, and `##[` or `##vso[` anywhere.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` for people, perhaps of several lines.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| is_unsafe(letter) && letter != '\n' && letter != '\t')
}

/// `text` in one line.
pub fn in_one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe)
}

/// JSON with the same meaning, which can be printed.
pub(super) fn json_text(json: &str) -> Cow<'_, str> {
    let is_escaped = |letter: char| is_unsafe(letter) && !letter.is_ascii_whitespace();
    if !json.contains(is_escaped) && !contains_command(json) {
        return Cow::Borrowed(json);
    }
    // These are possible inside of texts only, where each character may be an escape.
    let mut out = String::with_capacity(json.len());
    for (at, letter) in json.char_indices() {
        if is_escaped(letter) || begins_command(&json[at..]) {
            // Writing to a string never fails.
            _ = write!(out, "\\u{:04x}", u32::from(letter));
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    let text: Cow<'_, str> =
        if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() };
    let is_command_line = text.split('\n').any(|line| command_of_line(line).is_some());
    if !text.contains(&is_escaped) && !is_command_line && !contains_command(&text) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let command = command_of_line(line);
        for (at, letter) in line.char_indices() {
            if command == Some(at) {
                out.push('\\');
            }
            if is_escaped(letter) {
                _ = write!(out, "{}", letter.escape_unicode());
            } else {
                out.push(letter);
            }
            if begins_command(&line[at..]) {
                out.push('\\');
            }
        }
    }
    Cow::Owned(out)
}

/// Whether the character could control a terminal, end a line, or change the direction of other text.
fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{206F}' | '\u{FFF9}'..='\u{FFFB}')
}

/// Where the `::` is that begins a workflow command of GitHub, which ignores space before it.
fn command_of_line(line: &str) -> Option<usize> {
    let begin = line.trim_start_matches(is_invisible);
    begin.starts_with("::").then(|| line.len() - begin.len())
}

fn is_invisible(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(letter, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
}

fn contains_command(text: &str) -> bool {
    // Matches of `##` overlap.
    text.match_indices('#').any(|(at, _)| begins_command(&text[at..]))
}

/// Whether the text begins like a command of GitHub Actions, Azure Pipelines or TeamCity: `##`, perhaps a word, and `[`. They find it anywhere in a
/// line.
fn begins_command(text: &str) -> bool {
    text.strip_prefix("##")
        .is_some_and(|rest| rest.trim_start_matches(|letter: char| letter.is_alphanumeric()).starts_with('['))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    /// Text with many of the characters that matter.
    fn hostile() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just("\u{1b}]8;;https://evil.example\u{7}".to_owned()),
            Just("::error::".to_owned()),
            Just("::set-output name=a::".to_owned()),
            Just("##[error]".to_owned()),
            Just("##vso[task.setvariable]".to_owned()),
            Just("#".to_owned()),
            Just(":".to_owned()),
            Just("\r\n".to_owned()),
            Just("\n".to_owned()),
            "[\u{0}-\u{9f}]{0,3}",
            "[\u{200b}-\u{2069}\u{feff}\u{3000}]{0,3}",
            "\\PC{0,5}",
        ];
        prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
    }

    fn obeys(line: &str) -> bool {
        let lower = line.to_lowercase();
        line.trim_start().starts_with("::") || lower.contains("##[") || lower.contains("##vso[")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn printed_text_controls_nothing(text in hostile()) {
            let shown = printable(&text);
            prop_assert!(!shown.contains(|letter: char| is_unsafe(letter) && letter != '\n' && letter != '\t'), "{:?}", shown);
            prop_assert!(!shown.split('\n').any(obeys), "{:?}", shown);
            prop_assert_eq!(printable(&shown), shown.as_ref());
        }

        #[test]
        fn one_line_has_no_control_character(text in hostile()) {
            let line = in_one_line(&text);
            prop_assert!(!line.contains(is_unsafe) && !obeys(&line), "{:?}", line);
        }

        #[test]
        fn printed_json_has_the_same_meaning(text in hostile(), pretty in any::<bool>()) {
            let value = json!({ text.clone(): [text] });
            let json = if pretty { serde_json::to_string_pretty(&value).expect("JSON") } else { value.to_string() };
            let shown = json_text(&json);
            prop_assert_eq!(serde_json::from_str::<Value>(&shown).expect("JSON"), value);
            prop_assert!(!shown.contains(|letter: char| is_unsafe(letter) && letter != '\n'), "{:?}", shown);
            prop_assert!(!shown.split('\n').any(obeys), "{:?}", shown);
        }

        #[test]
        fn ordinary_text_is_unchanged(text in "[a-zA-Z0-9 .,é漢字😀#\\\\/\n\t]{0,40}") {
            prop_assert_eq!(printable(&text), text.as_str());
        }
    }

    #[test]
    fn escapes_are_visible() {
        for (text, shown) in [
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\r\nb", "a\nb"),
            ("a\rb", "a\\u{d}b"),
            ("::error::x", "\\::error::x"),
            ("a\n  ::error::x", "a\n  \\::error::x"),
            ("a ::error::x", "a ::error::x"),
            ("x ##[error]y", "x #\\#[error]y"),
            ("###[error]", "##\\#[error]"),
            ("##vso[task]", "#\\#vso[task]"),
            ("## Heading [a]", "## Heading [a]"),
        ] {
            assert_eq!(printable(text), shown);
        }
        assert_eq!(json_text("\"##[a]\u{9b}\""), "\"\\u0023#[a]\\u009b\"");
    }
}
