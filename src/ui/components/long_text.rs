//! A text by a person, folded if it is long. Works without JavaScript.

use leptos::prelude::*;

use crate::ui::charts::number::grouped;

/// A longer text is folded, in characters and in lines.
const FOLDED_CHARS: usize = 2_000;
const FOLDED_LINES: usize = 30;

/// How much of a folded text is shown, in characters and in lines.
const SHOWN_CHARS: usize = 600;
const SHOWN_LINES: usize = 10;

/// The text, rendered by `shown`.
pub fn long_text(text: &str, shown: impl Fn(&str) -> AnyView) -> AnyView {
    let whole = shown(text);
    let chars = text.chars().count();
    if chars <= FOLDED_CHARS && text.lines().count() <= FOLDED_LINES {
        return whole;
    }
    let start = format!("{}…", beginning(text));
    view! {
        <div class="folded-start">{shown(&start)}</div>
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
}
