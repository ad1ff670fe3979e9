//! What an upgrade to this version would do to a database: the pending migrations, and the rows they process. Read-only; works on databases of any
//! version.

use sqlx::{AnyConnection, AssertSqlSafe, Row};
use thiserror::Error;

use super::instances::GRACE;
use crate::server::store::dialect::{Migration, bridge};
use crate::server::store::{Store, StoreError};
use model::time::Timestamp;

/// A database and its pending migrations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgrade {
    /// The last migration that ran.
    pub step: i64,
    pub pending: Vec<PendingMigration>,
    pub bytes: u64,
    /// Running processes that serve it.
    pub processes: u64,
    /// Whether these processes cannot continue during the upgrade.
    pub stops_processes: bool,
    pub queued: u64,
    pub sending: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingMigration {
    pub number: i64,
    /// The summary in its file.
    pub does: String,
    /// The tables that it processes, with their numbers of rows.
    pub tables: Vec<(String, u64)>,
}

/// Why this version cannot use a database.
#[derive(Debug, Error)]
pub enum NotUpgradable {
    #[error("it is no database of Docket")]
    NoLedger,
    #[error(
        "migration {0} is not the one of this version: it was changed, or the database is of another program"
    )]
    Changed(i64),
    #[error("migration {0} began and did not end: restore the backup that you made before")]
    Unfinished(i64),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Examines the database. `now` is this machine's time.
    pub async fn upgrade(&self, now: Timestamp) -> Result<Upgrade, NotUpgradable> {
        let now = self.time().await?.unwrap_or(now);
        let mut tx = self.begin_to_read().await?;
        self.dialect.must_be_served(&mut tx).await?;
        if self.dialect.step(&mut tx).await?.is_none() {
            return Err(NotUpgradable::NoLedger);
        }
        let applied = applied(&mut tx).await?;
        let mut migrations = self.dialect.migrations();
        if let (Some(last), Some(first)) = (applied.last(), migrations.first_mut())
            && last.number < first.number
        {
            // The bridge creates the first schema from the last one before it.
            first.sql = self.dialect.bridge().to_owned();
        }
        let step = must_be_known(&migrations, &applied)?;
        let stops_processes = self.dialect.is_of_one_process() || step == bridge::FROM;
        let tables: Vec<String> =
            self.dialect.tables(&mut tx).await?.into_iter().map(|table| table.name).collect();
        let mut pending = Vec::new();
        for migration in migrations {
            if applied.iter().all(|one| one.number != migration.number) {
                pending.push(describe(migration, &tables, &mut tx).await?);
            }
        }
        let processes = match tables.iter().any(|table| table == "instances") {
            true => count(&mut tx, &living(now)).await?,
            false => 0,
        };
        let of = |state| format!("SELECT COUNT(*) FROM messages WHERE state = '{state}'");
        Ok(Upgrade {
            step,
            pending,
            bytes: count(&mut tx, self.dialect.size()).await?,
            processes,
            stops_processes,
            queued: count(&mut tx, &of("queued")).await?,
            sending: count(&mut tx, &of("sending")).await?,
        })
    }
}

/// A migration that ran.
struct Applied {
    number: i64,
    checksum: Vec<u8>,
    is_finished: bool,
}

async fn applied(connection: &mut AnyConnection) -> Result<Vec<Applied>, StoreError> {
    let rows = sqlx::query(
        "SELECT version, checksum, CAST(CASE WHEN success THEN 1 ELSE 0 END AS BIGINT) FROM _sqlx_migrations ORDER BY version",
    )
    .fetch_all(connection)
    .await?;
    let applied = |row: &sqlx::any::AnyRow| {
        let is_finished = row.try_get::<i64, _>(2)? == 1;
        Ok(Applied { number: row.try_get(0)?, checksum: row.try_get(1)?, is_finished })
    };
    rows.iter().map(applied).collect()
}

/// Fails if this version cannot continue from the migrations that ran. Returns the last one.
fn must_be_known(known: &[Migration], applied: &[Applied]) -> Result<i64, NotUpgradable> {
    let first = known.first().map_or(0, |first| first.number);
    let last = applied.last().map_or(0, |last| last.number);
    for Applied { number, checksum, is_finished } in applied {
        match known.iter().find(|one| one.number == *number) {
            None if *number > first => return Err(StoreError::Newer(*number).into()),
            _ if !is_finished => return Err(NotUpgradable::Unfinished(*number)),
            Some(one) if one.checksum != *checksum => return Err(NotUpgradable::Changed(*number)),
            _ => {}
        }
    }
    if last < first && last != bridge::FROM {
        return Err(StoreError::Older(last).into());
    }
    Ok(last)
}

async fn describe(
    migration: Migration,
    there: &[String],
    connection: &mut AnyConnection,
) -> Result<PendingMigration, StoreError> {
    let mut tables = Vec::new();
    for table in touched(&migration.sql, there) {
        let rows = count(&mut *connection, &format!("SELECT COUNT(*) FROM \"{table}\"")).await?;
        tables.push((table.clone(), rows));
    }
    tables.retain(|(_, rows)| *rows > 0);
    Ok(PendingMigration { number: migration.number, does: summary(&migration.sql), tables })
}

async fn count(connection: &mut AnyConnection, statement: &str) -> Result<u64, StoreError> {
    let statement = sqlx::query_scalar(AssertSqlSafe(statement.to_owned()));
    let count: i64 = statement.fetch_one(connection).await?;
    Ok(u64::try_from(count).unwrap_or_default())
}

fn living(now: Timestamp) -> String {
    let (now, grace) = (now.as_millis(), i64::try_from(GRACE.as_millis()).unwrap_or(i64::MAX));
    format!("SELECT COUNT(*) FROM instances WHERE seen_at BETWEEN {} AND {}", now - grace, now + grace)
}

/// The comment at the start of a migration.
fn summary(sql: &str) -> String {
    let lines = sql.lines().map_while(|line| line.strip_prefix("--")).map(str::trim);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The existing tables that the statements process: to change their rows, or to build an index. Statements within created triggers do not count.
fn touched<'a>(sql: &str, there: &'a [String]) -> Vec<&'a String> {
    let code: String =
        sql.lines().map(|line| line.split("--").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    // Text in quotes names no table.
    let code: String = code.split('\'').step_by(2).collect();
    let mut in_body = false;
    let mut words: Vec<String> = Vec::new();
    for statement in code.split(';') {
        let upper = statement.trim().to_ascii_uppercase();
        let is_in_body = in_body;
        let quotes = upper.matches("$$").count();
        if quotes % 2 == 1 {
            in_body = !in_body;
        } else if upper.starts_with("CREATE TRIGGER") && upper.contains("BEGIN") {
            in_body = true;
        } else if upper == "END" {
            in_body = false;
        }
        let goes_through = ["UPDATE", "INSERT", "DELETE", "CREATE INDEX", "CREATE UNIQUE INDEX", "WITH"];
        if !is_in_body && !in_body && goes_through.iter().any(|begin| upper.starts_with(begin)) {
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
            words.extend(statement.split(|letter| !is_part(letter)).map(str::to_owned));
        }
    }
    there.iter().filter(|table| words.contains(table)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIGRATION: &str = "-- Prompts are on hold, and\n-- counted.\n--\n-- Not this.\nALTER TABLE messages ADD COLUMN on_hold_since BIGINT;
        CREATE INDEX on_hold ON messages (on_hold_since); -- jobs
        CREATE TRIGGER note AFTER INSERT ON users BEGIN
            UPDATE templates SET name = ''; DELETE FROM drafts; END;
        CREATE FUNCTION f() RETURNS TRIGGER AS $$ BEGIN UPDATE webhooks SET id = 1; RETURN NULL; END $$;
        INSERT INTO counts SELECT COUNT(*), 'users' FROM jobs;
        DROP TABLE sessions;";

    #[test]
    fn migration_summary_and_processed_tables_are_parsed() {
        assert_eq!(summary(MIGRATION), "Prompts are on hold, and counted.");
        assert_eq!(summary("CREATE TABLE a (b TEXT)"), "");
        let there: Vec<String> = ["drafts", "jobs", "messages", "sessions", "templates", "users", "webhooks"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(touched(MIGRATION, &there), ["jobs", "messages"]);
    }

    #[test]
    fn every_migration_has_a_summary() {
        for dialect in [crate::server::store::Dialect::Sqlite, crate::server::store::Dialect::Postgres] {
            for migration in dialect.migrations() {
                assert_ne!(summary(&migration.sql), "", "{dialect:?} {}", migration.number);
            }
            assert_ne!(summary(dialect.bridge()), "", "{dialect:?}");
        }
    }
}
