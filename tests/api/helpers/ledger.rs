//! Access to the database file from outside the process that uses it: reading, locking, and making writes fail.

use std::path::PathBuf;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

pub(crate) struct Ledger {
    file: PathBuf,
}

/// While this exists, no one else can commit.
pub(crate) struct HeldLedger {
    connection: SqliteConnection,
}

impl Ledger {
    pub(crate) fn at(file: PathBuf) -> Self {
        Self { file }
    }

    async fn connection(&self) -> SqliteConnection {
        SqliteConnectOptions::new().filename(&self.file).foreign_keys(false).connect().await.unwrap()
    }

    /// The result of a count.
    pub(crate) async fn count(&self, statement: &'static str) -> i64 {
        let mut connection = self.connection().await;
        let count = sqlx::query_scalar(statement).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        count
    }

    pub(crate) async fn run(&self, statement: &'static str) {
        let mut connection = self.connection().await;
        sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    /// Takes the write lock, for which a process waits some seconds.
    pub(crate) async fn hold(&self) -> HeldLedger {
        let mut connection = self.connection().await;
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
        HeldLedger { connection }
    }

    /// From now on no prompt can be marked as being sent: a queued one stays queued.
    pub(crate) async fn refuse_sending(&self) {
        self.run(
            "CREATE TRIGGER refused BEFORE UPDATE OF state ON messages WHEN NEW.state = 'sending'
             BEGIN SELECT RAISE(ABORT, 'refused by a test'); END",
        )
        .await;
    }

    pub(crate) async fn allow_sending(&self) {
        self.run("DROP TRIGGER refused").await;
    }

    /// From now on a process that writes a prompt keeps writing until it is killed.
    pub(crate) async fn never_finish_writing_prompts(&self) {
        self.run(
            "CREATE VIEW endless AS WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT n FROM numbers;
             CREATE TRIGGER unfinished BEFORE INSERT ON messages BEGIN SELECT COUNT(*) FROM endless; END",
        )
        .await;
    }

    pub(crate) async fn finish_writing_prompts(&self) {
        self.run("DROP TRIGGER unfinished; DROP VIEW endless").await;
    }

    /// Whether another process is in a write transaction.
    pub(crate) async fn is_being_written(&self) -> bool {
        let options = SqliteConnectOptions::new().filename(&self.file).busy_timeout(Duration::ZERO);
        let mut connection = options.connect().await.unwrap();
        let begun = sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await;
        connection.close().await.unwrap();
        begun.is_err()
    }

    /// Checks the file's integrity with SQLite.
    pub(crate) async fn is_sound(&self) {
        let mut connection = self.connection().await;
        let found: String =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.unwrap();
        assert_eq!(found, "ok");
        let dangling = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut connection).await.unwrap();
        assert_eq!(dangling.len(), 0, "rows refer to rows that are not there");
        connection.close().await.unwrap();
    }

    /// Changes the id of the newest timeline entry.
    pub(crate) async fn rename_last_event(&self, id: &str) {
        let mut connection = self.connection().await;
        sqlx::query("UPDATE job_events SET id = $1 WHERE id = (SELECT MAX(id) FROM job_events)")
            .bind(id)
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
    }

    /// The number of prompts that could still be sent according to the database.
    pub(crate) async fn unsettled(&self) -> i64 {
        self.count("SELECT COUNT(*) FROM messages WHERE state IN ('queued', 'sending')").await
    }
}

impl HeldLedger {
    pub(crate) async fn release(self) {
        self.connection.close().await.unwrap();
    }
}
