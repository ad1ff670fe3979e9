//! What differs between SQLite and PostgreSQL: opening, transactions, interruption, and the few expressions that are not the same.
//! Everything else in the store is one statement for both, and asks nothing about the database.
//!
//! What other statements rely on is the same with both: one writer at a time ([`Area`]), who sees all that was committed before;
//! snapshots that do not change while they are read; texts compared by code point.

mod backup;
mod catalogue;
mod file;
mod identity;
mod interruption;
mod json;
pub(crate) mod migrations;
mod path;
mod postgres;
mod search;
mod sqlite;
mod whole_tables;
mod writer;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use sqlx::{Any, AnyPool, Transaction};

pub use self::backup::PARTIAL;
pub(crate) use self::catalogue::{Kind, Migration, Table};
pub use self::file::{CountedCall, Exclusive, Unfit, file_of, let_be_served, must_be_whole};
pub use self::identity::FileFault;
pub(crate) use self::identity::FileIdentity;
pub(crate) use self::interruption::{AT_ONCE, Connections, PATIENCE};
pub(crate) use self::json::read as read_json;
pub use self::path::url_of;
#[cfg(test)]
pub(crate) use self::search::fts5;
pub(crate) use self::search::{Phrase, Term, Texts};
pub(crate) use self::writer::Writer;
use super::StoreError;

/// Which database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// What a write changes. Writes to one area take turns, and see all that was committed there before. SQLite has one writer in all.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Area {
    /// Everything else.
    Ledger,
    /// The page views by day, which are written for seconds.
    History,
    /// Rows that are read and changed by one statement alone, which the database orders.
    Apart,
}

/// An open database.
pub(crate) struct Opened {
    pub dialect: Dialect,
    pub pool: AnyPool,
    /// One connection whose commits survive the end of the process, but do not wait for the disk.
    pub counts: AnyPool,
    /// Those for statements that may have to be stopped.
    pub questions: Connections,
    /// `None`: a server.
    pub file: Option<FileIdentity>,
}

impl Dialect {
    fn of(url: &str) -> Self {
        if url.starts_with("sqlite:") { Self::Sqlite } else { Self::Postgres }
    }

    /// Opens the database at `url` and migrates it. A file is created; a server that does not answer is waited for.
    pub(crate) async fn open(url: &str, patience: Duration) -> Result<Opened, StoreError> {
        sqlx::any::install_default_drivers();
        match Self::of(url) {
            Self::Sqlite => sqlite::open(url).await,
            Self::Postgres => postgres::open(url, patience).await,
        }
    }

    /// Opens an existing database of this version read-only.
    pub(crate) async fn open_to_read(url: &str) -> Result<Opened, StoreError> {
        sqlx::any::install_default_drivers();
        match Self::of(url) {
            Self::Sqlite => sqlite::open_to_read(url).await,
            Self::Postgres => postgres::open_to_read(url).await,
        }
    }

    /// A transaction that may write in `area`. Waiting for its turn is at its start, so that it cannot fail halfway because of
    /// another writer.
    pub(crate) async fn begin(
        self,
        pool: &AnyPool,
        area: Area,
    ) -> Result<Transaction<'static, Any>, sqlx::Error> {
        match self {
            Self::Sqlite => pool.begin_with("BEGIN IMMEDIATE").await,
            Self::Postgres => postgres::begin(pool, area).await,
        }
    }

    /// Whether the database is of one process, apart from the moments in which the next one takes its place.
    pub(crate) fn is_of_one_process(self) -> bool {
        self == Self::Sqlite
    }

    /// The time of the database's own clock, in milliseconds. A file has none but that of this machine.
    pub(crate) async fn time(self, pool: &AnyPool) -> Result<Option<i64>, sqlx::Error> {
        match self {
            Self::Sqlite => Ok(None),
            Self::Postgres => postgres::time(pool).await.map(Some),
        }
    }

    /// A transaction that only reads, and sees one moment.
    pub(crate) async fn snapshot(self, pool: &AnyPool) -> Result<Transaction<'static, Any>, sqlx::Error> {
        match self {
            Self::Sqlite => pool.begin().await,
            Self::Postgres => postgres::snapshot(pool).await,
        }
    }

    /// Writes a consistent copy to `file`, which must not exist.
    pub(crate) async fn backup(self, pool: &AnyPool, file: &Path) -> Result<(), StoreError> {
        match self {
            Self::Sqlite => backup::write(pool, file).await,
            Self::Postgres => Err(StoreError::Unsupported(
                "A PostgreSQL database is backed up with PostgreSQL's own tools, for example pg_dump.",
            )),
        }
    }

    /// The place of `part` in `text`, from 1 on; 0 if it is not there.
    pub(crate) fn position(self, text: &str, part: &str) -> String {
        match self {
            Self::Sqlite => format!("INSTR({text}, {part})"),
            Self::Postgres => format!("STRPOS({text}, {part})"),
        }
    }
}

#[cfg(test)]
impl Connections {
    /// The same with another limit.
    pub(crate) fn lasting(&self, longest: Duration) -> Self {
        match self {
            Self::Sqlite(pool, _) => Self::Sqlite(pool.clone(), longest),
            Self::Postgres(pool) => {
                Self::Postgres(postgres::questions((*pool.connect_options()).clone(), longest))
            }
        }
    }
}

/// How a database is named to people: without its password.
pub fn place(url: &str) -> impl fmt::Display {
    match Dialect::of(url) {
        Dialect::Sqlite => url.to_owned(),
        Dialect::Postgres => postgres::place(url),
    }
}

/// What OpenTelemetry calls the kind of a database.
pub fn system(url: &str) -> &'static str {
    match Dialect::of(url) {
        Dialect::Sqlite => "sqlite",
        Dialect::Postgres => "postgresql",
    }
}

/// Whether both URLs name one database, as far as they tell.
pub fn is_same(one: &str, other: &str) -> bool {
    match (Dialect::of(one), Dialect::of(other)) {
        (Dialect::Sqlite, Dialect::Sqlite) => sqlite::is_same(one, other),
        (Dialect::Postgres, Dialect::Postgres) => postgres::is_same(one, other),
        _ => false,
    }
}

/// Whether the database stopped a statement that took too long.
pub(crate) fn is_interruption(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| [sqlite::INTERRUPTED, postgres::INTERRUPTED].contains(&code.as_ref()))
}
