//! The search: parses its words and selects where to look for them. `dialect::search` has the full-text indexes of each database, and `job_names` the
//! names of jobs.
//!
//! Every word of a search must occur in a job's prompt and follow-ups, the last one as a prefix, or be a name of the job. Words between quotation
//! marks must be adjacent in one of the texts. The whole search may also be a name. Scripts without spaces are searched by character.

use std::collections::HashSet;
use std::iter;

use super::names::Name;
use crate::dialect::select::{Part, Select, Set, Statement, escape_like, sql_placeholders};
use crate::dialect::{Dialect, Phrase, Term, Texts, read_json};
use crate::{Store, StoreError};
use base::nfc::nfc;
use base::query_permits::QueryPermit;
use model::id::JobId;
use model::script::is_unspaced;

/// The words of a search, grouped by index. Any text is valid.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Search {
    /// For the index of words.
    words: Vec<Word>,
    /// For the index of characters.
    characters: Vec<Word>,
    /// Words that no index contains, searched in the texts themselves, ignoring the case of ASCII letters.
    literals: Vec<Literal>,
    /// Whether only texts in scripts without spaces can match.
    unspaced: bool,
    /// All words as one name.
    whole: Option<Name>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Word {
    phrase: Phrase,
    name: Option<Name>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Literal {
    text: String,
    /// The name that may match instead of the text.
    name: Option<Name>,
}

/// A search with more words than this is not matched against the names of jobs.
const NAMES_MAX: usize = 8;

/// The maximum number of words searched in the texts themselves; further ones are ignored.
const LITERALS_MAX: usize = 20;

/// The compared part of such a word: databases limit the length of patterns.
const LITERAL_MAX_CHARS: usize = 500;

/// How many characters a passage has before the word, and in all.
const PASSAGE_BEFORE: usize = 60;
const PASSAGE_CHARS: usize = 280;

/// The character index contains trigrams.
const INDEXED_CHARS: usize = 3;

impl Search {
    pub(crate) fn parse(text: &str) -> Self {
        let text: String = nfc(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (mut search, mut count) = (Self::default(), 0);
        for (at, part) in text.split('"').enumerate() {
            let is_phrase = at % 2 == 1;
            if is_phrase {
                search.add(part.trim(), false);
                count += 1;
                continue;
            }
            let mut rest = part.split_whitespace().peekable();
            while let Some(word) = rest.next() {
                let is_last = rest.peek().is_none() && text.ends_with(part);
                search.add(word, is_last);
                count += 1;
            }
        }
        for words in [&mut search.words, &mut search.characters] {
            let mut known = HashSet::new();
            words.retain(|word| known.insert(word.clone()));
        }
        search.literals.sort_by(|a, b| a.text.cmp(&b.text));
        search.literals.dedup();
        search.literals.truncate(LITERALS_MAX);
        search.limit_names(&text, count);
        search
    }

    /// `count`: the number of words in `text`.
    fn limit_names(&mut self, text: &str, count: usize) {
        match count {
            // The single word is the whole search.
            0 | 1 => {}
            2..=NAMES_MAX => self.whole = Name::of(&text.replace('"', " "), true),
            _ => {
                let words = self.words.iter_mut().chain(&mut self.characters).map(|word| &mut word.name);
                let names = words.chain(self.literals.iter_mut().map(|literal| &mut literal.name));
                names.for_each(|name| *name = None);
            }
        }
    }

    /// Restricts `select` to the jobs that match.
    pub(crate) fn narrow(self, dialect: Dialect, select: &mut Select) {
        let Self { words, characters, literals, unspaced, whole } = self;
        let whole = whole.map(|name| name.numbers(select));
        for (texts, words) in [(Texts::Words, words), (Texts::Characters, characters)] {
            if !words.is_empty() {
                let terms: Vec<Term> = words.into_iter().map(|word| word.term(select)).collect();
                let set = dialect.texts_with(select, texts, &terms, whole.as_deref());
                select.within(&set);
            }
        }
        let literals: Vec<(String, Vec<String>)> =
            literals.into_iter().map(|literal| literal.with_names(select, whole.as_ref())).collect();
        if unspaced && !select.has_set() {
            let condition = format!("s.project = {} AND s.unspaced = 1", select.project());
            let mut set = Set::of("listed_jobs", "s.number", condition);
            let names: Vec<_> =
                literals.iter().flat_map(|(_, names)| names.iter().map(String::as_str)).collect();
            set.parts.extend((!names.is_empty()).then(|| Part::of_numbers(&names, "number")));
            select.within(&set);
        }
        // With a set, the texts of each job are searched. Without the limit PostgreSQL may search all texts first.
        let each = if select.has_set() { " LIMIT 1 OFFSET 0" } else { "" };
        for (pattern, names) in literals {
            let number = select.unindexed_number();
            let named = names.iter().map(|names| format!("{number} IN ({names}) OR "));
            select.and(&format!(
                "({}EXISTS (SELECT 1 FROM messages t WHERE t.job_id = l.job_id AND LOWER(t.prompt) LIKE {pattern} ESCAPE '!'{each}))",
                named.collect::<String>()
            ));
        }
    }

    fn add(&mut self, words: &str, is_beginning: bool) {
        if words.chars().any(is_unspaced) {
            return self.add_unspaced(words, is_beginning);
        }
        let name = Name::of(words, is_beginning);
        if words.chars().any(char::is_alphanumeric) {
            let phrase = Phrase { words: words.to_owned(), is_beginning };
            self.words.push(Word { phrase, name: name.clone() });
        }
        // The word index contains only letters and digits.
        let has_symbols = |word: &&str| word.chars().any(|c| !c.is_alphanumeric());
        let is_exact = |word: &&str| word.is_ascii() || !word.chars().any(char::is_alphanumeric);
        let literals = words.split_whitespace().filter(has_symbols).filter(is_exact);
        self.literals.extend(literals.map(|text| Literal { text: text.to_owned(), name: name.clone() }));
    }

    fn add_unspaced(&mut self, words: &str, is_beginning: bool) {
        self.unspaced = true;
        for word in words.split_whitespace() {
            let name = Name::of(word, is_beginning);
            if word.chars().count() < INDEXED_CHARS {
                self.literals.push(Literal { text: word.to_owned(), name });
            } else {
                let phrase = Phrase { words: word.to_owned(), is_beginning: false };
                self.characters.push(Word { phrase, name });
            }
        }
    }
}

impl Word {
    fn term(self, select: &mut Select) -> Term {
        Term { phrase: self.phrase, names: self.name.map(|name| name.numbers(select)) }
    }
}

impl Literal {
    /// The placeholder of its pattern, and the subqueries for the jobs that have its word or the whole search as a name.
    fn with_names(self, select: &mut Select, whole: Option<&String>) -> (String, Vec<String>) {
        let text: String = self.text.to_ascii_lowercase().chars().take(LITERAL_MAX_CHARS).collect();
        let pattern = select.bind(format!("%{}%", escape_like(&text)));
        let named = self.name.map(|name| name.numbers(select));
        (pattern, named.into_iter().chain(whole.cloned()).collect())
    }
}

impl Store {
    /// A passage of each job's texts around the first occurrence of `word` (in lower case), by job id. Jobs for which only the index recognizes the
    /// word are missing.
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
        read_json(&self.queries.fetch_one(permit, Statement::of(sql, values)).await?, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::fts5;

    /// The FTS5 expression of the words.
    fn fts5_query(words: &[Word]) -> String {
        fts5(words.iter().map(|word| &word.phrase), " ")
    }

    fn literals(text: &str) -> Vec<String> {
        Search::parse(text).literals.into_iter().map(|literal| literal.text).collect()
    }

    fn words(text: &str) -> String {
        fts5_query(&Search::parse(text).words)
    }

    #[test]
    fn only_the_last_word_matches_as_a_prefix() {
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
    fn symbols_are_searched_in_the_texts() {
        assert_eq!(literals("100% of"), ["100%"]);
        assert_eq!(literals("🚀 c++"), ["c++", "🚀"]);
        assert_eq!(words("%"), "");
        // Only the index ignores the case of letters other than ASCII.
        assert_eq!(literals("Über-uns"), Vec::<String>::new());
    }

    #[test]
    fn scripts_without_spaces_are_searched_by_their_characters() {
        let search = Search::parse("sdk 要ページ 概要");
        assert_eq!(
            (fts5_query(&search.words), fts5_query(&search.characters)),
            (r#""sdk""#.to_owned(), r#""要ページ""#.to_owned())
        );
        assert_eq!((literals("sdk 要ページ 概要"), search.unspaced), (vec!["概要".to_owned()], true));
    }

    #[test]
    fn long_search_has_no_names() {
        let named = |words: usize| {
            Search::parse(&(0..words).map(|at| format!("word{at}")).collect::<Vec<_>>().join(" "))
        };
        let short = named(NAMES_MAX);
        assert!(short.words.iter().all(|word| word.name.is_some()) && short.whole.is_some());
        let long = named(NAMES_MAX + 1);
        assert!(long.words.iter().all(|word| word.name.is_none()) && long.whole.is_none());
        assert_eq!(named(1).whole, None);
    }
}
