//! SQLite: a file, and its settings.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use sqlx::any::AnyPoolOptions;
use sqlx::migrate::Migrator;
use sqlx::{AnyConnection, AnyPool, Connection};

use super::Connections;
use super::file::{how_it_is_kept, path_of};
use super::migrations::{OfSqlite, migrator};
use crate::server::store::StoreError;

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(migrator::<OfSqlite>);

/// The code of a statement that was stopped.
pub(super) const INTERRUPTED: &str = "9";

/// Tables with each column, its type, and its place in the primary key.
pub(super) const COLUMNS: &str = "SELECT t.name, c.name, c.type, NULLIF(c.pk, 0)
    FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c
    WHERE t.schema = 'main' AND t.type = 'table' AND SUBSTR(t.name, 1, 7) <> 'sqlite_' AND c.hidden = 0";

/// Tables with those that they refer to.
pub(super) const REFERENCES: &str = "SELECT DISTINCT t.name, f.\"table\"
    FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) f WHERE t.schema = 'main' AND t.type = 'table'";

/// What a commit survives.
#[derive(Clone, Copy)]
enum Durability {
    /// A power cut.
    Disk,
    /// The end of the process, but after a power cut the last commits may be gone.
    Process,
}

impl Durability {
    /// After how long without use a connection is closed.
    fn idles(self) -> Option<Duration> {
        match self {
            Self::Disk => Some(Duration::from_secs(600)),
            Self::Process => None,
        }
    }
}

pub(super) async fn open(url: &str) -> Result<(AnyPool, AnyPool, Connections), StoreError> {
    let path = create_file(url)?;
    let kept = how_it_is_kept(&path).await?;
    if kept.is_set_aside {
        return Err(StoreError::SetAside(path));
    }
    let file = format!("sqlite://{}?mode=rwc", path.display());
    let pool = connections(8, Durability::Disk).connect(&file).await?;
    kept.connection.close().await?;
    migrate(&pool).await?;
    let counts = connections(1, Durability::Process).connect_lazy(&file)?;
    Ok((pool, counts, Connections::to_file(&path)))
}

pub(super) async fn open_to_read(url: &str) -> Result<(AnyPool, AnyPool, Connections), StoreError> {
    let path = path_of(url);
    std::fs::File::open(&path).map_err(|error| StoreError::File { path: path.clone(), error })?;
    let pool = AnyPoolOptions::new()
        .max_connections(2)
        .acquire_timeout(Duration::from_secs(5))
        .connect(&format!("sqlite://{}?mode=ro", path.display()))
        .await?;
    Ok((pool.clone(), pool, Connections::to_file(&path)))
}

pub(super) async fn backup(pool: &AnyPool, file: &Path) -> Result<(), StoreError> {
    create_private(file, true).map_err(|error| StoreError::File { path: file.to_owned(), error })?;
    sqlx::query("VACUUM INTO $1").bind(file.display().to_string()).execute(pool).await?;
    Ok(())
}

pub(super) fn migrations() -> &'static Migrator {
    &MIGRATIONS
}

/// Whether both URLs name one file, which exists.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|url| path_of(url).canonicalize());
    matches!((one, other), (Ok(one), Ok(other)) if one == other)
}

/// Migrates the schema in one transaction: of two processes that start at once the second waits and finds it done, and
/// an interrupted one leaves nothing behind.
async fn migrate(pool: &AnyPool) -> Result<(), StoreError> {
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    MIGRATIONS.run_direct(None, &mut *tx, false).await?;
    Ok(tx.commit().await?)
}

fn connections(count: u32, durability: Durability) -> AnyPoolOptions {
    AnyPoolOptions::new()
        .max_connections(count)
        .acquire_timeout(Duration::from_secs(5))
        // A file cannot disconnect as a server can; the ping would cost another round trip to the connection's thread per
        // statement.
        .test_before_acquire(false)
        .after_connect(move |connection, _| Box::pin(prepare(connection, durability)))
        // A file has no limit for how long it is open. Those that count are, from the first sign of life to the end of the process, what
        // `docket restore` knows by that the file is in use.
        .max_lifetime(None)
        .idle_timeout(durability.idles())
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

fn create_private(path: &Path, must_be_new: bool) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(!must_be_new).create_new(must_be_new).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|_| ())
}
