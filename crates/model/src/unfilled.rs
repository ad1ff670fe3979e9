//! Finds possible unfilled placeholders in a prompt before it is sent. Pure.
//!
//! Wider than [`template`](super::template): `{{ the language }}` is not a valid placeholder, but was not meant for the agent
//! either.

/// The most placeholders that are returned.
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

/// The message before a prompt with `names` is sent; `None` without any.
pub fn warning(names: &[&str]) -> Option<String> {
    let named: Vec<_> = names.iter().map(|name| ["{{", name, "}}"].concat()).collect();
    let (last, others) = named.split_last()?;
    Some(match others {
        [] => format!("Fill in {last} first."),
        others => format!("Fill in {} and {last} first.", others.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_double_braces_is_found_once() {
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
    fn message_lists_the_unfilled_placeholders() {
        assert_eq!(warning(&[]), None);
        assert_eq!(warning(&["page"]).as_deref(), Some("Fill in {{page}} first."));
        assert_eq!(warning(&["page", "version"]).as_deref(), Some("Fill in {{page}} and {{version}} first."));
        assert_eq!(warning(&["a", "b", "c"]).as_deref(), Some("Fill in {{a}}, {{b}} and {{c}} first."));
    }
}
