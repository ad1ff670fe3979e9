//! The title of a prompt: its first line, without the marks of Markdown. Pure.

use pulldown_cmark::{Event, Options, Parser};

/// The text of the first line of `prompt` that has any.
pub fn title(prompt: &str) -> String {
    let lines = prompt.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(text).find(|text| !text.is_empty()).unwrap_or_else(|| "(no text)".to_owned())
}

/// The text of a line of Markdown: code and links become their text, images their descriptions. HTML stays as it is.
fn text(line: &str) -> String {
    let mut text = String::new();
    for event in Parser::new_ext(line, Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS) {
        match event {
            Event::Text(part) | Event::Code(part) | Event::Html(part) | Event::InlineHtml(part) => {
                text.push_str(&part)
            }
            _ => {}
        }
    }
    // A character reference may be a line break or a control character.
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::title;

    #[test]
    fn title_is_the_text_of_the_first_line() {
        for (prompt, expected) in [
            ("Fix the guide\n\nIt is old", "Fix the guide"),
            ("\n  \n  Fix it  ", "Fix it"),
            ("Improve **installation** and _setup_", "Improve installation and setup"),
            ("# Rewrite\nthe introduction", "Rewrite"),
            ("## Fix `docs.json` ##", "Fix docs.json"),
            ("- [ ] Check [the guide](/guide) and ![a picture](/a.png)", "Check the guide and a picture"),
            ("1. ~~Remove~~ Keep <https://example.com>", "Remove Keep https://example.com"),
            ("```json\n{}\n```", "{}"),
            ("---\n> Quoted", "Quoted"),
            ("Use <b>bold</b> &amp; more", "Use <b>bold</b> & more"),
            ("<div>\ntext", "<div>"),
            ("One&#10;line &#27;[1m", "One line [1m"),
            ("", "(no text)"),
            ("***\n\n---", "(no text)"),
        ] {
            assert_eq!(title(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn text_that_is_no_markdown_stays() {
        for plain in [
            "snake_case and other_names",
            "2 * 3",
            "docs/*.md and *.mdx",
            "C# and #42",
            "{{page}} and {{a_b}}",
            "a < b > c",
            "[x] y",
        ] {
            assert_eq!(title(plain), plain);
        }
    }

    proptest! {
        /// Words without punctuation are no Markdown, in any language.
        #[test]
        fn words_stay(words in "[\\p{L}]{1,12}( [\\p{L}\\p{N}]{1,12}){0,8}") {
            prop_assert_eq!(title(&words), words);
        }

        #[test]
        fn title_is_one_line_that_is_not_empty(prompt in any::<String>()) {
            let title = title(&prompt);
            prop_assert!(!title.is_empty() && title.lines().count() == 1);
        }
    }
}
