//! Where the words of a search occur in a text, to mark them and to cut an excerpt around the first one. Pure.
//! `store::jobs::search` decides which jobs match. A match that is not recognized here is only not marked.

/// The words of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchWords {
    /// In lower case. The flag: whether it may be a prefix of a word.
    words: Vec<(Vec<char>, bool)>,
}

/// The most words of a search.
const WORDS_MAX: usize = 20;

/// How many characters an excerpt has before the first match.
const BEFORE: usize = 24;

impl SearchWords {
    pub fn of(search: &str) -> Self {
        let mut words = Vec::new();
        for (at, part) in search.split('"').enumerate() {
            let is_phrase = at % 2 == 1;
            if is_phrase {
                words.push((part.trim(), false));
            } else {
                words.extend(part.split_whitespace().map(|word| (word, false)));
            }
        }
        if let Some(last) = words.last_mut() {
            last.1 = !search.trim_end().ends_with('"');
        }
        let words = words.into_iter().filter(|(word, _)| !word.is_empty());
        Self { words: words.take(WORDS_MAX).map(|(word, part)| (lower(word), part)).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The longest word, for a full search of the texts.
    pub fn longest(&self) -> Option<String> {
        let longest = self.words.iter().max_by_key(|(word, _)| word.len());
        longest.map(|(word, _)| word.iter().collect())
    }

    /// `text` in pieces; `true` for those that match.
    pub fn pieces<'a>(&self, text: &'a str) -> Vec<(bool, &'a str)> {
        let mut pieces = Vec::new();
        let mut end = 0;
        for (from, to) in self.matches(text) {
            pieces.extend([(false, &text[end..from]), (true, &text[from..to])]);
            end = to;
        }
        pieces.push((false, &text[end..]));
        pieces.retain(|(_, piece)| !piece.is_empty());
        pieces
    }

    /// How many characters precede the first match.
    pub fn first(&self, text: &str) -> Option<usize> {
        self.matches(text).first().map(|(from, _)| text[..*from].chars().count())
    }

    /// `text` in one line from shortly before its first match on; `None` without a match.
    pub fn excerpt(&self, text: &str) -> Option<String> {
        let first = self.first(text)?;
        let cut = text.chars().skip(first.saturating_sub(BEFORE));
        let line = cut.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ");
        Some(if first > BEFORE { format!("…{line}") } else { line })
    }

    /// The byte ranges of all matches, in order and apart.
    fn matches(&self, text: &str) -> Vec<(usize, usize)> {
        let chars: Vec<(usize, char)> =
            text.char_indices().map(|(at, c)| (at, c.to_lowercase().next().unwrap_or(c))).collect();
        let is_letter = |at: usize| chars.get(at).is_some_and(|(_, c)| c.is_alphanumeric());
        let byte = |at: usize| chars.get(at).map_or(text.len(), |(byte, _)| *byte);
        let mut found = Vec::new();
        let mut at = 0;
        while at < chars.len() {
            let fits = self.words.iter().filter(|(word, is_beginning)| {
                let end = at + word.len();
                let spelled = || chars[at..end].iter().map(|(_, c)| *c).eq(word.iter().copied());
                let is_plain = word.iter().all(char::is_ascii);
                let begins = !is_plain || at == 0 || !is_letter(at - 1) || !is_letter(at);
                end <= chars.len()
                    && begins
                    && spelled()
                    && (*is_beginning || !is_plain || !is_letter(end) || !is_letter(end - 1))
            });
            match fits.map(|(word, _)| word.len()).max() {
                Some(length) => {
                    found.push((byte(at), byte(at + length)));
                    at += length;
                }
                None => at += 1,
            }
        }
        found
    }
}

fn lower(text: &str) -> Vec<char> {
    text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(search: &str, text: &str) -> String {
        let pieces = SearchWords::of(search).pieces(text);
        pieces
            .iter()
            .map(|(is_match, piece)| if *is_match { format!("[{piece}]") } else { (*piece).to_owned() })
            .collect()
    }

    #[test]
    fn whole_words_and_prefixes_of_the_last_word_are_marked() {
        assert_eq!(
            marked("fix the guid", "Fix the Guides, then fixtures"),
            "[Fix] [the] [Guid]es, then fixtures"
        );
        assert_eq!(marked("über", "Über uns, überall"), "[Über] uns, [über]all");
        assert_eq!(marked("", "as it is"), "as it is");
        assert_eq!(marked("nothing", "as it is"), "as it is");
    }

    #[test]
    fn phrases_and_symbols_are_marked() {
        assert_eq!(
            marked("\"getting started\"", "Getting started is getting on"),
            "[Getting started] is getting on"
        );
        assert_eq!(marked("100%", "At 100% of it"), "At [100%] of it");
        assert_eq!(marked("概要", "この概要を"), "この[概要]を");
    }

    #[test]
    fn an_excerpt_begins_near_the_match() {
        let words = SearchWords::of("skew");
        assert_eq!(words.excerpt("no match"), None);
        assert_eq!(words.excerpt("Clock skew\nof servers").as_deref(), Some("Clock skew of servers"));
        let far = format!("{} clock skew", "x".repeat(100));
        assert_eq!(words.excerpt(&far), Some(format!("…{} clock skew", "x".repeat(17))));
        assert_eq!(words.first(&far), Some(107));
    }
}
