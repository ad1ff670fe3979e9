//! Full-text search: what is looked for where. `dialect::search` has the indexes of each database.
//!
//! Every word of a search must occur in a job's prompt and follow-ups, the last one as a prefix; words between
//! quotation marks must be adjacent in one of them. Scripts without spaces are searched by character.

use std::collections::HashSet;
use std::iter;

use super::dialect::{Dialect, Phrase, Texts, read_json};
use super::select::{Select, Set, Statement, escape_like, sql_placeholders};
use super::{Store, StoreError};
use crate::model::id::JobId;
use crate::model::script::is_unspaced;
use crate::server::nfc::nfc;
use crate::server::query_permits::QueryPermit;

/// The words of a search, by how they are searched. Any text is valid.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    /// For the index of words.
    words: Vec<Phrase>,
    /// For the index of characters.
    characters: Vec<Phrase>,
    /// Words that no index contains, searched in the texts themselves, ignoring the case of ASCII letters.
    literals: Vec<String>,
    /// Whether only texts in scripts without spaces can match.
    unspaced: bool,
}

/// The maximum number of words searched in the texts themselves; further ones are ignored.
const LITERALS_MAX: usize = 20;

/// The part of such a word that is compared: databases limit the length of patterns.
const LITERAL_MAX_CHARS: usize = 500;

/// A passage has so many characters before the word, and in all.
const PASSAGE_BEFORE: usize = 60;
const PASSAGE_CHARS: usize = 280;

/// The character index contains trigrams.
const INDEXED_CHARS: usize = 3;

impl Search {
    pub(super) fn parse(text: &str) -> Self {
        let text: String = nfc(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
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
        for phrases in [&mut search.words, &mut search.characters] {
            let mut known = HashSet::new();
            phrases.retain(|phrase| known.insert(phrase.clone()));
        }
        search.literals.sort();
        search.literals.dedup();
        search.literals.truncate(LITERALS_MAX);
        search
    }

    /// Restricts `select` to the jobs that match.
    pub(super) fn narrow(self, dialect: Dialect, select: &mut Select) {
        for (texts, phrases) in [(Texts::Words, &self.words), (Texts::Characters, &self.characters)] {
            if !phrases.is_empty() {
                let set = dialect.texts_with(select, texts, phrases);
                select.within(&set);
            }
        }
        if self.unspaced && !select.has_set() {
            let condition = format!("s.project = {} AND s.unspaced = 1", select.project());
            select.within(&Set::of("listed_jobs", "s.number", condition));
        }
        // Of a set, each job's texts are looked at. Without the limit PostgreSQL may look through all texts first.
        let each = if select.has_set() { " LIMIT 1 OFFSET 0" } else { "" };
        for literal in self.literals {
            let literal: String = literal.to_ascii_lowercase().chars().take(LITERAL_MAX_CHARS).collect();
            let pattern = select.bind(format!("%{}%", escape_like(&literal)));
            select.and(&format!(
                "EXISTS (SELECT 1 FROM messages t WHERE t.job_id = l.job_id AND LOWER(t.prompt) LIKE {pattern} ESCAPE '!'{each})"
            ));
        }
    }

    fn add(&mut self, words: &str, is_beginning: bool) {
        if words.chars().any(is_unspaced) {
            return self.add_unspaced(words);
        }
        if words.chars().any(char::is_alphanumeric) {
            self.words.push(Phrase { words: words.to_owned(), is_beginning });
        }
        // The word index contains only letters and digits.
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
                self.characters.push(Phrase { words: word.to_owned(), is_beginning: false });
            }
        }
    }
}

impl Store {
    /// By the id of a job, a passage of its texts around the first occurrence of `word`, which is in lower case; nothing where
    /// only the index recognizes the word.
    pub async fn passages(
        &self,
        permit: &QueryPermit,
        jobs: &[JobId],
        word: &str,
    ) -> Result<Vec<(String, String)>, StoreError> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let at = self.dialect.position("LOWER(prompt)", "$1");
        let found = format!(
            "(SELECT job_id, ROW_NUMBER() OVER (PARTITION BY job_id ORDER BY position) AS nth, SUBSTR(prompt,
                 CASE WHEN {at} > {PASSAGE_BEFORE} THEN {at} - {PASSAGE_BEFORE} ELSE 1 END, {PASSAGE_CHARS}) AS passage
             FROM messages WHERE job_id IN ({}) AND {at} > 0) found WHERE nth = 1",
            sql_placeholders(2, jobs.len())
        );
        let passages = self.dialect.json_rows("found.job_id, found.passage", &found);
        let values = iter::once(word.to_owned()).chain(jobs.iter().map(ToString::to_string));
        let sql = format!("SELECT {}", self.dialect.json_column(&passages));
        read_json(&self.questions.ask(permit, Statement::of(sql, values)).await?, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::store::dialect::fts5;

    /// As SQLite is asked for them.
    fn asked(phrases: &[Phrase]) -> String {
        fts5(phrases, " ")
    }

    fn words(text: &str) -> String {
        asked(&Search::parse(text).words)
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
        assert_eq!(words("%"), "");
        // Only the index ignores the case of letters other than ASCII.
        assert_eq!(Search::parse("Über-uns").literals, Vec::<String>::new());
    }

    #[test]
    fn scripts_without_spaces_are_searched_by_their_characters() {
        let search = Search::parse("sdk 要ページ 概要");
        assert_eq!(
            (asked(&search.words), asked(&search.characters)),
            (r#""sdk""#.to_owned(), r#""要ページ""#.to_owned())
        );
        assert_eq!((search.literals, search.unspaced), (vec!["概要".to_owned()], true));
    }
}
