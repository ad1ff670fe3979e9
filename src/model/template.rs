//! Prompts with named placeholders, such as `Check {{page}} against the SDK`. Pure: nothing about storage or delivery.
//!
//! A placeholder is `{{name}}`, with blanks allowed around the name: a letter, then letters, digits, `_` or `-`, at
//! most 40 characters, all ASCII. Anything else between braces is plain text.

use std::collections::BTreeMap;

/// The longest name of a placeholder, in characters.
const NAME_MAX_CHARS: usize = 40;

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    /// The name of a placeholder.
    Placeholder(&'a str),
}

/// The pieces of `template`, in order; concatenated, they are the whole template.
pub fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut text_from, mut at) = (0, 0);
    while let Some(open) = template[at..].find("{{").map(|found| at + found) {
        match placeholder(&template[open..]) {
            Some((name, length)) => {
                if text_from < open {
                    pieces.push(Piece::Text(&template[text_from..open]));
                }
                pieces.push(Piece::Placeholder(name));
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

/// The names of the placeholders in `template`, without duplicates, in order of appearance.
pub fn placeholders(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for piece in pieces(template) {
        if let Piece::Placeholder(name) = piece
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

/// `template` with its placeholders replaced by `values`. A placeholder without a value stays as it is; values are not
/// expanded again.
pub fn filled(template: &str, values: &BTreeMap<&str, &str>) -> String {
    let mut text = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Placeholder(name) => match values.get(name) {
                Some(value) => text.push_str(value),
                None => {
                    text.push_str("{{");
                    text.push_str(name);
                    text.push_str("}}");
                }
            },
        }
    }
    text
}

/// The name of the placeholder that `text` begins with, and its length in bytes.
fn placeholder(text: &str) -> Option<(&str, usize)> {
    let inside = text.strip_prefix("{{")?;
    let end = inside.find("}}")?;
    let name = inside[..end].trim_matches(' ');
    let first_is_a_letter = name.starts_with(|first: char| first.is_ascii_alphabetic());
    let is_a_name = name.len() <= NAME_MAX_CHARS
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    (first_is_a_letter && is_a_name).then_some((name, 2 + end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_named_once_in_the_order_they_stand() {
        assert_eq!(
            placeholders("Check {{page}} for {{ audience }}, then {{page}} again"),
            ["page", "audience"]
        );
        assert_eq!(placeholders("{{}} {{ }} {{1st}} {{a b}} {page} {{page}"), [""; 0]);
        assert_eq!(placeholders("{{{page}}}"), ["page"]);
    }

    #[test]
    fn values_stand_in_their_placeholders_and_are_text_themselves() {
        let values = BTreeMap::from([("page", "/a {{audience}}"), ("other", "x")]);
        assert_eq!(filled("See {{ page }}{{audience}}.", &values), "See /a {{audience}}{{audience}}.");
        assert_eq!(filled("{{1}} }} {{", &values), "{{1}} }} {{");
        assert_eq!(filled("", &values), "");
    }
}
