//! Access to the database from outside the process that uses it: reading, locking, and making writes fail.

use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};

/// The advisory lock that serializes writers of the database on PostgreSQL.
const TURN: &str = "28269970465321985";

pub(crate) struct Ledger {
    url: String,
}

/// While this exists, no one else can commit.
pub(crate) struct LockedLedger {
    connection: AnyConnection,
}

impl Ledger {
    pub(crate) fn at(url: &str) -> Self {
        sqlx::any::install_default_drivers();
        Self { url: url.to_owned() }
    }

    fn is_file(&self) -> bool {
        self.url.starts_with("sqlite:")
    }

    pub(crate) async fn connection(&self) -> AnyConnection {
        let mut connection = AnyConnection::connect(&self.url).await.unwrap();
        if self.is_file() {
            sqlx::raw_sql("PRAGMA busy_timeout = 20000").execute(&mut connection).await.unwrap();
        }
        connection
    }

    /// Removes earlier heartbeats, so that a moved clock is trusted.
    pub(crate) async fn trust_clock(&self) {
        self.run("DELETE FROM clock_state").await;
    }

    /// The result of a count.
    pub(crate) async fn count(&self, statement: &'static str) -> i64 {
        let mut connection = self.connection().await;
        // PostgreSQL's sum of big integers is of another type.
        let count = format!("SELECT CAST(({statement}) AS BIGINT)");
        let count = sqlx::query_scalar(AssertSqlSafe(count)).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        count
    }

    pub(crate) async fn run(&self, statement: &'static str) {
        self.execute(statement.to_owned()).await;
    }

    /// Runs statements that may leave dangling references.
    pub(crate) async fn run_unchecked(&self, statement: &'static str) {
        let unchecked = if self.is_file() {
            "PRAGMA foreign_keys = OFF"
        } else {
            "SET session_replication_role = replica"
        };
        self.execute(format!("{unchecked}; {statement}")).await;
    }

    pub(crate) async fn execute(&self, statement: String) {
        let mut connection = self.connection().await;
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    /// Acquires the write lock, for which a process waits some seconds.
    pub(crate) async fn lock(&self) -> LockedLedger {
        let mut connection = self.connection().await;
        let begin = if self.is_file() {
            "BEGIN IMMEDIATE".to_owned()
        } else {
            format!("BEGIN; SELECT 1 FROM pg_advisory_xact_lock({TURN})")
        };
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut connection).await.unwrap();
        LockedLedger { connection }
    }

    /// From now on `change` of a row (`INSERT ON table`, `UPDATE OF column ON table`) fails if `condition` holds.
    pub(crate) async fn refuse(&self, change: &str, condition: &str) {
        self.execute(if self.is_file() {
            format!(
                "CREATE TRIGGER refused BEFORE {change} WHEN {condition}
                 BEGIN SELECT RAISE(ABORT, 'refused by a test'); END"
            )
        } else {
            format!(
                "CREATE FUNCTION refuse_for_a_test() RETURNS TRIGGER LANGUAGE plpgsql AS $$
                     BEGIN RAISE EXCEPTION 'refused by a test'; END $$;
                 CREATE TRIGGER refused BEFORE {change} FOR EACH ROW WHEN ({condition})
                 EXECUTE FUNCTION refuse_for_a_test()"
            )
        })
        .await;
    }

    /// Reverts [`Self::refuse`].
    pub(crate) async fn allow(&self) {
        let drop =
            if self.is_file() { "DROP TRIGGER refused" } else { "DROP FUNCTION refuse_for_a_test() CASCADE" };
        self.run(drop).await;
    }

    /// Removes a trigger of the schema.
    pub(crate) async fn drop_trigger(&self, name: &str, table: &str) {
        let on = if self.is_file() { String::new() } else { format!(" ON {table}") };
        self.execute(format!("DROP TRIGGER {name}{on}")).await;
    }

    /// From now on the use of a recovery code removes the person's authenticator, too.
    pub(crate) async fn remove_authenticator_with_a_code(&self) {
        let remove = "DELETE FROM second_factors WHERE user_id = OLD.user_id";
        self.execute(if self.is_file() {
            format!("CREATE TRIGGER removing AFTER DELETE ON recovery_codes BEGIN {remove}; END")
        } else {
            format!(
                "CREATE FUNCTION remove_for_a_test() RETURNS TRIGGER LANGUAGE plpgsql AS $$
                     BEGIN {remove}; RETURN NULL; END $$;
                 CREATE TRIGGER removing AFTER DELETE ON recovery_codes FOR EACH ROW
                 EXECUTE FUNCTION remove_for_a_test()"
            )
        })
        .await;
    }

    /// From now on this statement follows `change` of a row (`UPDATE OF column ON table`), in its transaction.
    pub(crate) async fn also(&self, change: &str, statement: &str) {
        self.execute(if self.is_file() {
            format!("CREATE TRIGGER also AFTER {change} BEGIN {statement}; END")
        } else {
            format!(
                "CREATE FUNCTION also_for_a_test() RETURNS TRIGGER LANGUAGE plpgsql AS $$
                     BEGIN {statement}; RETURN NULL; END $$;
                 CREATE TRIGGER also AFTER {change} FOR EACH ROW EXECUTE FUNCTION also_for_a_test()"
            )
        })
        .await;
    }

    /// From now on no prompt can be marked as being sent: queued prompts stay queued.
    pub(crate) async fn refuse_sending(&self) {
        self.refuse("UPDATE OF state ON messages", "NEW.state = 'sending'").await;
    }

    pub(crate) async fn allow_sending(&self) {
        self.allow().await;
    }

    /// From now on a process that writes a prompt continues to write until it is killed.
    pub(crate) async fn never_finish_writing_prompts(&self) {
        let endless = if self.is_file() {
            "CREATE VIEW endless AS WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT n FROM numbers;
             CREATE TRIGGER unfinished BEFORE INSERT ON messages BEGIN SELECT COUNT(*) FROM endless; END"
        } else {
            "CREATE FUNCTION endless() RETURNS TRIGGER LANGUAGE plpgsql AS $$
                 BEGIN LOOP PERFORM pg_sleep(0.1); END LOOP; END $$;
             CREATE TRIGGER unfinished BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION endless()"
        };
        self.run(endless).await;
    }

    pub(crate) async fn finish_writing_prompts(&self) {
        let finish = if self.is_file() {
            "DROP TRIGGER unfinished; DROP VIEW endless"
        } else {
            "DROP FUNCTION endless() CASCADE"
        };
        self.run(finish).await;
    }

    /// Whether another process is in a write transaction.
    pub(crate) async fn is_being_written(&self) -> bool {
        let mut connection = AnyConnection::connect(&self.url).await.unwrap();
        let is_free = if self.is_file() {
            let begin = "PRAGMA busy_timeout = 0; BEGIN IMMEDIATE";
            sqlx::raw_sql(begin).execute(&mut connection).await.is_ok()
        } else {
            let turn = format!("SELECT pg_try_advisory_xact_lock({TURN})");
            sqlx::query_scalar(AssertSqlSafe(turn)).fetch_one(&mut connection).await.unwrap()
        };
        connection.close().await.unwrap();
        !is_free
    }

    /// Checks the integrity of the database with the database's own check.
    pub(crate) async fn is_sound(&self) {
        let mut connection = self.connection().await;
        if self.is_file() {
            let found: String =
                sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.unwrap();
            assert_eq!(found, "ok");
            let dangling = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut connection).await.unwrap();
            assert_eq!(dangling.len(), 0, "rows refer to missing rows");
        } else {
            let invalid = "SELECT COUNT(*) FROM pg_index WHERE NOT (indisvalid AND indisready AND indislive)";
            let invalid: i64 = sqlx::query_scalar(invalid).fetch_one(&mut connection).await.unwrap();
            assert_eq!(invalid, 0, "indexes are not valid");
        }
        connection.close().await.unwrap();
    }

    /// Everything in the database: the rows on a server as text, or the bytes of a file and of its write-ahead log.
    pub(crate) async fn dump(&self) -> String {
        if let Some(file) = self.url.strip_prefix("sqlite://") {
            let files = ["", "-wal"].map(|end| std::fs::read(format!("{file}{end}")).unwrap_or_default());
            return String::from_utf8_lossy(&files.concat()).into_owned();
        }
        let mut connection = self.connection().await;
        let tables: Vec<String> = sqlx::query_scalar(
            "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
        )
        .fetch_all(&mut connection)
        .await
        .unwrap();
        let mut dump = String::new();
        for table in tables {
            let rows = AssertSqlSafe(format!("SELECT CAST(t AS TEXT) FROM {table} t"));
            for row in sqlx::query(rows).fetch_all(&mut connection).await.unwrap() {
                dump.push_str(&format!("{table} {}\n", row.get::<String, _>(0)));
            }
        }
        connection.close().await.unwrap();
        dump
    }

    /// Changes the id of the newest timeline entry.
    pub(crate) async fn rename_last_event(&self, id: &str) {
        let mut connection = self.connection().await;
        sqlx::query("UPDATE job_events SET id = $1 WHERE id = (SELECT MAX(id) FROM job_events)")
            .bind(id.to_owned())
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
    }

    /// Ends the grace time of all processes that were killed before the present one. The next process on a file does not
    /// wait for it.
    pub(crate) async fn grace_is_over(&self) {
        self.execute(
            "DELETE FROM instances WHERE id < (SELECT MAX(id) FROM instances); UPDATE instances SET steady_since = 0"
                .to_owned(),
        )
        .await;
    }

    /// The number of prompts that could still be sent according to the database.
    pub(crate) async fn without_outcome(&self) -> i64 {
        self.count("SELECT COUNT(*) FROM messages WHERE state IN ('queued', 'sending')").await
    }
}

impl LockedLedger {
    pub(crate) async fn release(self) {
        self.connection.close().await.unwrap();
    }
}
