//! SQLite: opens a file and applies its settings.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Result as IoResult};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use sqlx::any::AnyPoolOptions;
use sqlx::migrate::Migrator;
use sqlx::{AnyConnection, AssertSqlSafe, ConnectOptions, Connection};

use super::file::open_first;
use super::identity::{FileFault, FileIdentity};
use super::migrations::{self, OfSqlite, migrator};
use super::path::{any_options_of, path_of};
use super::{Connections, Dialect, Opened, Pool, backup};
use crate::StoreError;
use base::config::UpgradeCopy;
use base::waits::Waits;

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(migrator::<OfSqlite>);

/// The error code of an interrupted statement.
pub(super) const INTERRUPTED: &str = "9";

/// The primary codes of errors about values: TOOBIG, CONSTRAINT, MISMATCH and RANGE.
const OF_VALUES: [u32; 4] = [18, 19, 20, 25];

/// Tables with each column, its type, and its position in the primary key.
pub(super) const COLUMNS: &str = "SELECT t.name, c.name, c.type, NULLIF(c.pk, 0)
    FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c
    WHERE t.schema = 'main' AND t.type = 'table' AND SUBSTR(t.name, 1, 7) <> 'sqlite_' AND c.hidden = 0";

/// Tables with the tables they reference.
pub(super) const REFERENCES: &str = "SELECT DISTINCT t.name, f.\"table\"
    FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) f WHERE t.schema = 'main' AND t.type = 'table'";

const DANGLING: &str = "it is a symbolic link to a file that does not exist. Docket creates no database through a link: \
    set the path of the file itself";

/// The room that a start needs at least, in bytes.
const ROOM_TO_START: u64 = 1024 * 1024;

/// What a commit survives.
#[derive(Clone, Copy)]
enum Durability {
    /// A power cut.
    Disk,
    /// The end of the process, but after a power cut the last commits may be gone.
    Process,
}

impl Durability {
    /// The idle timeout of a connection.
    fn idles(self) -> Option<Duration> {
        match self {
            Self::Disk => Some(Duration::from_secs(600)),
            Self::Process => None,
        }
    }

    /// How long a caller waits for a connection. There is one connection for counters: a caller may wait behind a writer, which waits for the file at
    /// most `waits.lock`.
    fn acquire_timeout(self, waits: Waits) -> Duration {
        match self {
            Self::Disk => waits.connection,
            Self::Process => waits.connection + 2 * waits.lock,
        }
    }
}

pub(super) async fn open(url: &str, copy: UpgradeCopy, waits: Waits) -> Result<Opened, StoreError> {
    let path = path_of(url);
    open_file(&path, copy, waits).await.map_err(|error| explained(error, &path, backup::free_bytes(&path)))
}

/// SQLite reports a full disk in several ways, none of which names it. `free`: the bytes that are left on it.
fn explained(error: StoreError, path: &Path, free: IoResult<u64>) -> StoreError {
    match (error, free) {
        (StoreError::Unavailable(_), Ok(free)) if free < ROOM_TO_START => {
            StoreError::File { path: path.to_owned(), error: ErrorKind::StorageFull.into() }
        }
        (error, _) => error,
    }
}

async fn open_file(path: &Path, copy: UpgradeCopy, waits: Waits) -> Result<Opened, StoreError> {
    let options = any_options_of(path, false)?;
    let metadata = create_file(path).and_then(|file| file.metadata());
    let file = identified(path, metadata)?;
    let first = open_first(path).await?;
    if first.is_set_aside {
        return Err(StoreError::SetAside(path.to_owned()));
    }
    let pool = Pool::direct(connections(8, Durability::Disk, waits).connect_with(options.clone()).await?);
    // The log would have the whole text of each step that takes long.
    let quiet = options.clone().disable_statement_logging();
    let migrating = Pool::direct(connections(1, Durability::Disk, waits).connect_with(quiet).await?);
    first.connection.close().await?;
    migrate(&migrating, path, copy).await?;
    migrating.close().await;
    let counts = connections(1, Durability::Process, waits).connect_lazy_with(options);
    opened(pool, Pool::direct(counts), file, waits)
}

pub(super) async fn open_to_read(url: &str, waits: Waits) -> Result<Opened, StoreError> {
    let path = path_of(url);
    let options = any_options_of(&path, true)?;
    let file = identified(&path, File::open(&path).and_then(|file| file.metadata()))?;
    let pool = AnyPoolOptions::new()
        .max_connections(2)
        .acquire_timeout(waits.connection)
        .connect_with(options)
        .await?;
    let pool = Pool::direct(pool);
    opened(pool.clone(), pool, file, waits)
}

fn identified(path: &Path, metadata: IoResult<Metadata>) -> Result<FileIdentity, StoreError> {
    let metadata = metadata.map_err(|error| StoreError::File { path: path.to_owned(), error })?;
    Ok(FileIdentity::new(path, &metadata))
}

/// Fails if the path led to another file while the connections were opened.
fn opened(pool: Pool, counts: Pool, file: FileIdentity, waits: Waits) -> Result<Opened, StoreError> {
    file.check().map_err(|fault: FileFault| StoreError::Unfit(fault.to_string()))?;
    let queries = Connections::to_file(file.path(), waits)?;
    Ok(Opened { dialect: Dialect::Sqlite, pool, counts, queries, file: Some(file) })
}

pub(super) fn migrations() -> &'static Migrator {
    &MIGRATIONS
}

/// Whether both URLs name one file. Names of an existing file are resolved; otherwise the paths are compared.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(path_of);
    let is_one_file = |metadata: Metadata| FileIdentity::new(&other, &metadata).check().is_ok();
    one == other || one.metadata().is_ok_and(is_one_file)
}

/// Migrates the schema in one transaction. If two processes start at once, the second waits and finds the schema migrated. An interrupted migration
/// leaves nothing behind.
async fn migrate(pool: &Pool, path: &Path, copy: UpgradeCopy) -> Result<(), StoreError> {
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    let last = Dialect::Sqlite.upgradable_step(&mut tx).await?;
    let next = |last: i64| MIGRATIONS.iter().map(|migration| migration.version).find(|step| *step > last);
    if let Some(step) = last.and_then(next)
        && copy != UpgradeCopy::Never
    {
        // The transaction lets nobody write meanwhile, and the copy does not contain what it has changed.
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".before-{step}"));
        match backup::before_upgrade(path, Path::new(&name)).await {
            Ok(()) => tracing::info!(file = %name.display(), "the database was copied before its upgrade"),
            Err(error) if copy == UpgradeCopy::IfPossible => {
                tracing::warn!(%error, "the database is upgraded without a copy of it");
            }
            Err(error) => {
                return Err(StoreError::Unfit(format!(
                    "the database must be upgraded, and no copy can be made before: {error}. Make room, or back it up elsewhere and set \
                     DOCKET_UPGRADE_WITHOUT_COPY=true for one start"
                )));
            }
        }
    }
    migrations::run(&MIGRATIONS, last, &mut tx).await?;
    Ok(tx.commit().await?)
}

fn connections(count: u32, durability: Durability, waits: Waits) -> AnyPoolOptions {
    AnyPoolOptions::new()
        .max_connections(count)
        .acquire_timeout(durability.acquire_timeout(waits))
        // A file cannot disconnect as a server can; a ping would cost each statement another round trip to the connection's thread.
        .test_before_acquire(false)
        .after_connect(move |connection, _| Box::pin(prepare(connection, durability, waits)))
        // A file has no limit for how long it is open. The counter connections stay open from the first heartbeat to the end of the process: `docket
        // restore` detects by their locks that the file is in use.
        .max_lifetime(None)
        .idle_timeout(durability.idles())
        // After an I/O error SQLite has rolled back, but sqlx still counts a transaction as open.
        .before_acquire(|connection, _| Box::pin(std::future::ready(Ok(!connection.is_in_transaction()))))
}

async fn prepare(
    connection: &mut AnyConnection,
    durability: Durability,
    waits: Waits,
) -> Result<(), sqlx::Error> {
    let busy_timeout = format!("PRAGMA busy_timeout = {}", waits.lock.as_millis());
    sqlx::query(AssertSqlSafe(busy_timeout)).execute(&mut *connection).await?;
    for pragma in [
        "PRAGMA journal_mode = WAL",
        match durability {
            Durability::Disk => "PRAGMA synchronous = FULL",
            Durability::Process => "PRAGMA synchronous = NORMAL",
        },
        "PRAGMA foreign_keys = ON",
        // In bytes. The write-ahead log grows while a long query reads; it shrinks to this after the next checkpoint, instead of staying as large as it
        // ever was. A checkpoint is due at 4 MiB.
        "PRAGMA journal_size_limit = 8388608",
        // In KiB, the maximum per connection: enough for look-ups by key. Connections for long queries have more.
        "PRAGMA cache_size = -2048",
    ] {
        sqlx::query(pragma).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Opens the file, or creates an empty one that only its owner can read. The path may be a link to an existing file. No file is created through a
/// link: somebody else may have put it there, and root would create a file wherever it leads.
fn create_file(path: &Path) -> IoResult<File> {
    let mut existing = File::options();
    existing.write(true);
    match existing.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        opened => return opened,
    }
    let mut new = File::options();
    std::os::unix::fs::OpenOptionsExt::mode(&mut new, 0o600);
    match new.write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if path.symlink_metadata()?.is_symlink() {
                return Err(Error::new(ErrorKind::InvalidInput, DANGLING));
            }
            // Another process has created it meanwhile.
            existing.open(path)
        }
        created => created,
    }
}

/// Whether a result code, primary or extended, is about the values of a statement. Codes of PostgreSQL have five characters.
pub(super) fn concerns_values(code: &str) -> bool {
    code.len() < 5 && code.parse::<u32>().is_ok_and(|code| OF_VALUES.contains(&(code % 256)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_named() {
        let explained = |free: u64| {
            let error = StoreError::Unavailable(sqlx::Error::PoolTimedOut);
            explained(error, Path::new("/var/lib/docket.db"), Ok(free)).to_string()
        };
        let full = explained(4_096);
        assert!(full.contains("/var/lib/docket.db") && full.contains("no storage space"), "{full}");
        assert!(explained(10 * ROOM_TO_START).contains("did not answer"));
    }
}
