//! The full-text indexes: FTS5 in SQLite, `tsvector` and trigrams in PostgreSQL. Triggers of the schema maintain them. Each prompt and each follow-up
//! has an entry of its own, so indexing a follow-up costs the same however long its job is.
//!
//! Both find the same jobs. PostgreSQL's functions `docket_fold` and `docket_lexemes` do what FTS5's `unicode61` does: words are runs of letters and
//! numbers, without case and without the diacritics of Latin letters.

use std::{iter, slice};

use super::Dialect;
use super::select::{Part, Select, Set};

/// Adjacent words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Phrase {
    pub(crate) words: String,
    /// Whether the last word is a prefix.
    pub(crate) is_beginning: bool,
}

/// A word of a search.
pub(crate) struct Term {
    pub(crate) phrase: Phrase,
    /// The subquery for the numbers of the jobs that have this term as a name.
    pub(crate) names: Option<String>,
}

/// One of the two indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    /// The words of all texts.
    Words,
    /// The characters of texts in a script without spaces.
    Characters,
}

/// The tables of both indexes; the table of prompts comes before that of follow-ups.
pub(super) const TABLES: [&str; 4] =
    ["job_words", "follow_up_words", "job_characters", "follow_up_characters"];

/// In a search with more phrases than this, one text of a job must contain all of them.
const SPREAD_MAX: usize = 20;

/// In SQLite, the entry of a follow-up has the number of its job times this, plus its position.
const ENTRIES_OF_JOB: i64 = 1 << 20;

impl Dialect {
    /// Whether an index returns jobs in the order of their numbers, so that the first page is found without reading all matches.
    pub(crate) fn finds_in_order(self) -> bool {
        self == Self::Sqlite
    }

    /// Wraps a column so that the condition does not select an index. PostgreSQL estimates how many rows a condition leaves, and chooses well.
    pub(crate) fn unindexed(self, column: &str) -> String {
        match self {
            Self::Sqlite => format!("+{column}"),
            Self::Postgres => column.to_owned(),
        }
    }

    /// The jobs that match all of `terms`, in two or three parts. First: their prompt contains all terms. Second: a follow-up contains one phrase,
    /// and each other phrase is in that follow-up, another one or the prompt. Third: the job has one term as a name, and each other term is in a text
    /// or another name. `whole` is the subquery for the jobs that have all terms together as a name.
    pub(crate) fn texts_with(
        self,
        select: &mut Select,
        texts: Texts,
        terms: &[Term],
        whole: Option<&str>,
    ) -> Set {
        let phrases: Vec<&Phrase> = terms.iter().map(|term| &term.phrase).collect();
        let [prompts, follow_ups] = texts.tables();
        let (number, of_prompt, of_follow_up) = match self {
            Self::Sqlite => ("s.rowid", "rowid", format!("rowid / {ENTRIES_OF_JOB}")),
            Self::Postgres => ("s.number", "number", "number".to_owned()),
        };
        let all = self.text_match(select, texts, &phrases);
        let are_spread = (2..=SPREAD_MAX).contains(&phrases.len());
        let each: Vec<TextMatch> = match are_spread {
            true => {
                phrases.iter().map(|phrase| self.text_match(select, texts, slice::from_ref(phrase))).collect()
            }
            false => Vec::new(),
        };
        let any = match self {
            _ if !are_spread => all.in_rows_of("t", follow_ups),
            // FTS5 cannot combine conditions with OR.
            Self::Sqlite => TextMatch::Fts5(select.bind(fts5(phrases.iter().copied(), " OR ")))
                .in_rows_of("t", follow_ups),
            Self::Postgres => {
                let each = each.iter().map(|text_match| text_match.in_rows_of("t", follow_ups));
                format!("({})", each.collect::<Vec<_>>().join(" OR "))
            }
        };
        let found =
            format!("(SELECT DISTINCT {of_follow_up} AS {of_prompt} FROM {follow_ups} t WHERE {any})");
        let spread = each.iter().map(|text_match| {
            format!(
                "({number} IN (SELECT {of_follow_up} FROM {follow_ups} t WHERE {})
                 OR {number} IN (SELECT {of_prompt} FROM {prompts} t WHERE {}))",
                text_match.in_rows_of("t", follow_ups),
                text_match.in_rows_of("t", prompts)
            )
        });
        let spread: Vec<String> = spread.collect();
        let named = named(number, of_prompt, terms, &spread, whole);
        let spread: Vec<&str> = iter::once("TRUE").chain(spread.iter().map(String::as_str)).collect();
        let in_prompts = Part { table: prompts.to_owned(), condition: all.in_rows_of("s", prompts) };
        let in_follow_ups = Part { table: found, condition: spread.join(" AND ") };
        Set { number, parts: [in_prompts, in_follow_ups].into_iter().chain(named).collect() }
    }

    fn text_match(self, select: &mut Select, texts: Texts, phrases: &[&Phrase]) -> TextMatch {
        match (self, texts) {
            (Self::Sqlite, _) => TextMatch::Fts5(select.bind(fts5(phrases.iter().copied(), " "))),
            (Self::Postgres, Texts::Words) => TextMatch::Words(select.bind(query(phrases))),
            (Self::Postgres, Texts::Characters) => {
                TextMatch::Parts(phrases.iter().map(|phrase| select.bind(phrase.words.as_str())).collect())
            }
        }
    }

    /// How many entries of an index a job `l` has.
    pub(crate) fn entries(self, texts: Texts) -> String {
        let [prompts, follow_ups] = texts.tables();
        match self {
            Self::Sqlite => format!(
                "((SELECT COUNT(*) FROM {prompts}_docsize t WHERE t.id = l.number)
                 + (SELECT COUNT(*) FROM {follow_ups}_docsize t
                    WHERE t.id BETWEEN l.number * {ENTRIES_OF_JOB} AND (l.number + 1) * {ENTRIES_OF_JOB} - 1))"
            ),
            Self::Postgres => format!(
                "((SELECT COUNT(*) FROM {prompts} t WHERE t.number = l.number)
                 + (SELECT COUNT(*) FROM {follow_ups} t WHERE t.number = l.number))"
            ),
        }
    }

    /// How many entries an index has.
    pub(crate) fn all_entries(self, texts: Texts) -> String {
        let rows = if self == Self::Sqlite { "_docsize" } else { "" };
        let [prompts, follow_ups] = texts.tables();
        format!("((SELECT COUNT(*) FROM {prompts}{rows}) + (SELECT COUNT(*) FROM {follow_ups}{rows}))")
    }
}

/// The jobs with a name. `texts` are the conditions that a text of job `number` contains the terms; empty for a single term.
fn named(
    number: &'static str,
    column: &str,
    terms: &[Term],
    texts: &[String],
    whole: Option<&str>,
) -> Option<Part> {
    let names: Vec<&str> = terms.iter().filter_map(|term| term.names.as_deref()).chain(whole).collect();
    if names.is_empty() {
        return None;
    }
    let mut part = Part::of_numbers(&names, column);
    let each = terms.iter().zip(texts).map(|(term, text)| match &term.names {
        Some(names) => format!("({number} IN ({names}) OR {text})"),
        None => text.clone(),
    });
    let each: Vec<String> = each.collect();
    if !each.is_empty() {
        let whole = whole.map(|whole| format!("{number} IN ({whole}) OR ")).unwrap_or_default();
        part.condition = format!("({whole}({}))", each.join(" AND "));
    }
    Some(part)
}

/// How rows of an index are matched against phrases; the values are the placeholders of the phrases.
enum TextMatch {
    Fts5(String),
    Words(String),
    Parts(Vec<String>),
}

impl TextMatch {
    /// The condition on a row of `table`, aliased `row`.
    fn in_rows_of(&self, row: &str, table: &str) -> String {
        match self {
            Self::Fts5(phrases) => format!("{row}.{table} MATCH {phrases}"),
            Self::Words(phrases) => format!("{row}.words @@ docket_query({phrases})"),
            Self::Parts(parts) => {
                let parts =
                    parts.iter().map(|part| format!("{row}.text LIKE docket_part({part}) ESCAPE '!'"));
                parts.collect::<Vec<_>>().join(" AND ")
            }
        }
    }
}

impl Texts {
    /// The tables of the index: that of prompts, and that of follow-ups.
    const fn tables(self) -> [&'static str; 2] {
        match self {
            Self::Words => ["job_words", "follow_up_words"],
            Self::Characters => ["job_characters", "follow_up_characters"],
        }
    }
}

/// An FTS5 expression of phrases with an operator between them. Within quotation marks FTS5 parses no operators.
pub(crate) fn fts5<'a>(phrases: impl Iterator<Item = &'a Phrase>, operator: &str) -> String {
    let quoted = phrases.map(|Phrase { words, is_beginning }| {
        format!("\"{}\"{}", words.replace('"', "\"\""), if *is_beginning { "*" } else { "" })
    });
    quoted.collect::<Vec<_>>().join(operator)
}

/// The argument of `docket_query` in PostgreSQL's schema. A search contains no control characters, so they can mark its phrases.
fn query(phrases: &[&Phrase]) -> String {
    let marked = phrases.iter().map(|Phrase { words, is_beginning }| {
        format!("{words}{}", if *is_beginning { "\u{1e}" } else { "" })
    });
    marked.collect::<Vec<_>>().join("\u{1f}")
}
