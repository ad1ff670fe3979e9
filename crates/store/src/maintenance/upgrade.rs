//! What an upgrade to this version would do to a database: the pending migrations, and the rows they process. Read-only; works on databases of any
//! version.

use sqlx::{AnyConnection, AssertSqlSafe, Row};
use thiserror::Error;

use super::instances::GRACE;
use crate::dialect::Migration;
use crate::dialect::migrations::FIRST;
use crate::{Store, StoreError};
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

/// Begins the line of a migration that names the tables whose rows it processes, or `none`.
const TABLES: &str = " Tables: ";

/// The tables of the migrations without that line. Their files never change.
const WITHOUT_LINE: [(i64, &[&str]); 3] = [(FIRST, &[]), (101, &["jobs", "listed_jobs"]), (102, &["jobs"])];

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
        let migrations = self.dialect.migrations();
        let step = must_be_known(&migrations, &applied)?;
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
            stops_processes: self.dialect.is_of_one_process(),
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
    let last = applied.last().map_or(0, |last| last.number);
    for Applied { number, checksum, is_finished } in applied {
        match known.iter().find(|one| one.number == *number) {
            None if *number > FIRST => return Err(StoreError::Newer(*number).into()),
            _ if !is_finished => return Err(NotUpgradable::Unfinished(*number)),
            Some(one) if one.checksum != *checksum => return Err(NotUpgradable::Changed(*number)),
            _ => {}
        }
    }
    if last < FIRST {
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
    for table in processed_tables(&migration).into_iter().flatten() {
        // A table of an earlier pending migration has no rows yet.
        if there.iter().any(|existing| existing == table) {
            let rows = count(&mut *connection, &format!("SELECT COUNT(*) FROM \"{table}\"")).await?;
            tables.push((table.to_owned(), rows));
        }
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
    let lines = sql.lines().map_while(|line| line.strip_prefix("--"));
    let lines = lines.take_while(|line| !line.trim().is_empty() && !line.starts_with(TABLES));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The tables whose rows a migration processes, to change them or to build an index; `None` if it does not name them.
fn processed_tables(migration: &Migration) -> Option<Vec<&str>> {
    if let Some((_, tables)) = WITHOUT_LINE.iter().find(|(number, _)| *number == migration.number) {
        return Some(tables.to_vec());
    }
    let comments = migration.sql.lines().filter_map(|line| line.strip_prefix("--"));
    let tables = comments.filter_map(|comment| comment.strip_prefix(TABLES)).next()?;
    Some(tables.split(", ").filter(|table| *table != "none").collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    #[test]
    fn summary_and_tables_are_lines_of_the_first_comment() {
        let sql = "-- Prompts are on hold, and\n-- counted.\n-- Tables: jobs, messages\n\n-- Not this.\nUPDATE jobs SET id = id;";
        let migration = |sql: &str| Migration { number: 999, sql: sql.to_owned(), checksum: Vec::new() };
        assert_eq!(summary(sql), "Prompts are on hold, and counted.");
        assert_eq!(processed_tables(&migration(sql)), Some(vec!["jobs", "messages"]));
        assert_eq!(summary("CREATE TABLE a (b TEXT)"), "");
        assert_eq!(processed_tables(&migration("-- Tables: none\n")), Some(Vec::new()));
        assert_eq!(processed_tables(&migration("-- A summary.\nUPDATE jobs SET id = id;")), None);
    }

    #[test]
    fn every_migration_has_a_summary_and_names_its_tables() {
        for dialect in [Dialect::Sqlite, Dialect::Postgres] {
            for migration in dialect.migrations() {
                assert_ne!(summary(&migration.sql), "", "{dialect:?} {}", migration.number);
                assert_ne!(processed_tables(&migration), None, "{dialect:?} {}", migration.number);
            }
        }
    }
}
