//! The database: all SQL and its mapping to the model. Must not decide what to send, whom to admit or what a state
//! means: its callers do.
//!
//! The SQL is what SQLite and PostgreSQL both accept: `$1` parameters, integers for timestamps, `ON CONFLICT`, and no
//! types except text and big integers.

pub mod annotations;
pub mod archive_and_tags;
mod as_json;
pub mod audit;
pub mod batches;
pub mod budget;
pub mod clock_rollback;
pub mod drafts;
pub mod figures;
mod held;
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
mod lifecycle;
mod listed_job;
pub mod looked_at;
mod messages;
pub mod passkeys;
pub mod polls;
mod questions;
pub mod queue;
pub mod retention;
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
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::any::{AnyPoolOptions, AnyRow};
use sqlx::migrate::Migrator;
use sqlx::{Any, AnyConnection, AnyPool, Connection, Row, Transaction};
use thiserror::Error;

use self::ids::new_id;
use crate::error::{AppError, ErrorCode};

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// A handle on the database; clones share its connections.
#[derive(Clone)]
pub struct Store {
    pool: AnyPool,
    /// One connection for counts that stand alone.
    counts: AnyPool,
    questions: questions::Questions,
    states: Arc<job_list::KnownStates>,
}

/// A database error.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("the database did not answer: {0}")]
    Unavailable(#[from] sqlx::Error),
    #[error("the database could not be migrated: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    #[error("the database file {path} cannot be used: {error}")]
    File { path: PathBuf, error: std::io::Error },
    #[error("too many questions wait")]
    Busy,
    #[error("a question took too long and was stopped")]
    Stopped,
    #[error("a person has {0} prompts in the queue")]
    QueueFull(u32),
    #[error("another process wrote the same meanwhile")]
    Overtaken,
    #[error("the database contains {0}, which this version does not know")]
    Corrupt(String),
}

impl StoreError {
    /// Whether the database answered, and with something that cannot be understood.
    pub fn is_corrupt(&self) -> bool {
        use sqlx::Error::{ColumnDecode, ColumnIndexOutOfBounds, ColumnNotFound, Decode, RowNotFound};
        matches!(
            self,
            Self::Corrupt(_)
                | Self::Unavailable(
                    ColumnDecode { .. }
                        | ColumnIndexOutOfBounds { .. }
                        | ColumnNotFound(_)
                        | Decode(_)
                        | RowNotFound
                )
        )
    }

    /// Whether a unique constraint was violated.
    pub fn is_duplicate(&self) -> bool {
        matches!(self, Self::Unavailable(sqlx::Error::Database(error)) if error.is_unique_violation())
    }
}

impl Store {
    /// Opens the database at `url` (`sqlite://PATH`), creates it if it does not exist, and migrates it.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let path = create_file(url)?;
        let file = format!("sqlite://{}?mode=rwc", path.display());
        let pool = connections(8, Durability::Disk).connect(&file).await?;
        migrate(&pool).await?;
        ids::go_on_after(&pool).await?;
        let counts = connections(1, Durability::Process).connect_lazy(&file)?;
        Ok(Self { pool, counts, questions: questions::Questions::of(&path), states: Arc::default() })
    }

    /// Opens an existing database of this version read-only; nothing is created or migrated.
    pub async fn open_to_read(url: &str) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let path = path_of(url);
        std::fs::File::open(&path).map_err(|error| StoreError::File { path: path.clone(), error })?;
        let pool = AnyPoolOptions::new()
            .max_connections(2)
            .acquire_timeout(Duration::from_secs(5))
            .connect(&format!("sqlite://{}?mode=ro", path.display()))
            .await?;
        let counts = pool.clone();
        Ok(Self { pool, counts, questions: questions::Questions::of(&path), states: Arc::default() })
    }

    /// Whether the database responds and is migrated.
    pub async fn ready(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT COUNT(*) FROM jobs WHERE id = ''").fetch_one(&self.pool).await?;
        Ok(())
    }

    /// Writes a consistent copy to `file`, which must not exist. Concurrent reads and writes continue.
    pub async fn backup(&self, file: &Path) -> Result<(), StoreError> {
        create_private(file, true).map_err(|error| StoreError::File { path: file.to_owned(), error })?;
        sqlx::query("VACUUM INTO $1").bind(file.display().to_string()).execute(&self.pool).await?;
        Ok(())
    }

    /// Waits for running queries and closes all connections.
    pub async fn close(&self) {
        self.questions.close().await;
        self.counts.close().await;
        self.pool.close().await;
    }

    /// A transaction that may write. It takes SQLite's write lock at its start, so that it cannot fail halfway because
    /// of a concurrent write.
    async fn begin(&self) -> Result<Transaction<'static, Any>, StoreError> {
        Ok(self.pool.begin_with("BEGIN IMMEDIATE").await?)
    }

    /// A transaction that only reads, and sees one moment.
    async fn begin_to_read(&self) -> Result<Transaction<'static, Any>, StoreError> {
        Ok(self.pool.begin().await?)
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Stopped => Self::new(
                ErrorCode::Busy,
                "This took longer than 2 seconds and was stopped. Ask for less, for example with a longer word or another filter.",
            ),
            StoreError::Busy => Self::new(
                ErrorCode::Busy,
                "Too many people search or count at the moment. Try again in a few seconds.",
            ),
            StoreError::QueueFull(most) => Self::new(
                ErrorCode::BudgetSpent,
                format!(
                    "One person can have at most {most} prompts in the queue, and nothing was added. Wait until some were sent, or cancel some."
                ),
            ),
            error if error.is_corrupt() => {
                tracing::error!(%error, "the database holds what cannot be read");
                Self::new(
                    ErrorCode::Internal,
                    "Docket's database holds something that this version cannot read. Ask an administrator to look at the log.",
                )
            }
            error => {
                tracing::error!(%error, "database error");
                Self::database_unavailable()
            }
        }
    }
}

/// Migrates the schema in one transaction: of two processes that start at once the second waits and finds it done, and
/// an interrupted one leaves nothing behind.
async fn migrate(pool: &AnyPool) -> Result<(), StoreError> {
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    MIGRATIONS.run_direct(None, &mut *tx, false).await?;
    Ok(tx.commit().await?)
}

/// What a commit survives.
#[derive(Clone, Copy)]
enum Durability {
    /// A power cut.
    Disk,
    /// The end of the process, but after a power cut the last commits may be gone.
    Process,
}

fn connections(count: u32, durability: Durability) -> AnyPoolOptions {
    AnyPoolOptions::new()
        .max_connections(count)
        .acquire_timeout(Duration::from_secs(5))
        // A file cannot disconnect as a server can; the ping would cost another round trip to the connection's thread per
        // statement.
        .test_before_acquire(false)
        .after_connect(move |connection, _| Box::pin(prepare(connection, durability)))
        // After an I/O error SQLite has rolled back by itself, but sqlx still counts a transaction as open.
        .before_acquire(|connection, _| Box::pin(std::future::ready(Ok(!connection.is_in_transaction()))))
}

async fn prepare(connection: &mut AnyConnection, durability: Durability) -> Result<(), sqlx::Error> {
    for pragma in [
        "PRAGMA busy_timeout = 5000",
        "PRAGMA journal_mode = WAL",
        match durability {
            Durability::Disk => "PRAGMA synchronous = FULL",
            Durability::Process => "PRAGMA synchronous = NORMAL",
        },
        "PRAGMA foreign_keys = ON",
        // In KiB, the maximum per connection: enough for what is looked up by its key. Questions have more.
        "PRAGMA cache_size = -2048",
    ] {
        sqlx::query(pragma).execute(&mut *connection).await?;
    }
    Ok(())
}

/// The path in `url`. Creates an empty file there, readable only by its owner, if there is none.
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

/// Parses a column as a `T`.
fn word<T: FromStr>(row: &AnyRow, column: &str) -> Result<T, StoreError> {
    parsed(&row.try_get::<String, _>(column)?, column)
}

/// A column that holds one of the words of `T`, or nothing.
fn optional_word<T: FromStr>(row: &AnyRow, column: &str) -> Result<Option<T>, StoreError> {
    row.try_get::<Option<String>, _>(column)?.map(|text| parsed(&text, column)).transpose()
}

fn parsed<T: FromStr>(text: &str, column: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("“{text}” in {column}")))
}

#[cfg(test)]
mod tests;
