//! The ledger in the database: all SQL, and nothing but SQL and its mapping to the model.
//! Must not decide: what to send, whom to let in and what a state means is decided by its callers.
//!
//! The SQL is what SQLite and PostgreSQL both accept: `$1` parameters, integers for instants,
//! `ON CONFLICT`, and no types beyond text and big integers.

pub mod annotations;
pub mod archive_and_tags;
mod as_json;
pub mod audit;
pub mod batches;
pub mod budget;
pub mod clock_rollback;
pub mod drafts;
pub mod history;
pub mod history_queries;
pub mod identities;
mod ids;
pub mod imports;
pub mod intents;
pub mod invitations;
mod job_filter;
pub mod job_list;
pub mod jobs;
mod listed_job;
pub mod polls;
pub mod queue;
pub mod rollups;
pub mod saved_views;
mod search;
pub mod second_factors;
mod select;
pub mod sessions;
pub mod similar;
pub mod templates;
pub mod unresolved;
pub mod users;
pub mod webhook_events;
pub mod webhooks;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::any::AnyPoolOptions;
use sqlx::migrate::Migrator;
use sqlx::{Any, AnyConnection, AnyPool, Connection, Row, Transaction};
use thiserror::Error;

use self::ids::new_id;
use crate::error::AppError;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// A handle on the database; cloning it shares the connections.
#[derive(Clone)]
pub struct Store {
    pool: AnyPool,
    states: Arc<job_list::KnownStates>,
}

/// Why the database did not do as asked.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("the database did not answer: {0}")]
    Unavailable(#[from] sqlx::Error),
    #[error("the database's schema could not be brought up to date: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    #[error("the database file {path} cannot be used: {error}")]
    File { path: PathBuf, error: std::io::Error },
    #[error("the database holds {0}, which this version does not know")]
    Corrupt(String),
}

impl StoreError {
    /// Whether something that there can be only one of would have been there twice.
    pub fn is_duplicate(&self) -> bool {
        matches!(self, Self::Unavailable(sqlx::Error::Database(error)) if error.is_unique_violation())
    }
}

impl Store {
    /// Opens the database of `url` (`sqlite://PATH`), creates it if there is none, and migrates it.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let path = create_file(url)?;
        let pool = AnyPoolOptions::new()
            .max_connections(8)
            .acquire_timeout(Duration::from_secs(5))
            // A file does not go away as a server does; the ping would be one more turn of the connection's thread for each statement.
            .test_before_acquire(false)
            .after_connect(|connection, _| Box::pin(prepare(connection)))
            // After an error of the disk SQLite has rolled back by itself, and sqlx believes for ever that it has not.
            .before_acquire(|connection, _| Box::pin(std::future::ready(Ok(!connection.is_in_transaction()))))
            .connect(&format!("sqlite://{}?mode=rwc", path.display()))
            .await?;
        migrate(&pool).await?;
        ids::go_on_after(&pool).await?;
        Ok(Self { pool, states: Arc::default() })
    }

    /// Opens a database that is there, of this version, and only to read it: nothing is created or changed.
    pub async fn open_to_read(url: &str) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let path = path_of(url);
        std::fs::File::open(&path).map_err(|error| StoreError::File { path: path.clone(), error })?;
        let pool = AnyPoolOptions::new()
            .max_connections(2)
            .acquire_timeout(Duration::from_secs(5))
            .connect(&format!("sqlite://{}?mode=ro", path.display()))
            .await?;
        Ok(Self { pool, states: Arc::default() })
    }

    /// Whether the database answers and is migrated.
    pub async fn ready(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT COUNT(*) FROM jobs WHERE id = ''").fetch_one(&self.pool).await?;
        Ok(())
    }

    /// Writes a consistent copy to `file`, which must not exist, while others read and write.
    pub async fn backup(&self, file: &Path) -> Result<(), StoreError> {
        create_private(file, true).map_err(|error| StoreError::File { path: file.to_owned(), error })?;
        sqlx::query("VACUUM INTO $1").bind(file.display().to_string()).execute(&self.pool).await?;
        Ok(())
    }

    /// Waits for running queries and closes all connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// A transaction that may write: it takes SQLite's write lock at once, so that it can never
    /// fail halfway because another one wrote in between.
    async fn begin(&self) -> Result<Transaction<'static, Any>, StoreError> {
        Ok(self.pool.begin_with("BEGIN IMMEDIATE").await?)
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "database");
        Self::database_unavailable()
    }
}

/// Brings the schema up to date in one step: of two processes that start at once the second waits and finds it done, and
/// one that ends halfway leaves nothing behind.
async fn migrate(pool: &AnyPool) -> Result<(), StoreError> {
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    MIGRATIONS.run_direct(None, &mut *tx, false).await?;
    Ok(tx.commit().await?)
}

async fn prepare(connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
    for pragma in [
        "PRAGMA busy_timeout = 5000",
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "PRAGMA foreign_keys = ON",
        // In KiB, and at most, of each connection: the list of 100,000 jobs and a search of it fit.
        "PRAGMA cache_size = -16384",
    ] {
        sqlx::query(pragma).execute(&mut *connection).await?;
    }
    Ok(())
}

/// The path in `url`, where an empty file that only its owner can read now is, if there was none.
fn create_file(url: &str) -> Result<PathBuf, StoreError> {
    let path = path_of(url);
    create_private(&path, false).map_err(|error| StoreError::File { path: path.clone(), error })?;
    Ok(path)
}

fn path_of(url: &str) -> PathBuf {
    let path = url.trim_start_matches("sqlite://");
    PathBuf::from(path.split_once('?').map_or(path, |(path, _)| path))
}

fn create_private(path: &Path, must_be_new: bool) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(!must_be_new).create_new(must_be_new).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|_| ())
}

/// A column that holds one of the words of `T`.
fn word<T: std::str::FromStr>(row: &sqlx::any::AnyRow, column: &str) -> Result<T, StoreError> {
    let text: String = row.try_get(column)?;
    text.parse().map_err(|_| StoreError::Corrupt(format!("“{text}” in {column}")))
}

#[cfg(test)]
mod tests;
