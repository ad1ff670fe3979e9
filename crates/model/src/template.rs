//! Prompts with named placeholders, such as `Check {{page}} against the SDK`. Pure: no storage or delivery.
//!
//! A placeholder is `{{name}}` or, with a default value, `{{name=value}}`. Blanks are allowed around both. A name is a letter,
//! then letters, digits, `_` or `-`, at most 40 characters, all ASCII. A default value is at most 200 characters of one line,
//! without braces. The first default of a name applies to all its placeholders. Anything else between braces is plain text.

mod slots;

use std::collections::BTreeMap;
use std::ops::Range;

pub use slots::Slots;

/// The longest name of a placeholder, in characters.
const NAME_MAX_CHARS: usize = 40;

/// The longest default value, in characters.
const DEFAULT_MAX_CHARS: usize = 200;

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    /// Its default is empty if it has none.
    Placeholder {
        name: &'a str,
        default: &'a str,
    },
}

/// The text of a form in which `written` was typed, after `template` was chosen. An unchanged text of the template `replaced` is
/// replaced; any other text stays, and the template is inserted below it, once.
pub fn inserted(written: &str, replaced: &str, template: &str) -> String {
    let typed = written.trim();
    if typed.is_empty() || typed == replaced.trim() {
        return template.to_owned();
    }
    if typed.ends_with(template.trim()) {
        return written.to_owned();
    }
    [written.trim_end(), "\n\n", template].concat()
}

/// The pieces of `template`, in order. Concatenated, they are the whole template.
pub fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut text_from, mut at) = (0, 0);
    while let Some(open) = template[at..].find("{{").map(|found| at + found) {
        match placeholder(&template[open..]) {
            Some((piece, length)) => {
                if text_from < open {
                    pieces.push(Piece::Text(&template[text_from..open]));
                }
                pieces.push(piece);
                at = open + length;
                text_from = at;
            }
            None => at = open + 1,
        }
    }
    if text_from < template.len() {
        pieces.push(Piece::Text(&template[text_from..]));
    }
    pieces
}

/// `template` with each placeholder in words: `{{product_name}}` is "a product name".
pub fn in_words(template: &str) -> String {
    let mut text = String::new();
    for piece in pieces(template) {
        match piece {
            Piece::Text(plain) => text.push_str(plain),
            Piece::Placeholder { name, .. } => {
                text.push_str(if text.is_empty() { "A" } else { "a" });
                let has_vowel = name.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']);
                text.push_str(if has_vowel { "n " } else { " " });
                text.push_str(&name.replace(['_', '-'], " "));
            }
        }
    }
    text
}

/// The names of the placeholders in `template`, without duplicates, in order of appearance.
pub fn placeholders(template: &str) -> Vec<&str> {
    Parsed::of(template).names
}

/// `template` with its placeholders replaced by `values`, or else by their defaults. A placeholder without either stays; values
/// are not expanded again. `None` if the result would be longer than `most` characters.
pub fn filled(template: &str, values: &BTreeMap<&str, &str>, most: usize) -> Option<String> {
    let parsed = Parsed::of(template);
    let unfilled: Vec<_> = parsed.names.iter().map(|name| parsed.unfilled(name)).collect();
    let names = parsed.names.iter().zip(&unfilled);
    let values: Vec<&str> =
        names.map(|(name, unfilled)| values.get(name).copied().unwrap_or(unfilled)).collect();
    (parsed.filled_chars(&values) <= most).then(|| parsed.filled(&values))
}

/// A template that is filled several times: parsed once.
pub struct Parsed<'a> {
    /// The names of its placeholders, without duplicates, in order of appearance.
    pub names: Vec<&'a str>,
    /// The default value of each of `names`; empty without one.
    pub defaults: Vec<&'a str>,
    /// How often each of `names` appears.
    times: Vec<usize>,
    parts: Vec<Part<'a>>,
    /// The length of its plain text, in characters.
    text_chars: usize,
}

enum Part<'a> {
    Text(&'a str),
    /// The index of a placeholder's name.
    Value(usize),
}

impl<'a> Parsed<'a> {
    pub fn of(template: &'a str) -> Self {
        let mut parsed = Self {
            names: Vec::new(),
            defaults: Vec::new(),
            times: Vec::new(),
            parts: Vec::new(),
            text_chars: 0,
        };
        let mut indexes = BTreeMap::new();
        for piece in pieces(template) {
            let part = match piece {
                Piece::Text(text) => {
                    parsed.text_chars += text.chars().count();
                    Part::Text(text)
                }
                Piece::Placeholder { name, default } => {
                    let index = *indexes.entry(name).or_insert(parsed.names.len());
                    if index == parsed.names.len() {
                        parsed.names.push(name);
                        parsed.defaults.push("");
                        parsed.times.push(0);
                    }
                    if parsed.defaults[index].is_empty() {
                        parsed.defaults[index] = default;
                    }
                    parsed.times[index] += 1;
                    Part::Value(index)
                }
            };
            parsed.parts.push(part);
        }
        parsed
    }

    /// The default value of this placeholder; empty without one.
    pub fn default_of(&self, name: &str) -> &'a str {
        let index = self.names.iter().position(|known| *known == name);
        index.map_or("", |index| self.defaults[index])
    }

    /// The text of this placeholder while it has no value: its default, or the placeholder itself.
    pub fn unfilled(&self, name: &str) -> String {
        match self.default_of(name) {
            "" => ["{{", name, "}}"].concat(),
            default => default.to_owned(),
        }
    }

    /// The length of [`Self::filled`], in characters, without creating the text. `values` has one value for each name.
    pub fn filled_chars(&self, values: &[&str]) -> usize {
        let values = self.times.iter().zip(values).map(|(times, value)| times * value.chars().count());
        self.text_chars + values.sum::<usize>()
    }

    /// The text with `values`, one for each name.
    pub fn filled(&self, values: &[&str]) -> String {
        self.texts(values).collect()
    }

    /// The first `most` characters of [`Self::filled`], and whether the text is complete.
    pub fn beginning(&self, values: &[&str], most: usize) -> (String, bool) {
        let mut characters = self.texts(values).flat_map(str::chars);
        let beginning = characters.by_ref().take(most).collect();
        (beginning, characters.next().is_none())
    }

    /// Where the values are in the first `length` bytes of [`Self::filled`].
    pub fn values_within(&self, values: &[&str], length: usize) -> Vec<Range<usize>> {
        let (mut ranges, mut at) = (Vec::new(), 0);
        for part in &self.parts {
            let (bytes, is_value) = match part {
                Part::Text(text) => (text.len(), false),
                Part::Value(index) => (values[*index].len(), true),
            };
            if at >= length {
                break;
            }
            if is_value {
                ranges.push(at..(at + bytes).min(length));
            }
            at += bytes;
        }
        ranges
    }

    fn texts<'t>(&'t self, values: &'t [&'t str]) -> impl Iterator<Item = &'t str> {
        self.parts.iter().map(|part| match part {
            Part::Text(text) => *text,
            Part::Value(index) => values[*index],
        })
    }
}

/// The placeholder at the start of `text`, and its length in bytes. Reads at most up to the next brace, so that each character
/// is read once, whatever the number of braces.
fn placeholder(text: &str) -> Option<(Piece<'_>, usize)> {
    let inside = text.strip_prefix("{{")?.trim_start_matches(' ');
    let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = &inside[..inside.find(|c| !is_of_a_name(c))?];
    let rest = inside[name.len()..].trim_start_matches(' ');
    let (default, rest) = match rest.strip_prefix('=') {
        Some(rest) => rest.split_at(rest.find(['{', '}', '\n'])?),
        None => ("", rest),
    };
    let (default, rest) = (default.trim(), rest.strip_prefix("}}")?);
    let is_a_name =
        name.len() <= NAME_MAX_CHARS && name.starts_with(|first: char| first.is_ascii_alphabetic());
    let is_short = default.chars().nth(DEFAULT_MAX_CHARS).is_none();
    (is_a_name && is_short).then_some((Piece::Placeholder { name, default }, text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_in_words_have_an_article() {
        assert_eq!(
            in_words("Refresh {{page}} for {{ os_version = 2 }} by {{a-b}}"),
            "Refresh a page for an os version by an a b"
        );
        assert_eq!(in_words("{{item}} at once"), "An item at once");
        assert_eq!(in_words("Nothing {{ }} {1}"), "Nothing {{ }} {1}");
    }

    #[test]
    fn chosen_template_replaces_only_the_unchanged_text_of_another() {
        assert_eq!(inserted(" \n", "", "Check {{page}}"), "Check {{page}}");
        assert_eq!(inserted("Old {{page}}\n", "Old {{page}}", "New {{page}}"), "New {{page}}");
        assert_eq!(inserted("Old {{page}}!", "Old {{page}}", "New"), "Old {{page}}!\n\nNew");
        assert_eq!(inserted("Typed\n", "", "New"), "Typed\n\nNew");
        assert_eq!(inserted("Typed\n\nNew", "New", "New\n"), "Typed\n\nNew");
    }

    #[test]
    fn placeholders_are_listed_once_in_order_of_appearance() {
        assert_eq!(
            placeholders("Check {{page}} for {{ audience }}, then {{page}} again"),
            ["page", "audience"]
        );
        assert_eq!(placeholders("{{}} {{ }} {{1st}} {{a b}} {page} {{page}"), [""; 0]);
        assert_eq!(placeholders("{{{page}}}"), ["page"]);
    }

    #[test]
    fn first_default_applies_to_all_placeholders_of_its_name() {
        let text = "{{version}} {{ version = 3.2 beta }} {{version=4}} {{page=}}";
        let parsed = Parsed::of(text);
        assert_eq!((parsed.names, parsed.defaults), (vec!["version", "page"], vec!["3.2 beta", ""]));
        assert_eq!(
            filled(text, &BTreeMap::new(), 99).as_deref(),
            Some("3.2 beta 3.2 beta 3.2 beta {{page}}")
        );
        assert_eq!(filled(text, &BTreeMap::from([("version", "5")]), 99).as_deref(), Some("5 5 5 {{page}}"));
        let long = format!("{{{{a={}}}}}", "é".repeat(DEFAULT_MAX_CHARS + 1));
        for text in ["{{a=b", "{{a=b}", "{{a={b}}}", "{{a=b\nc}}", "{{=b}}", long.as_str()] {
            assert_eq!(placeholders(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn values_replace_placeholders_and_are_not_expanded() {
        let values = BTreeMap::from([("page", "/a {{audience}}"), ("other", "x")]);
        assert_eq!(
            filled("See {{ page }}{{audience}}.", &values, 99).as_deref(),
            Some("See /a {{audience}}{{audience}}.")
        );
        assert_eq!(filled("{{1}} }} {{", &values, 99).as_deref(), Some("{{1}} }} {{"));
        assert_eq!(filled("", &values, 0).as_deref(), Some(""));
    }

    #[test]
    fn a_text_that_would_be_too_long_is_not_filled() {
        let (template, value) = ("é{{a}}".repeat(6_500), "ü".repeat(130_000));
        let values = BTreeMap::from([("a", value.as_str())]);
        assert_eq!(Parsed::of(&template).filled_chars(&[&value]), 6_500 * 130_001);
        assert_eq!(filled(&template, &values, 100_000), None);
        assert!(filled("é{{a}}", &values, 130_001).is_some() && filled("é{{a}}", &values, 130_000).is_none());
    }

    #[test]
    fn only_the_beginning_is_filled_for_a_preview() {
        let template = Parsed::of("Ü {{a}}, {{b}}");
        assert_eq!(template.beginning(&["é", "x"], 5), ("Ü é, ".to_owned(), false));
        assert_eq!(template.beginning(&["é", "x"], 6), ("Ü é, x".to_owned(), true));
    }

    // Scanning the remaining text again for each brace would take hours and exceed the time limit of a test.
    #[test]
    fn braces_without_a_name_are_read_once() {
        for braces in ["{", "{{ ", "{{a", "{{a ", "{{a=", "{{ a} "] {
            let text = braces.repeat(4_000_000);
            assert_eq!(pieces(&text), [Piece::Text(text.as_str())]);
        }
    }
}
