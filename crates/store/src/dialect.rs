//! The differences between SQLite and PostgreSQL: opening, transactions, interruption, and a few expressions. Every other statement of the store is
//! the same for both.
//!
//! Both guarantee what other statements rely on: one writer at a time ([`Area`]), which reads everything committed before; snapshots that do not
//! change; texts compared by code point.

mod backup;
mod catalogue;
mod file;
mod identity;
mod interruption;
mod json;
pub(crate) mod migrations;
mod path;
mod pool;
mod postgres;
mod route;
mod search;
pub(crate) mod select;
mod sqlite;
mod whole_tables;

use std::path::Path;
use std::time::Duration;

use base::config::UpgradeCopy;
use sqlx::{Any, Transaction};
use tokio_util::sync::CancellationToken;

pub use self::backup::{PARTIAL, bytes_of, free_bytes};
pub(crate) use self::catalogue::{Kind, Migration, Table};
pub use self::file::{CountedCall, Exclusive, Unfit, allow_serving, file_of, must_be_whole};
pub use self::identity::FileFault;
pub(crate) use self::identity::FileIdentity;
pub(crate) use self::interruption::{AT_ONCE, Connections};
pub(crate) use self::json::{parsed as parsed_json, read as read_json};
pub use self::path::url_of;
pub(crate) use self::pool::Pool;
#[cfg(test)]
pub(crate) use self::search::fts5;
pub(crate) use self::search::{Phrase, Term, Texts};
use super::StoreError;
use base::waits::Waits;

/// The kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// The tables that a write changes. Writes to one area take a lock, and read everything that was committed there before. SQLite has one writer in
/// all.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Area {
    /// Everything else.
    Ledger,
    /// The page views by day, whose transactions take seconds.
    History,
    /// Rows that a single statement reads and changes; the database orders such statements.
    Apart,
}

/// An open database.
pub(crate) struct Opened {
    pub dialect: Dialect,
    pub pool: Pool,
    /// One connection for counters: its commits survive the end of the process, but do not wait for the disk.
    pub counts: Pool,
    /// Connections for statements that may have to be stopped.
    pub queries: Connections,
    /// `None` for a server.
    pub file: Option<FileIdentity>,
}

impl Dialect {
    fn of(url: &str) -> Self {
        if base::config::is_file(url) { Self::Sqlite } else { Self::Postgres }
    }

    /// Opens the database at `url` and migrates it. Creates a file; waits at most `patience` for a server.
    pub(crate) async fn open(
        url: &str,
        patience: Duration,
        copy: UpgradeCopy,
        waits: Waits,
    ) -> Result<Opened, StoreError> {
        sqlx::any::install_default_drivers();
        match Self::of(url) {
            Self::Sqlite => sqlite::open(url, copy, waits).await,
            Self::Postgres => postgres::open(url, patience, waits).await,
        }
    }

    /// Opens an existing database of this version read-only.
    pub(crate) async fn open_to_read(url: &str, waits: Waits) -> Result<Opened, StoreError> {
        sqlx::any::install_default_drivers();
        match Self::of(url) {
            Self::Sqlite => sqlite::open_to_read(url, waits).await,
            Self::Postgres => postgres::open_to_read(url, waits).await,
        }
    }

    /// A transaction that may write in `area`. It takes the write lock at its start, so another writer cannot make it fail halfway.
    pub(crate) async fn begin(
        self,
        pool: &Pool,
        area: Area,
    ) -> Result<Transaction<'static, Any>, sqlx::Error> {
        match self {
            Self::Sqlite => pool.begin_with("BEGIN IMMEDIATE").await,
            Self::Postgres => postgres::begin(pool, area).await,
        }
    }

    /// Whether one process uses the database, apart from the moments in which a new one replaces it.
    pub(crate) fn is_of_one_process(self) -> bool {
        self == Self::Sqlite
    }

    /// The time of the database's clock, in milliseconds. `None` for a file: it has only the clock of this machine.
    pub(crate) async fn time(self, pool: &Pool) -> Result<Option<i64>, sqlx::Error> {
        match self {
            Self::Sqlite => Ok(None),
            Self::Postgres => postgres::time(pool).await.map(Some),
        }
    }

    /// A read-only transaction on one snapshot.
    pub(crate) async fn snapshot(self, pool: &Pool) -> Result<Transaction<'static, Any>, sqlx::Error> {
        match self {
            Self::Sqlite => pool.begin_with("BEGIN").await,
            Self::Postgres => postgres::snapshot(pool).await,
        }
    }

    /// Writes a consistent copy to `file`, which must not exist.
    pub(crate) async fn backup(
        self,
        database: Option<&Path>,
        file: &Path,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        match database {
            Some(database) => backup::write(database, file, stop).await,
            None => Err(StoreError::Unsupported(
                "A PostgreSQL database is backed up with PostgreSQL's own tools, for example pg_dump.",
            )),
        }
    }

    /// The key by which a path of page views is unique. PostgreSQL indexes only short values, so its key has a hash.
    pub(crate) const fn key_of_paths(self) -> &'static str {
        match self {
            Self::Sqlite => "project, path",
            Self::Postgres => r"project, sha256(decode(replace(path, '\', '\\'), 'escape'))",
        }
    }

    /// The position of `part` in `text`, counted from 1; 0 if absent.
    pub(crate) fn position(self, text: &str, part: &str) -> String {
        match self {
            Self::Sqlite => format!("INSTR({text}, {part})"),
            Self::Postgres => format!("STRPOS({text}, {part})"),
        }
    }
}

#[cfg(test)]
impl Connections {
    /// The same connections with another time limit.
    pub(crate) fn lasting(&self, longest: Duration) -> Self {
        match self {
            Self::Sqlite(pool, _) => Self::Sqlite(pool.clone(), longest),
            Self::Postgres(pool) => Self::Postgres(postgres::query_connections_of_test(pool, longest)),
        }
    }
}

/// The OpenTelemetry name of the kind of database.
pub fn system(url: &str) -> &'static str {
    match Dialect::of(url) {
        Dialect::Sqlite => "sqlite",
        Dialect::Postgres => "postgresql",
    }
}

/// Whether both URLs name one database, as far as URLs can be compared.
pub fn is_same(one: &str, other: &str) -> bool {
    match (Dialect::of(one), Dialect::of(other)) {
        (Dialect::Sqlite, Dialect::Sqlite) => sqlite::is_same(one, other),
        (Dialect::Postgres, Dialect::Postgres) => postgres::is_same(one, other),
        _ => false,
    }
}

/// Whether an error with this code is about the values of a statement.
pub(crate) fn concerns_values(code: &str) -> bool {
    postgres::concerns_values(code) || sqlite::concerns_values(code)
}

/// Whether an error with this code ended the connection, perhaps after a commit.
pub(crate) fn loses_connection(code: &str) -> bool {
    postgres::loses_connection(code)
}

/// Whether the database stopped a statement that took too long.
pub(crate) fn is_interruption(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| [sqlite::INTERRUPTED, postgres::INTERRUPTED].contains(&code.as_ref()))
}
