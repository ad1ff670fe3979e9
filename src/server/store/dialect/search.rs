//! The indexes of the search: FTS5 in SQLite, `tsvector` and trigrams in PostgreSQL. Triggers of the schema maintain them.
//!
//! Both find the same jobs. `docket_fold` and `docket_lexemes` of PostgreSQL's schema do what FTS5's `unicode61` does: words are
//! runs of letters and numbers, without case and without the diacritics of Latin letters.

use super::Dialect;
use crate::server::store::select::{Select, Set};

/// Words that stand next to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::server::store) struct Phrase {
    pub(in crate::server::store) words: String,
    /// Whether the last word may be the beginning of one.
    pub(in crate::server::store) is_beginning: bool,
}

/// Which of the indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server::store) enum Texts {
    /// The words of all texts.
    Words,
    /// The characters of those texts that hold a script without spaces.
    Characters,
}

/// The tables of PostgreSQL's.
pub(super) const TABLES: [&str; 2] = ["job_words", "job_characters"];

impl Dialect {
    /// Whether an index gives jobs in the order of their numbers, so that the first page of many is found without the rest.
    pub(in crate::server::store) fn finds_in_order(self) -> bool {
        self == Self::Sqlite
    }

    /// A column in a condition by which no index is to be chosen. PostgreSQL knows how many rows a condition leaves, and chooses well.
    pub(in crate::server::store) fn unindexed(self, column: &str) -> String {
        match self {
            Self::Sqlite => format!("+{column}"),
            Self::Postgres => column.to_owned(),
        }
    }

    /// The jobs whose texts hold all of `phrases`.
    pub(in crate::server::store) fn texts_with(
        self,
        select: &mut Select,
        texts: Texts,
        phrases: &[Phrase],
    ) -> Set {
        let table = match texts {
            Texts::Words => "job_words",
            Texts::Characters => "job_characters",
        };
        match self {
            Self::Sqlite => {
                let condition = format!("s.{table} MATCH {}", select.bind(fts5(phrases)));
                Set { table, number: "s.rowid", condition }
            }
            Self::Postgres => {
                let condition = match texts {
                    Texts::Words => format!("s.words @@ docket_query({})", select.bind(query(phrases))),
                    Texts::Characters => {
                        let parts = phrases.iter().map(|phrase| {
                            let part = select.bind(phrase.words.as_str());
                            format!("s.text LIKE docket_part({part}) ESCAPE '!'")
                        });
                        parts.collect::<Vec<_>>().join(" AND ")
                    }
                };
                Set { table, number: "s.number", condition }
            }
        }
    }
}

/// An FTS5 expression. Within quotation marks there are no operators.
pub(in crate::server::store) fn fts5(phrases: &[Phrase]) -> String {
    let quoted = phrases.iter().map(|Phrase { words, is_beginning }| {
        format!("\"{}\"{}", words.replace('"', "\"\""), if *is_beginning { "*" } else { "" })
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// What `docket_query` of PostgreSQL's schema takes. A search has no control characters of its own.
fn query(phrases: &[Phrase]) -> String {
    let marked = phrases.iter().map(|Phrase { words, is_beginning }| {
        format!("{words}{}", if *is_beginning { "\u{1e}" } else { "" })
    });
    marked.collect::<Vec<_>>().join("\u{1f}")
}
