//! What looks like a placeholder that nobody filled in, in a prompt that is about to be sent. Pure.
//!
//! Wider than [`template`](super::template): `{{ the language }}` is no placeholder of a template, and still was not
//! meant for the agent.

/// At most this many are named.
pub const NAMED: usize = 3;

/// The longest text between the braces, in characters.
const LONGEST: usize = 60;

/// The first different `{{…}}` in `text`, at most [`NAMED`], without their braces.
pub fn unfilled(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for (open, _) in text.match_indices("{{") {
        let inside = &text[open + 2..];
        let end = inside.char_indices().nth(LONGEST + 3).map_or(inside.len(), |(at, _)| at);
        let Some(close) = inside[..end].find("}}") else { continue };
        let name = inside[..close].trim_start_matches('{').trim();
        if !name.is_empty() && !name.contains(['{', '\n']) && !found.contains(&name) {
            found.push(name);
        }
        if found.len() == NAMED {
            break;
        }
    }
    found
}

/// The question before a prompt with `names` is sent; `None` without any.
pub fn question(names: &[&str]) -> Option<String> {
    let named = names.iter().map(|name| format!("{{{{{name}}}}}")).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!(
            "Nothing was sent: the placeholder {named} is not filled in. Fill it in, or send it anyway."
        )),
        _ => Some(format!(
            "Nothing was sent: placeholders are not filled in, such as {named}. Fill them in, or send it anyway."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_double_braces_is_found_once() {
        assert_eq!(unfilled("Use {{language}} and {{ the page }}, {{language}}"), ["language", "the page"]);
        assert_eq!(unfilled("{{{page}}} {{a}}{{b}}{{c}}"), ["page", "a", "b"]);
        for filled in ["", "{page}", "{{}} {{ }}", "{{a\nb}}", "}} {{", "fn main() {{ }}"] {
            assert_eq!(unfilled(filled), [""; 0], "{filled:?}");
        }
        let long = |length| format!("{{{{{}}}}}", "é".repeat(length));
        assert_eq!(unfilled(&long(LONGEST)).len(), 1);
        assert_eq!(unfilled(&long(2 * LONGEST)), [""; 0], "a sentence is no name");
    }

    #[test]
    fn the_question_names_what_is_missing() {
        assert_eq!(question(&[]), None);
        assert!(question(&["language"]).is_some_and(|asked| asked.contains("{{language}}")));
        assert!(question(&["a", "b"]).is_some_and(|asked| asked.contains("{{a}}, {{b}}")));
    }
}
