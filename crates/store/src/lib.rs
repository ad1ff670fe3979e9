//! The database layer: all SQL, and the conversion of rows to model types. Callers decide what to send and what a state means.
//! Each write names on whose authority it runs (`write`).
//!
//! Each statement runs on SQLite and PostgreSQL: `$1` parameters, integers for timestamps, `ON CONFLICT`, and only text and big integer columns.
//! `dialect` has the differences.

pub mod accounts;
pub mod audit;
pub mod authorization;
mod dialect;
mod ids;
pub mod jobs;
pub mod limits;
pub mod maintenance;
pub mod page_views;
pub mod platform;
pub mod pull_requests;
mod query_pool;
pub mod webhooks;
mod write;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::any::AnyRow;
use sqlx::migrate::MigrateError;
use sqlx::{Any, Row, Transaction};
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use self::authorization::Revoked;
pub use self::dialect::{
    CountedCall, Exclusive, FileFault, PARTIAL, Unfit, allow_serving, bytes_of, file_of, free_bytes, is_same,
    must_be_whole, system, url_of,
};
use self::dialect::{Dialect, FileIdentity, Opened, Pool};
use self::ids::new_id;
use self::jobs::list::KnownStates;
pub use self::write::Authority;
pub(crate) use self::write::Change;
use base::config::UpgradeCopy;
use base::waits::Waits;
use model::error::AppError;
use model::id::{JobId, ProjectId};
use model::limits::Limit;
use model::time::Timestamp;

/// How long startup waits for a database server that does not answer, unless configured.
pub const SERVER_PATIENCE: Duration = Duration::from_secs(30);

/// A handle on the database; clones share its connections.
#[derive(Clone)]
pub struct Store {
    dialect: Dialect,
    pool: Pool,
    /// One connection for counters.
    counts: Pool,
    queries: query_pool::QueryPool,
    waits: Waits,
    /// `None` for a database server.
    file: Option<FileIdentity>,
    /// The id of this process among those that share the database.
    instance: Arc<str>,
    states: Arc<KnownStates>,
}

/// A database error.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("the database did not answer: {0}")]
    Unavailable(sqlx::Error),
    #[error(transparent)]
    Revoked(Revoked),
    #[error("the database could not be migrated: {0}")]
    Migration(MigrateError),
    #[error(
        "the database was written by a newer Docket (its schema has step {0}, which this one does not know): use that version"
    )]
    Newer(i64),
    #[error(
        "the database was written by a Docket before 0.1.0 (its schema has step {0}), and this version upgrades only databases of 0.1.0 or \
         later: start version 0.1.0 once, then this one"
    )]
    Older(i64),
    #[error("PostgreSQL at {url} did not answer within {waited} s: {error}")]
    Down { url: String, error: String, waited: u64 },
    #[error("{0}")]
    Misconfigured(String),
    #[error("{0}")]
    Unfit(String),
    #[error("{0}")]
    Unsupported(&'static str),
    #[error(
        "{0} was set aside by `docket restore`, and is not used as it is: its queued prompts may have been sent since. \
         `docket restore {0}` puts it back, and puts these prompts on hold"
    )]
    SetAside(PathBuf),
    #[error(
        "another process has {0} open: stop `docket serve`, and whatever else uses the file, and try again"
    )]
    InUse(PathBuf),
    #[error("the database file {path} cannot be used: {error}")]
    File { path: PathBuf, error: std::io::Error },
    #[error("too many queries are waiting")]
    Busy,
    #[error("a query took too long and was stopped")]
    Stopped,
    #[error("a person has {0} prompts in the queue")]
    QueueFull(u32),
    #[error("{0}")]
    Full(&'static Limit),
    #[error("another project has the job of the platform as {0}")]
    OtherProject(ProjectId, JobId),
    #[error("another process wrote the same meanwhile")]
    Overtaken,
    #[error("a day has views of a page that was not known when its pages were read")]
    UnknownPath,
    #[error("the database contains {0}, which this version does not know")]
    Corrupt(String),
}

impl StoreError {
    /// Whether a stored value could not be parsed.
    pub fn is_corrupt(&self) -> bool {
        use sqlx::Error::{ColumnDecode, ColumnIndexOutOfBounds, ColumnNotFound, Decode, RowNotFound};
        matches!(
            self,
            Self::Corrupt(_)
                | Self::UnknownPath
                | Self::Unavailable(
                    ColumnDecode { .. }
                        | ColumnIndexOutOfBounds { .. }
                        | ColumnNotFound(_)
                        | Decode(_)
                        | RowNotFound
                )
        )
    }

    /// Whether the database responded and refused a statement, for example because of a constraint. Another statement may succeed.
    pub fn is_of_statement(&self) -> bool {
        matches!(self, Self::Unavailable(sqlx::Error::Database(_))) || self.is_corrupt()
    }

    /// Whether the values of the statement or of its rows are the cause, so that statements about other rows can succeed. Not a
    /// full disk, a lock or a lost connection.
    pub fn concerns_values(&self) -> bool {
        match self {
            Self::Unavailable(sqlx::Error::Database(error)) => {
                error.code().is_some_and(|code| self::dialect::concerns_values(&code))
            }
            _ => self.is_corrupt(),
        }
    }

    /// Whether the connection was lost, so that a write may have been committed although it failed. A server that shuts down, or a pooler in front
    /// of it, reports this as an error of the statement.
    pub fn has_unknown_end(&self) -> bool {
        use sqlx::Error::{Database, Io, Protocol, Tls, WorkerCrashed};
        match self {
            Self::Unavailable(Io(_) | Protocol(_) | Tls(_) | WorkerCrashed) => true,
            Self::Unavailable(Database(error)) => {
                error.code().is_some_and(|code| self::dialect::loses_connection(&code))
            }
            _ => false,
        }
    }

    /// Whether a unique constraint was violated.
    pub fn is_duplicate(&self) -> bool {
        matches!(self, Self::Unavailable(sqlx::Error::Database(error)) if error.is_unique_violation())
    }
}

impl Store {
    /// Opens the database at `url` (`sqlite://PATH` or `postgres://…`) and migrates it. A file is created if it does not exist.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_within(url, SERVER_PATIENCE, UpgradeCopy::Never).await
    }

    /// As [`Self::open`], with waits other than those of an installation.
    pub async fn open_with(url: &str, waits: Waits) -> Result<Self, StoreError> {
        Self::opened(url, SERVER_PATIENCE, UpgradeCopy::Never, waits).await
    }

    /// As [`Self::open`], but waits at most `patience` for a server, and copies a file before it is migrated.
    pub async fn open_within(url: &str, patience: Duration, copy: UpgradeCopy) -> Result<Self, StoreError> {
        Self::opened(url, patience, copy, Waits::default()).await
    }

    /// Opens an existing database of this version read-only; nothing is created or migrated.
    pub async fn open_to_read(url: &str) -> Result<Self, StoreError> {
        let waits = Waits::default();
        Ok(Self::of(Dialect::open_to_read(url, waits).await?, waits))
    }

    async fn opened(
        url: &str,
        patience: Duration,
        copy: UpgradeCopy,
        waits: Waits,
    ) -> Result<Self, StoreError> {
        let store = Self::of(Dialect::open(url, patience, copy, waits).await?, waits);
        ids::go_on_after(&store.pool).await?;
        Ok(store)
    }

    fn of(Opened { dialect, pool, counts, queries, file }: Opened, waits: Waits) -> Self {
        let queries = query_pool::QueryPool::of(queries, waits);
        let (instance, states) = (new_id().into(), Arc::default());
        Self { dialect, pool, counts, queries, waits, file, instance, states }
    }

    pub fn waits(&self) -> Waits {
        self.waits
    }

    /// Whether the database responds soon, and is migrated.
    pub async fn ready(&self) -> Result<(), StoreError> {
        let response = sqlx::query("SELECT COUNT(*) FROM jobs WHERE id = ''").fetch_one(&self.pool);
        match tokio::time::timeout(self.waits.ready, response).await {
            Ok(response) => Ok(response.map(drop)?),
            Err(_) => Err(StoreError::Unavailable(sqlx::Error::PoolTimedOut)),
        }
    }

    /// The path of the file that is open; `None` if the database is on a server.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_ref().map(FileIdentity::path)
    }

    /// Fails if the path of the database no longer leads to the file that is open.
    pub fn check_file(&self) -> Result<(), FileFault> {
        self.file.as_ref().map_or(Ok(()), FileIdentity::check)
    }

    /// Writes a consistent copy to `file`, which must not exist. Concurrent reads and writes continue. `stop` ends the copy.
    pub async fn backup(&self, file: &Path, stop: &CancellationToken) -> Result<(), StoreError> {
        self.dialect.backup(self.file(), file, stop).await
    }

    /// Waits for running queries and closes all connections.
    pub async fn close(&self) {
        self.queries.close().await;
        self.counts.close().await;
        self.pool.close().await;
    }

    /// A read-only transaction on one snapshot.
    async fn begin_to_read(&self) -> Result<Transaction<'static, Any>, StoreError> {
        Ok(self.dialect.snapshot(&self.pool).await?)
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::AnyDriverError(cause) if cause.is::<Revoked>() => Self::Revoked(Revoked),
            error => Self::Unavailable(error),
        }
    }
}

impl From<MigrateError> for StoreError {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::VersionMissing(version) => Self::Newer(version),
            error => Self::Migration(error),
        }
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Revoked(_) => Self::access_changed(),
            StoreError::Stopped => Self::query_stopped(),
            StoreError::Busy => Self::too_many_queries(),
            StoreError::QueueFull(most) => Self::queue_full(most),
            StoreError::Full(limit) => limit.into(),
            error if error.is_corrupt() => {
                tracing::error!(%error, "the database contains a value that cannot be read");
                Self::database_unreadable()
            }
            error => {
                tracing::error!(%error, "database error");
                match error.has_unknown_end() {
                    true => Self::database_silent(),
                    false => Self::database_unavailable(),
                }
            }
        }
    }
}

/// Parses a column as a `T`.
fn word<T: FromStr>(row: &AnyRow, column: &str) -> Result<T, StoreError> {
    parsed(&row.try_get::<String, _>(column)?, column)
}

/// Parses a nullable column as a `T`.
fn optional_word<T: FromStr>(row: &AnyRow, column: &str) -> Result<Option<T>, StoreError> {
    row.try_get::<Option<String>, _>(column)?.map(|text| parsed(&text, column)).transpose()
}

/// A column with a point in time.
fn instant(row: &AnyRow, column: &str) -> Result<Timestamp, StoreError> {
    Ok(Timestamp::from_millis(row.try_get(column)?))
}

/// A nullable column with a point in time.
fn optional_instant(row: &AnyRow, column: &str) -> Result<Option<Timestamp>, StoreError> {
    Ok(row.try_get::<Option<i64>, _>(column)?.map(Timestamp::from_millis))
}

fn parsed<T: FromStr>(text: &str, column: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("“{text}” in {column}")))
}

#[cfg(test)]
mod tests;
