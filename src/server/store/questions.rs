//! Questions: statements that may have to read much, such as a search of all prompts. They have connections of their own, so that
//! those of sessions, statuses and writes stay free, and are stopped after [`LONGEST`], or when nobody waits for them.
//!
//! How a statement is stopped is specific to SQLite, and in this file alone.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sqlx::any::AnyRow;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::StoreError;
use super::select::Statement;

/// How long one question may take.
const LONGEST: Duration = Duration::from_secs(2);
/// How long a question waits for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many are asked at once.
const AT_ONCE: u32 = 4;
/// How many steps of SQLite's machine pass between two looks at the clock: less than a millisecond.
const STEPS: i32 = 20_000;
/// What SQLite says about a statement that was stopped.
const INTERRUPTED: &str = "9";

/// Cloning gives another handle.
#[derive(Clone)]
pub(super) struct Questions {
    pool: SqlitePool,
    snapshots: Arc<Semaphore>,
    longest: Duration,
}

impl Questions {
    /// Connections to the existing database `file`, opened when they are needed.
    pub(super) fn of(file: &Path) -> Self {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .busy_timeout(Duration::from_secs(5))
            .pragma("query_only", "1")
            // In KiB, the maximum per connection: enough for the list of 100,000 jobs and a search of it.
            .pragma("cache_size", "-16384");
        let pool = SqlitePoolOptions::new()
            .max_connections(AT_ONCE)
            .acquire_timeout(PATIENCE)
            .test_before_acquire(false)
            .connect_lazy_with(options);
        Self { pool, snapshots: Arc::new(Semaphore::new(AT_ONCE as usize)), longest: LONGEST }
    }

    /// The only row of a question's answer.
    pub(super) async fn ask(&self, question: Statement) -> Result<AnyRow, StoreError> {
        let mut connection = self.pool.acquire().await.map_err(or_busy)?;
        // Stops the statement too when this future is dropped.
        let left = Left::default();
        let (has_left, deadline) = (left.0.clone(), Instant::now() + self.longest);
        let goes_on = move || !has_left.load(Ordering::Relaxed) && Instant::now() < deadline;
        connection.lock_handle().await?.set_progress_handler(STEPS, goes_on);
        let row = question.sqlite_query().fetch_one(&mut *connection).await.map_err(or_stopped)?;
        Ok(AnyRow::try_from(&row)?)
    }

    /// A turn for a snapshot of the history, which takes one of the other connections for a while.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let turn = tokio::time::timeout(PATIENCE, self.snapshots.clone().acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or(StoreError::Busy)
    }

    pub(super) async fn close(&self) {
        self.pool.close().await;
    }
}

/// Notes when it is dropped.
#[derive(Default)]
struct Left(Arc<AtomicBool>);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn or_busy(error: sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::PoolTimedOut => StoreError::Busy,
        error => error.into(),
    }
}

fn or_stopped(error: sqlx::Error) -> StoreError {
    match &error {
        sqlx::Error::Database(said) if said.code().as_deref() == Some(INTERRUPTED) => StoreError::Stopped,
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use sqlx::Row;

    use super::*;
    use crate::server::store::Store;

    fn statement(sql: &str) -> Statement {
        Statement::around(sql.to_owned(), [])
    }

    fn endless() -> Statement {
        statement("WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n")
    }

    async fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let store =
            Store::open(&format!("sqlite://{}/a.db", folder.path().display())).await.expect("a store");
        (folder, store)
    }

    #[tokio::test]
    async fn a_question_that_takes_too_long_is_stopped_and_its_connection_used_again() {
        let (_folder, store) = store().await;
        let questions = Questions { longest: Duration::from_millis(50), ..store.questions.clone() };
        for _ in 0..2 * AT_ONCE {
            let stopped = questions.ask(endless()).await;
            assert!(matches!(stopped, Err(StoreError::Stopped)), "{:?}", stopped.err());
        }
        let row = questions.ask(statement("SELECT '7'")).await.expect("an answer");
        assert_eq!(row.try_get::<String, _>(0).expect("a text"), "7");
    }

    #[tokio::test]
    async fn a_question_that_nobody_waits_for_ends() {
        let (_folder, store) = store().await;
        let questions = Questions { longest: Duration::from_secs(3_600), ..store.questions.clone() };
        for _ in 0..2 * AT_ONCE {
            let asked = tokio::time::timeout(Duration::from_millis(20), questions.ask(endless())).await;
            assert!(asked.is_err());
        }
        // All connections were taken; each is free again.
        assert!(questions.ask(statement("SELECT '7'")).await.is_ok());
    }

    #[tokio::test]
    async fn questions_leave_the_connections_of_everything_else_alone() {
        let (_folder, store) = store().await;
        let questions = Questions { longest: Duration::from_secs(3_600), ..store.questions.clone() };
        let many = join_all((0..16).map(|_| questions.ask(endless())));
        let others = async {
            let project = "docs".parse().expect("a project");
            let mut snapshots = Vec::new();
            for _ in 0..AT_ONCE {
                snapshots.push(store.snapshot(&project).await.expect("a snapshot"));
            }
            for _ in 0..20 {
                store.ready().await.expect("an answer");
            }
            drop(store.begin().await.expect("a transaction"));
        };
        tokio::select! {
            _ = many => panic!("endless questions ended"),
            () = others => {}
        }
    }

    #[tokio::test]
    async fn a_question_writes_nothing() {
        let (_folder, store) = store().await;
        let written = store.questions.ask(statement("DELETE FROM jobs RETURNING id")).await;
        assert!(written.is_err_and(|error| error.to_string().contains("readonly")));
    }
}
