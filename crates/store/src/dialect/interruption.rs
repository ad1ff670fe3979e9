//! Connections for statements that are stopped when they take too long or their caller is dropped.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sqlx::Any;
use sqlx::any::AnyRow;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqlitePool, SqlitePoolOptions};

use super::Pool;
use super::path::options_of;
use super::select::Statement;
use crate::StoreError;
use base::waits::Waits;

/// How many statements run concurrently.
pub(crate) const AT_ONCE: u32 = 4;
/// How many steps of SQLite's virtual machine pass between two checks of the deadline: less than a millisecond.
pub(super) const STEPS: i32 = 20_000;

/// Read-only connections. Cloning gives another handle.
#[derive(Clone)]
pub(crate) enum Connections {
    /// SQLite's progress handler checks the time limit.
    Sqlite(SqlitePool, Duration),
    /// The server stops a statement after its time limit, or when its connection is closed.
    Postgres(Pool),
}

impl Connections {
    /// Connections to the existing database `file`, opened on demand.
    pub(super) fn to_file(file: &Path, waits: Waits) -> Result<Self, StoreError> {
        let options = options_of(file)?
            .busy_timeout(waits.lock)
            .pragma("query_only", "1")
            // In KiB, the maximum per connection: enough for the list of 100,000 jobs and a search of it.
            .pragma("cache_size", "-16384");
        let pool = SqlitePoolOptions::new()
            .max_connections(AT_ONCE)
            .acquire_timeout(waits.connection)
            .test_before_acquire(false)
            .connect_lazy_with(options);
        Ok(Self::Sqlite(pool, waits.query))
    }

    /// The only row of a statement's result.
    pub(crate) async fn fetch_one(&self, statement: Statement) -> Result<AnyRow, sqlx::Error> {
        match self {
            Self::Sqlite(pool, longest) => {
                let mut connection = pool.acquire().await?;
                // Stops the statement too when this future is dropped.
                let dropped = DropFlag::default();
                let (is_dropped, deadline) = (dropped.0.clone(), Instant::now() + *longest);
                let goes_on = move || !is_dropped.load(Ordering::Relaxed) && Instant::now() < deadline;
                connection.lock_handle().await?.set_progress_handler(STEPS, goes_on);
                AnyRow::try_from(&statement.sqlite_query().fetch_one(&mut *connection).await?)
            }
            Self::Postgres(pool) => {
                let mut guard = CloseOnDrop(Some(pool.acquire_alone().await?));
                let row = match guard.0.as_deref_mut() {
                    Some(connection) => pool.fetch_one(connection, statement.query()).await,
                    None => Err(sqlx::Error::WorkerCrashed),
                };
                guard.release();
                row
            }
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool, _) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

/// Sets its flag when it is dropped.
#[derive(Default)]
struct DropFlag(Arc<AtomicBool>);

impl Drop for DropFlag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection that is closed when it is dropped, and returns to the pool when it is released.
struct CloseOnDrop(Option<PoolConnection<Any>>);

impl CloseOnDrop {
    fn release(mut self) {
        self.0.take();
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            drop(connection.detach());
        }
    }
}
