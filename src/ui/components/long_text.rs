//! A text by a person, folded if it is long. Works without JavaScript.

use leptos::prelude::*;

use crate::ui::charts::number::grouped;

/// A longer text is folded, in characters and in lines.
const FOLDED_CHARS: usize = 2_000;
const FOLDED_LINES: usize = 30;

/// How much of a folded text is shown, in characters and in lines.
const SHOWN_CHARS: usize = 600;
const SHOWN_LINES: usize = 10;

/// The part of a long text that is shown while it is folded; `None` if the text is not folded.
pub fn folded_start(text: &str) -> Option<String> {
    let is_short = text.chars().nth(FOLDED_CHARS).is_none() && text.lines().nth(FOLDED_LINES).is_none();
    (!is_short).then(|| format!("{}…", beginning(text)))
}

/// A long text of `chars` characters, and the part of it that is shown while it is folded.
pub fn folded(start: AnyView, whole: AnyView, chars: usize) -> AnyView {
    view! {
        <div class="folded-start">{start}</div>
        <details class="folded">
            <summary class="button">
                <span class="folded-show">"Show all " {grouped(chars as u64)} " characters"</span>
                <span class="folded-hide">"Show less"</span>
            </summary>
            {whole}
        </details>
    }
    .into_any()
}

/// The part of a folded text that is shown.
fn beginning(text: &str) -> &str {
    let chars = text.char_indices().nth(SHOWN_CHARS).map_or(text.len(), |(at, _)| at);
    let lines = text.match_indices('\n').nth(SHOWN_LINES - 1).map_or(text.len(), |(at, _)| at);
    text[..chars.min(lines)].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_part_of_a_text_is_limited() {
        assert_eq!(beginning(&"é".repeat(3_000)).chars().count(), SHOWN_CHARS);
        assert_eq!(beginning(&"a\n".repeat(100)).lines().count(), SHOWN_LINES);
        assert_eq!(beginning("short"), "short");
    }

    #[test]
    fn only_long_texts_are_folded() {
        assert_eq!(folded_start(&"é".repeat(FOLDED_CHARS)), None);
        assert_eq!(folded_start(&"a\n".repeat(FOLDED_LINES)), None);
        assert!(folded_start(&"é".repeat(FOLDED_CHARS + 1)).is_some_and(|start| start.ends_with('…')));
        assert!(folded_start(&"a\n".repeat(FOLDED_LINES + 1)).is_some());
    }
}
