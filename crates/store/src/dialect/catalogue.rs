//! The tables of a database, read from its own catalog. Only the table of migrations is named here.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use super::{Dialect, postgres, sqlite};
use crate::StoreError;

/// The table of migrations that ran.
const MIGRATIONS: &str = "_sqlx_migrations";

/// A table with what copying its rows requires. Equal for both databases if their schemas are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// By name, without generated columns.
    pub(crate) columns: Vec<Column>,
    /// The columns of the primary key, in its order.
    pub(crate) key: Vec<String>,
    /// The other tables that its rows reference.
    pub(crate) refers_to: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// A migration.
#[derive(Debug, Clone)]
pub(crate) struct Migration {
    pub(crate) number: i64,
    pub(crate) sql: String,
    /// Of the file's text, to detect changes.
    pub(crate) checksum: Vec<u8>,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Bytes,
    /// A type that only one of the databases has.
    Other,
}

impl Dialect {
    /// All tables by name, except the table of migrations, SQLite's own tables, and those of its full-text index.
    pub(crate) async fn tables(self, connection: &mut AnyConnection) -> Result<Vec<Table>, StoreError> {
        let (columns, references) = match self {
            Self::Sqlite => (sqlite::COLUMNS, sqlite::REFERENCES),
            Self::Postgres => (postgres::COLUMNS, postgres::REFERENCES),
        };
        let mut tables: BTreeMap<String, (Table, BTreeMap<i64, String>)> = BTreeMap::new();
        for row in sqlx::query(columns).fetch_all(&mut *connection).await? {
            let (name, column) = (row.try_get::<String, _>(0)?, column(&row)?);
            let (table, key) = tables.entry(name).or_default();
            if let Some(position) = row.try_get::<Option<i64>, _>(3)? {
                key.insert(position, column.name.clone());
            }
            table.columns.push(column);
        }
        tables.remove(MIGRATIONS);
        for row in sqlx::query(references).fetch_all(connection).await? {
            let (name, other): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            if let Some((table, _)) = tables.get_mut(&name).filter(|_| name != other) {
                table.refers_to.insert(other);
            }
        }
        let tables = tables.into_iter().map(|(name, (mut table, key))| {
            table.columns.sort_by(|one, other| one.name.cmp(&other.name));
            Table { name, key: key.into_values().collect(), ..table }
        });
        Ok(tables.collect())
    }

    /// The last migration of this version.
    pub(crate) fn newest_step(self) -> i64 {
        self.migrations().iter().map(|migration| migration.number).max().unwrap_or_default()
    }

    /// All migrations of this version, in order.
    pub(crate) fn migrations(self) -> Vec<Migration> {
        let migrations = match self {
            Self::Sqlite => sqlite::migrations(),
            Self::Postgres => postgres::migrations(),
        };
        let migration = |one: &sqlx::migrate::Migration| Migration {
            number: one.version,
            sql: one.sql.as_str().to_owned(),
            checksum: one.checksum.to_vec(),
        };
        migrations.iter().map(migration).collect()
    }

    /// A query for the size of the database in bytes.
    pub(crate) fn size(self) -> &'static str {
        match self {
            Self::Sqlite => "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
            Self::Postgres => "SELECT pg_database_size(current_database())",
        }
    }

    /// The last migration that ran on this database; `None` if Docket did not create it.
    pub(crate) async fn step(self, connection: &mut AnyConnection) -> Result<Option<i64>, StoreError> {
        let there = match self {
            Self::Sqlite => "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1",
            Self::Postgres => {
                "SELECT COUNT(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1"
            }
        };
        let there: i64 = sqlx::query_scalar(there).bind(MIGRATIONS).fetch_one(&mut *connection).await?;
        if there == 0 {
            return Ok(None);
        }
        Ok(sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations").fetch_one(connection).await?)
    }
}

fn column(row: &AnyRow) -> Result<Column, StoreError> {
    let kind = match row.try_get::<String, _>(2)?.to_ascii_lowercase().as_str() {
        "text" => Kind::Text,
        "bigint" | "integer" => Kind::Integer,
        "blob" | "bytea" => Kind::Bytes,
        _ => Kind::Other,
    };
    Ok(Column { name: row.try_get(1)?, kind })
}
