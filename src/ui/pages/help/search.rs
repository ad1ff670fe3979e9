//! The search of the help pages: sections with all typed words.

use pulldown_cmark::{Event, Options, Parser, TagEnd};

use super::{AREAS, Area};
use model::excerpt::SearchWords;

/// The longest excerpt of a section, in characters.
const EXCERPT_CHARS: usize = 180;

/// The most words that count.
const WORDS_MAX: usize = 8;

/// A part of a help page: its heading and the text below it.
pub(super) struct Section {
    /// The id of its element; empty for the text before the first heading.
    pub(super) id: String,
    pub(super) heading: &'static str,
    /// Markdown, without the heading.
    pub(super) text: &'static str,
}

/// A section with the words.
pub(super) struct Found {
    pub(super) area: &'static Area,
    pub(super) section: Section,
    pub(super) excerpt: String,
}

/// The sections of a page, without its title.
pub(super) fn sections(area: &'static Area) -> Vec<Section> {
    let (_, body) = area.parts();
    let mut parts = body.split("\n## ");
    let first = parts.next().map(|text| Section { id: String::new(), heading: "", text });
    let others = parts.map(|part| {
        let (heading, text) = part.split_once('\n').unwrap_or((part, ""));
        Section { id: heading.to_lowercase().replace(' ', "-"), heading, text }
    });
    first.into_iter().chain(others).collect()
}

/// The sections with all words of `search`: those with one of them in a heading first, else in the order of the pages.
pub(super) fn search(search: &str) -> Vec<Found> {
    let words: Vec<String> = search.split_whitespace().take(WORDS_MAX).map(stem).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for area in &AREAS {
        for section in sections(area) {
            let text = plain(section.text);
            let heading = [area.title(), " ", section.heading].concat().to_lowercase();
            let all = [heading.as_str(), " ", &text.to_lowercase()].concat();
            if !text.is_empty() && words.iter().all(|word| all.contains(word.as_str())) {
                let is_named = words.iter().any(|word| heading.contains(word.as_str()));
                found.push((!is_named, Found { area, section, excerpt: excerpt(search, text) }));
            }
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, found)| found).collect()
}

/// The word in lower case, without the ending of a plural: "budgets" finds "budget".
fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    match word.strip_suffix('s') {
        Some(one) if one.chars().count() > 2 => one.to_owned(),
        _ => word,
    }
}

fn excerpt(search: &str, text: String) -> String {
    let text = SearchWords::of(search).excerpt(&text).unwrap_or(text);
    match text.char_indices().nth(EXCERPT_CHARS) {
        Some((end, _)) => [text[..end].trim_end(), "…"].concat(),
        None => text,
    }
}

/// The text of Markdown in one line.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::TableRow) => {
                text.push(' ')
            }
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &str) -> Vec<(&'static str, &'static str)> {
        search(words).iter().map(|found| (found.area.slug, found.section.heading)).collect()
    }

    #[test]
    fn search_finds_sections_with_all_words_and_those_named_so_first() {
        assert_eq!(found("unknown outcome").first(), Some(&("job-states", "Outcome unknown")));
        assert!(found("budgets").contains(&("hourly-budget", "What counts")), "{:?}", found("budgets"));
        assert!(!found("g a").is_empty());
        assert!(found("zebra crossing").is_empty() && found(" ").is_empty());
    }

    #[test]
    fn excerpt_is_plain_text_and_short() {
        for found in search("budget") {
            assert!(found.excerpt.chars().count() <= EXCERPT_CHARS + 1, "{}", found.excerpt);
            assert!(!found.excerpt.contains(['*', '`', '|']), "{}", found.excerpt);
        }
    }

    #[test]
    fn sections_of_a_page_have_ids_of_their_own() {
        for area in &AREAS {
            let ids: Vec<String> = sections(area).into_iter().map(|section| section.id).collect();
            let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
            assert_eq!(distinct.len(), ids.len(), "{ids:?}");
        }
    }
}
