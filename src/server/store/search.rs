//! The full-text search as SQLite does it (FTS5), and nothing else of the list: PostgreSQL has a search of its own, which
//! takes the place of this file alone. The indexes are kept by the triggers of `0004_finding.sql`.
//!
//! Every word of a search must be somewhere in a job's prompt and follow-ups, the last one as the beginning of a word;
//! words between quotation marks follow one another. Scripts without spaces are searched by their characters.

use super::select::{Select, Set, escape_like};
use crate::model::script::is_unspaced;

/// Words of a search, by the way in which they are looked for. Any text makes one; none is an error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    /// An expression for the index of words; empty if there is nothing to look for there.
    words: String,
    /// The same for the index of characters.
    characters: String,
    /// What no index knows and the texts themselves must hold, whatever the case of ASCII letters.
    literals: Vec<String>,
    /// Whether only texts in scripts without spaces can match.
    unspaced: bool,
}

/// The most words that are looked for in the texts themselves; further ones do not narrow a search down.
const LITERALS_MAX: usize = 20;

/// How much of such a word is compared: databases refuse patterns of any length.
const LITERAL_MAX_CHARS: usize = 500;

/// The index of characters knows runs of three.
const INDEXED_CHARS: usize = 3;

impl Search {
    pub(super) fn parse(text: &str) -> Self {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut search = Self::default();
        for (at, part) in text.split('"').enumerate() {
            let is_phrase = at % 2 == 1;
            if is_phrase {
                search.add(part.trim(), false);
                continue;
            }
            let mut rest = part.split_whitespace().peekable();
            while let Some(word) = rest.next() {
                let is_last = rest.peek().is_none() && text.ends_with(part);
                search.add(word, is_last);
            }
        }
        search.literals.sort();
        search.literals.dedup();
        search.literals.truncate(LITERALS_MAX);
        search
    }

    /// Narrows `select` down to the jobs that match.
    pub(super) fn narrow(self, select: &mut Select) {
        if !self.words.is_empty() {
            let condition = format!("s.job_words MATCH {}", select.bind(self.words));
            select.within(&Set { table: "job_words", number: "s.rowid", condition });
        }
        if !self.characters.is_empty() {
            let condition = format!("s.job_characters MATCH {}", select.bind(self.characters));
            select.within(&Set { table: "job_characters", number: "s.rowid", condition });
        }
        if self.unspaced && !select.has_set() {
            let condition = format!("s.project = {} AND s.unspaced = 1", select.project());
            select.within(&Set { table: "listed_jobs", number: "s.number", condition });
        }
        for literal in self.literals {
            let literal: String = literal.to_ascii_lowercase().chars().take(LITERAL_MAX_CHARS).collect();
            let pattern = select.bind(format!("%{}%", escape_like(&literal)));
            select.and(&format!(
                "EXISTS (SELECT 1 FROM messages t WHERE t.job_id = l.job_id AND LOWER(t.prompt) LIKE {pattern} ESCAPE '!')"
            ));
        }
    }

    fn add(&mut self, words: &str, is_beginning: bool) {
        if words.chars().any(is_unspaced) {
            return self.add_unspaced(words);
        }
        if words.chars().any(char::is_alphanumeric) {
            push(&mut self.words, words, is_beginning);
        }
        // The index of words forgets everything but letters and digits.
        let has_symbols = |word: &&str| word.chars().any(|c| !c.is_alphanumeric());
        let is_exact = |word: &&str| word.is_ascii() || !word.chars().any(char::is_alphanumeric);
        self.literals
            .extend(words.split_whitespace().filter(has_symbols).filter(is_exact).map(str::to_owned));
    }

    fn add_unspaced(&mut self, words: &str) {
        self.unspaced = true;
        for word in words.split_whitespace() {
            if word.chars().count() < INDEXED_CHARS {
                self.literals.push(word.to_owned());
            } else {
                push(&mut self.characters, word, false);
            }
        }
    }
}

/// Adds a phrase to an expression of FTS5. Between quotation marks nothing is an operator.
fn push(expression: &mut String, phrase: &str, is_beginning: bool) {
    if !expression.is_empty() {
        expression.push(' ');
    }
    expression.push('"');
    expression.push_str(&phrase.replace('"', "\"\""));
    expression.push('"');
    if is_beginning {
        expression.push('*');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        Search::parse(text).words
    }

    #[test]
    fn the_last_word_is_the_beginning_of_one_and_the_others_are_whole() {
        assert_eq!(words("fix the guid"), r#""fix" "the" "guid"*"#);
        assert_eq!(words(r#"links "getting started""#), r#""links" "getting started""#);
        assert_eq!(words(r#""getting started" lin"#), r#""getting started" "lin"*"#);
        assert_eq!(words(r#"an "open quote"#), r#""an" "open quote""#);
        assert_eq!(Search::parse(" \u{0} \n"), Search::default());
    }

    #[test]
    fn operators_are_words() {
        assert_eq!(words("a OR b* NEAR(c) -d"), r#""a" "OR" "b*" "NEAR(c)" "-d"*"#);
    }

    #[test]
    fn what_the_index_forgets_is_looked_for_in_the_texts() {
        assert_eq!(Search::parse("100% of").literals, ["100%"]);
        assert_eq!(Search::parse("🚀 c++").literals, ["c++", "🚀"]);
        assert_eq!(Search::parse("%").words, "");
        // The case of other letters than ASCII is known to the index alone.
        assert_eq!(Search::parse("Über-uns").literals, Vec::<String>::new());
    }

    #[test]
    fn scripts_without_spaces_are_searched_by_their_characters() {
        let search = Search::parse("sdk 要ページ 概要");
        assert_eq!((search.words.as_str(), search.characters.as_str()), (r#""sdk""#, r#""要ページ""#));
        assert_eq!((search.literals, search.unspaced), (vec!["概要".to_owned()], true));
    }
}
