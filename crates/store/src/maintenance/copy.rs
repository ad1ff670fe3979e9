//! Copies a whole ledger into another database, of either kind. The catalog lists the tables; only special tables are named here.
//!
//! The source is read in one snapshot. The target is written in one transaction, which commits after every table was read back and compared. Until
//! then, and after any failure, the target is empty.

mod error;
mod rows;
mod search;

use std::collections::BTreeMap;

use sqlx::{AnyConnection, AssertSqlSafe, Executor};

pub use self::error::CopyError;
use self::rows::{Digest, count, digest, insert_all};
use super::instances::GRACE;
use crate::dialect::Table;
use crate::{Store, StoreError};
use model::time::Timestamp;

/// Tables that triggers derive from others, and that are no ordinary tables in SQLite.
const DERIVED: [&str; 4] = ["job_words", "job_characters", "follow_up_words", "follow_up_characters"];

/// Tables about running processes, which do not apply to a copy; each with a description.
const OF_PROCESSES: [(&str, &str); 2] = [
    ("instances", "the processes on the database, which do not serve the copy"),
    ("history_lease", "the one of them that fetches the history"),
];

/// Rows that a migration inserts: the condition that a table's rows are unchanged.
const MADE_BY_MIGRATIONS: [(&str, &str); 1] = [("audit_ends", "number = 0")];

/// The progress of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'a> {
    Begun {
        tables: usize,
        rows: u64,
    },
    /// Part of a long table was copied.
    Copying {
        table: &'a str,
        rows: u64,
        of: u64,
    },
    Copied {
        table: &'a str,
        rows: u64,
    },
    /// Part of the jobs was indexed.
    Indexed {
        jobs: u64,
        of: u64,
    },
    /// The table was read back from the target, and its rows are equal.
    Equal {
        table: &'a str,
        rows: u64,
        /// SHA-256, in hexadecimal.
        digest: String,
    },
}

/// The totals of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    pub tables: usize,
    pub rows: u64,
}

/// Fails if the database at `url` is not empty. A missing one is empty. Changes nothing.
pub async fn must_be_empty(url: &str) -> Result<(), CopyError> {
    let store = match Store::open_to_read(url).await {
        Err(StoreError::File { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let mut tx = store.begin_to_read().await?;
    let tables = store.dialect.tables(&mut tx).await?;
    let found = occupied(&mut tx, &tables).await;
    drop(tx);
    store.close().await;
    found?.map_or(Ok(()), |table| Err(CopyError::NotEmpty(table)))
}

impl Store {
    /// Fails unless this is a ledger of this version that no `docket serve` uses. `now` is this machine's time.
    pub async fn must_be_ready_to_copy(&self, now: Timestamp) -> Result<(), CopyError> {
        let mut tx = self.begin_to_read().await?;
        self.dialect.must_be_served(&mut tx).await?;
        let (step, newest) = (self.dialect.step(&mut tx).await?, self.dialect.newest_step());
        match step {
            None => return Err(CopyError::NoLedger),
            Some(step) if step > newest => return Err(StoreError::Newer(step).into()),
            Some(step) if step < newest => return Err(CopyError::Older { step, newest }),
            Some(_) => {}
        }
        drop(tx);
        let now = self.time().await?.unwrap_or(now).as_millis();
        let grace = i64::try_from(GRACE.as_millis()).unwrap_or(i64::MAX);
        let there: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM instances WHERE seen_at BETWEEN $1 AND $2")
            .bind(now - grace)
            .bind(now + grace)
            .fetch_one(&self.pool)
            .await
            .map_err(StoreError::from)?;
        if there > 0 { Err(CopyError::InUse(GRACE.as_secs())) } else { Ok(()) }
    }

    /// Copies everything to `target`, which must be empty, and reports progress.
    pub async fn copy_to(
        &self,
        target: &Self,
        mut report: impl FnMut(Step<'_>),
    ) -> Result<Copied, CopyError> {
        let mut from = self.begin_to_read().await?;
        self.dialect.give_time(&mut from).await?;
        let mut to = target.dialect.begin_alone(&target.pool).await?;
        let tables = common_tables(self, &mut from, target, &mut to).await?;

        let mut sizes = Vec::with_capacity(tables.len());
        for table in &tables {
            sizes.push(count(&mut from, table).await?);
        }
        report(Step::Begun { tables: tables.len(), rows: sizes.iter().sum() });
        let suspended = target.dialect.suspend_triggers(&mut to).await?;
        for (table, _) in MADE_BY_MIGRATIONS {
            run(&mut to, format!("DELETE FROM {table}")).await?;
        }
        let mut read = Vec::with_capacity(tables.len());
        for (table, size) in tables.iter().zip(sizes) {
            read.push(insert_all(&mut from, &mut to, target.dialect, table, size, &mut report).await?);
        }
        target.dialect.resume_triggers(&mut to, suspended).await?;
        search::index(&mut to, &mut report).await?;
        target.dialect.finish_copy(&mut to, tables.iter().map(|table| table.name.as_str())).await?;

        for (table, read) in tables.iter().zip(&read) {
            prove(&mut to, table, read, &mut report).await?;
        }
        search::check(&mut to, target.dialect).await?;
        to.commit().await.map_err(StoreError::from)?;
        Ok(Copied { tables: tables.len(), rows: read.iter().map(|read| read.rows).sum() })
    }
}

/// Reads a table of the target and compares it with the rows read from the source.
async fn prove(
    to: &mut AnyConnection,
    table: &Table,
    read: &Digest,
    report: &mut impl FnMut(Step<'_>),
) -> Result<(), CopyError> {
    let written = digest(to, table).await?;
    if written != *read {
        return Err(CopyError::Differs { table: table.name.clone(), read: read.rows, written: written.rows });
    }
    report(Step::Equal { table: &table.name, rows: written.rows, digest: written.to_string() });
    Ok(())
}

/// The tables to copy, each after the tables it references. Fails if the target is not empty or the schemas differ.
async fn common_tables(
    source: &Store,
    from: &mut AnyConnection,
    target: &Store,
    to: &mut AnyConnection,
) -> Result<Vec<Table>, CopyError> {
    let there = target.dialect.tables(&mut *to).await?;
    if let Some(table) = occupied(to, &there).await? {
        return Err(CopyError::NotEmpty(table));
    }
    let (here, there) = (copied(source.dialect.tables(from).await?), copied(there));
    let odd = here.iter().find(|table| !there.contains(table));
    match odd.or_else(|| there.iter().find(|table| !here.contains(table))) {
        Some(table) => Err(CopyError::OtherSchema(table.name.clone())),
        None => in_order(here),
    }
}

fn copied(tables: Vec<Table>) -> Vec<Table> {
    let is_left_out =
        |name: &str| DERIVED.contains(&name) || OF_PROCESSES.iter().any(|(table, _)| *table == name);
    tables.into_iter().filter(|table| !is_left_out(&table.name)).collect()
}

/// Orders each table after those it references, otherwise by name.
fn in_order(tables: Vec<Table>) -> Result<Vec<Table>, CopyError> {
    let mut left: BTreeMap<String, Table> =
        tables.into_iter().map(|table| (table.name.clone(), table)).collect();
    let mut ordered = Vec::with_capacity(left.len());
    while let Some(some) = left.keys().next() {
        let free = left.values().find(|table| !table.refers_to.iter().any(|other| left.contains_key(other)));
        let name = free.ok_or_else(|| CopyError::OtherSchema(some.clone()))?.name.clone();
        ordered.extend(left.remove(&name));
    }
    Ok(ordered)
}

/// A table with rows that no migration inserted, if any.
async fn occupied(connection: &mut AnyConnection, tables: &[Table]) -> Result<Option<String>, StoreError> {
    for Table { name, .. } in tables {
        let made = MADE_BY_MIGRATIONS.iter().find(|(table, _)| table == name);
        let only = made.map_or(String::new(), |(_, rows)| format!("WHERE NOT ({rows})"));
        let any = format!("SELECT COUNT(*) FROM (SELECT 1 FROM \"{name}\" {only} LIMIT 1) AS found");
        let any: i64 = sqlx::query_scalar(AssertSqlSafe(any)).fetch_one(&mut *connection).await?;
        if any > 0 {
            return Ok(Some(name.clone()));
        }
    }
    Ok(None)
}

async fn run(connection: &mut AnyConnection, statement: String) -> Result<(), StoreError> {
    connection.execute(sqlx::query(AssertSqlSafe(statement))).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
