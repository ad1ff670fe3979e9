//! A SQLite database as a file: whether another process has it open, whether it is intact, and whether it may be served. Reads only the tables in
//! which a process leaves traces.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, fcntl_lock};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteLockingMode};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};

use super::Dialect;
use super::path::{options_of, path_of};
use crate::StoreError;
use model::time::Timestamp;

/// SQLite's primary error codes: another process has a lock; the file is damaged; the file is no SQLite database.
const BUSY: i32 = 5;
const CORRUPT: i32 = 11;
const NO_DATABASE: i32 = 26;

/// The user version of a file that was set aside. A served database has 0.
const NOT_SERVED: i64 = 1;

/// How many faults of a damaged file are reported.
const FAULTS: usize = 3;

/// Why a file cannot replace a database.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    #[error("it is no SQLite database")]
    NoDatabase,
    #[error("it is damaged: {0}")]
    Damaged(String),
    #[error("it is a database, but none of Docket")]
    NotDocket,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A file that is open in this process only. No other process can open it until this is closed.
pub struct Exclusive {
    /// `None` if the file is so damaged that SQLite cannot open it.
    connection: Option<SqliteConnection>,
    /// The lock, if there is no connection.
    _file: Option<File>,
    /// The path of its rollback journal.
    journal: PathBuf,
}

/// The connection that is opened before all others, and what it found.
pub(super) struct FirstConnection {
    /// In WAL mode, no other process can lock the file exclusively while this is open.
    pub(super) connection: SqliteConnection,
    /// Whether the file was set aside.
    pub(super) is_set_aside: bool,
}

/// A counted upstream call: its id, scope and time.
pub type CountedCall = (String, String, i64);

/// The file of the database at `url`; `None` for a server.
pub fn file_of(url: &str) -> Option<PathBuf> {
    (Dialect::of(url) == Dialect::Sqlite).then(|| path_of(url))
}

impl Exclusive {
    /// Locks the existing file. Fails if another process has it open.
    ///
    /// `docket serve` keeps connections open from its start to its end, and each has a lock of SQLite.
    pub async fn lock(path: &Path) -> Result<Self, StoreError> {
        let mut journal = path.as_os_str().to_owned();
        journal.push("-journal");
        let journal = PathBuf::from(journal);
        match open_alone(options(path)?).await {
            Ok(connection) => Ok(Self { connection: Some(connection), _file: None, journal }),
            Err(error) => match code(&error) {
                Some(BUSY) => Err(StoreError::InUse(path.to_owned())),
                Some(CORRUPT | NO_DATABASE) => {
                    let file = lock(path).map_err(|error| match error.kind() {
                        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::PermissionDenied => {
                            StoreError::InUse(path.to_owned())
                        }
                        _ => StoreError::File { path: path.to_owned(), error },
                    })?;
                    Ok(Self { connection: None, _file: Some(file), journal })
                }
                _ => Err(error.into()),
            },
        }
    }

    /// The last heartbeat of a process that served the file; `None` if there was none, or it cannot be read.
    pub async fn last_heartbeat(&mut self) -> Option<Timestamp> {
        let connection = self.connection.as_mut()?;
        let seen: Option<i64> =
            sqlx::query_scalar("SELECT MAX(seen_at) FROM instances").fetch_one(connection).await.ok()?;
        seen.map(Timestamp::from_millis)
    }

    /// The upstream calls that were counted after `since`, as far as they can be read.
    pub async fn calls_after(&mut self, since: Timestamp) -> Vec<CountedCall> {
        let Some(connection) = &mut self.connection else { return Vec::new() };
        let calls = sqlx::query_as("SELECT id, scope, at FROM upstream_calls WHERE at > $1");
        calls.bind(since.as_millis()).fetch_all(connection).await.unwrap_or_default()
    }

    /// Writes the write-ahead log into the file and removes the log. Afterwards no other file belongs to the database.
    pub async fn checkpoint(&mut self) -> Result<(), StoreError> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        for statement in
            ["ROLLBACK", "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = MEMORY", "BEGIN EXCLUSIVE"]
        {
            sqlx::query(statement).execute(&mut *connection).await?;
        }
        // With an exclusive lock SQLite leaves the rollback journal behind. It is empty.
        match std::fs::remove_file(&self.journal) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::File { path: self.journal.clone(), error })
            }
            _ => Ok(()),
        }
    }

    /// Marks the file as set aside, so that it is not served. Writes no file beside it: another database uses its name by now.
    pub async fn set_aside(mut self) -> Result<(), StoreError> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        sqlx::query("ROLLBACK").execute(&mut *connection).await?;
        mark(connection, NOT_SERVED).await?;
        self.close().await
    }

    /// Releases the lock.
    pub async fn close(self) -> Result<(), StoreError> {
        match self.connection {
            Some(connection) => Ok(connection.close().await?),
            None => Ok(()),
        }
    }
}

/// Fails unless the file is an intact Docket database. No process may have it open.
pub async fn must_be_whole(path: &Path) -> Result<(), Unfit> {
    let damaged = |error: sqlx::Error| match code(&error) {
        Some(NO_DATABASE) => Unfit::NoDatabase,
        Some(CORRUPT) => Unfit::Damaged(error.to_string()),
        _ => Unfit::Store(error.into()),
    };
    let mut connection = SqliteConnection::connect_with(&options(path)?).await.map_err(damaged)?;
    let faults: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_all(&mut connection).await.map_err(damaged)?;
    if faults.iter().any(|line| line != "ok") {
        let faults = faults.iter().flat_map(|text| text.lines()).take(FAULTS);
        return Err(Unfit::Damaged(faults.collect::<Vec<_>>().join("; ")));
    }
    let orphans: Vec<(String, i64)> = sqlx::query_as(
        "SELECT \"table\", COUNT(*) FROM pragma_foreign_key_check GROUP BY \"table\" ORDER BY 1",
    )
    .fetch_all(&mut connection)
    .await
    .map_err(damaged)?;
    if !orphans.is_empty() {
        let faults = orphans
            .iter()
            .take(FAULTS)
            .map(|(table, rows)| format!("{rows} rows of {table} refer to rows that do not exist"));
        return Err(Unfit::Damaged(faults.collect::<Vec<_>>().join("; ")));
    }
    let migrated: i64 = sqlx::query_scalar(
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ('_sqlx_migrations', 'users', 'messages')",
    )
    .fetch_one(&mut connection)
    .await
    .map_err(damaged)?;
    connection.close().await.map_err(StoreError::from)?;
    if migrated == 3 { Ok(()) } else { Err(Unfit::NotDocket) }
}

/// Marks a copy of a database that was set aside as one that may be served.
pub async fn allow_serving(path: &Path) -> Result<(), StoreError> {
    let mut connection = SqliteConnection::connect_with(&options(path)?).await?;
    mark(&mut connection, 0).await?;
    Ok(connection.close().await?)
}

impl Dialect {
    /// Fails if the file was set aside.
    pub(crate) async fn must_be_served(self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        if self == Self::Postgres {
            return Ok(());
        }
        let row = sqlx::query(
            "SELECT user_version, file FROM pragma_user_version, pragma_database_list WHERE name = 'main'",
        );
        let row = row.fetch_one(connection).await?;
        match row.try_get::<i64, _>(0)? {
            NOT_SERVED => Err(StoreError::SetAside(PathBuf::from(row.try_get::<String, _>(1)?))),
            _ => Ok(()),
        }
    }
}

/// Opens the file and reads whether it may be served.
pub(super) async fn open_first(path: &Path) -> Result<FirstConnection, StoreError> {
    let mut connection = SqliteConnection::connect_with(&options(path)?).await?;
    let version: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut connection).await?;
    Ok(FirstConnection { connection, is_set_aside: version == NOT_SERVED })
}

async fn mark(connection: &mut SqliteConnection, version: i64) -> Result<(), StoreError> {
    sqlx::query(AssertSqlSafe(format!("PRAGMA user_version = {version}"))).execute(connection).await?;
    Ok(())
}

/// A connection with an exclusive lock.
async fn open_alone(options: SqliteConnectOptions) -> Result<SqliteConnection, sqlx::Error> {
    let options = options.busy_timeout(Duration::ZERO).locking_mode(SqliteLockingMode::Exclusive);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut connection).await?;
    // If the schema cannot be read, nothing else can.
    sqlx::query("SELECT COUNT(*) FROM sqlite_master").execute(&mut connection).await?;
    Ok(connection)
}

fn options(path: &Path) -> Result<SqliteConnectOptions, StoreError> {
    Ok(options_of(path)?.busy_timeout(Duration::from_secs(5)))
}

/// Locks all bytes of the file, including those that SQLite locks.
fn lock(path: &Path) -> std::io::Result<File> {
    let file = File::options().read(true).write(true).open(path)?;
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

fn code(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error()?.code()?.parse::<i32>().ok()?;
    Some(code & 0xff)
}
