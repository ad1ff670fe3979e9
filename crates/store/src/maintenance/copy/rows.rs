//! Copies the rows of one table: reads them in the order of the primary key, inserts many at a time, and digests them.

use std::fmt;

use futures::TryStreamExt;
use sha2::{Digest as _, Sha256};
use sqlx::any::AnyRow;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Row};

use super::{CopyError, Step};
use crate::StoreError;
use crate::dialect::{Dialect, Kind, Table};

/// The maximum number of values per statement: SQLite allows 32,766.
const VALUES_AT_ONCE: usize = 3_500;
/// The maximum number of bytes of texts per statement, unless one row has more.
const BYTES_AT_ONCE: usize = 1 << 20;
/// How many rows are copied between two progress reports.
const REPORT_EVERY: u64 = 100_000;

/// A digest of all rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digest {
    pub(super) rows: u64,
    hash: [u8; 32],
}

enum Value {
    Text(Option<String>),
    Integer(Option<i64>),
    Bytes(Option<Vec<u8>>),
}

pub(super) async fn count(connection: &mut AnyConnection, table: &Table) -> Result<u64, StoreError> {
    let count = format!("SELECT COUNT(*) FROM \"{}\"", table.name);
    let count: i64 = sqlx::query_scalar(AssertSqlSafe(count)).fetch_one(connection).await?;
    Ok(count.unsigned_abs())
}

/// Inserts all rows of the source's table into the target's; `of` is the expected number. Returns the digest of the rows that were read.
pub(super) async fn insert_all(
    from: &mut AnyConnection,
    to: &mut AnyConnection,
    dialect: Dialect,
    table: &Table,
    of: u64,
    report: &mut impl FnMut(Step<'_>),
) -> Result<Digest, CopyError> {
    let (mut hashed, mut batch) = (Hashed::default(), Batch::of(table));
    let mut rows = sqlx::query(AssertSqlSafe(select(table))).fetch(from);
    while let Some(row) = rows.try_next().await.map_err(|error| failed(table, error))? {
        let values = values(table, &row)?;
        hashed.add(&values);
        check_texts(table, &values, dialect)?;
        batch.push(values);
        if batch.is_full() {
            batch.insert(to).await?;
        }
        if hashed.rows.is_multiple_of(REPORT_EVERY) && hashed.rows < of {
            report(Step::Copying { table: &table.name, rows: hashed.rows, of });
        }
    }
    batch.insert(to).await?;
    report(Step::Copied { table: &table.name, rows: hashed.rows });
    Ok(hashed.into())
}

/// The digest of a table.
pub(super) async fn digest(connection: &mut AnyConnection, table: &Table) -> Result<Digest, CopyError> {
    let mut hashed = Hashed::default();
    let mut rows = sqlx::query(AssertSqlSafe(select(table))).fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(|error| failed(table, error))? {
        hashed.add(&values(table, &row)?);
    }
    Ok(hashed.into())
}

/// Both databases sort texts by code point, so that the order is the same.
fn select(table: &Table) -> String {
    format!("SELECT {} FROM \"{}\" ORDER BY {}", columns(table), table.name, list(table.key.iter()))
}

fn columns(table: &Table) -> String {
    list(table.columns.iter().map(|column| &column.name))
}

fn list<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn values(table: &Table, row: &AnyRow) -> Result<Vec<Value>, CopyError> {
    let value = |(index, kind)| {
        Ok(match kind {
            Kind::Text => Value::Text(row.try_get(index)?),
            Kind::Integer => Value::Integer(row.try_get(index)?),
            Kind::Bytes => Value::Bytes(row.try_get(index)?),
            Kind::Other => return Err(sqlx::Error::ColumnNotFound(table.name.clone())),
        })
    };
    let kinds = table.columns.iter().map(|column| column.kind).enumerate();
    kinds.map(value).collect::<Result<_, _>>().map_err(|error| failed(table, error))
}

fn failed(table: &Table, error: sqlx::Error) -> CopyError {
    CopyError::Table { table: table.name.clone(), error: error.into() }
}

fn check_texts(table: &Table, values: &[Value], dialect: Dialect) -> Result<(), CopyError> {
    for (column, value) in table.columns.iter().zip(values) {
        if matches!(value, Value::Text(Some(text)) if !dialect.can_store(text)) {
            let named = table.columns.iter().zip(values);
            let key = named.filter(|(column, _)| table.key.contains(&column.name));
            let key = key.map(|(column, value)| format!("{} {value}", column.name)).collect::<Vec<_>>();
            let (table, column) = (table.name.clone(), column.name.clone());
            return Err(CopyError::ZeroByte { table, column, row: key.join(", ") });
        }
    }
    Ok(())
}

/// Rows that are inserted with one statement.
struct Batch<'a> {
    table: &'a Table,
    /// The maximum number of rows.
    most: usize,
    rows: Vec<Vec<Value>>,
    bytes: usize,
}

impl<'a> Batch<'a> {
    fn of(table: &'a Table) -> Self {
        let most = (VALUES_AT_ONCE / table.columns.len()).max(1);
        Self { table, most, rows: Vec::with_capacity(most), bytes: 0 }
    }

    fn push(&mut self, row: Vec<Value>) {
        self.bytes += row.iter().map(Value::bytes).sum::<usize>();
        self.rows.push(row);
    }

    fn is_full(&self) -> bool {
        self.rows.len() == self.most || self.bytes >= BYTES_AT_ONCE
    }

    async fn insert(&mut self, to: &mut AnyConnection) -> Result<(), CopyError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let width = self.table.columns.len();
        let placeholders = (0..self.rows.len()).map(|row| {
            let placeholders = (1..=width).map(|index| format!("${}", row * width + index));
            format!("({})", placeholders.collect::<Vec<_>>().join(", "))
        });
        let placeholders = placeholders.collect::<Vec<_>>().join(", ");
        let insert =
            format!("INSERT INTO \"{}\" ({}) VALUES {placeholders}", self.table.name, columns(self.table));
        // A connection pooler would keep each prepared statement until the end of the copy.
        let mut query = sqlx::query(AssertSqlSafe(insert)).persistent(false);
        for value in self.rows.drain(..).flatten() {
            query = value.bind(query);
        }
        self.bytes = 0;
        query.execute(to).await.map_err(|error| failed(self.table, error))?;
        Ok(())
    }
}

impl Value {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.as_ref().map_or(0, String::len),
            Self::Bytes(bytes) => bytes.as_ref().map_or(0, Vec::len),
            Self::Integer(_) => 0,
        }
    }

    fn bind(self, query: Query<'_, Any, sqlx::any::AnyArguments>) -> Query<'_, Any, sqlx::any::AnyArguments> {
        match self {
            Self::Text(text) => query.bind(text),
            Self::Integer(number) => query.bind(number),
            Self::Bytes(bytes) => query.bind(bytes),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(Some(text)) => write!(f, "{text:?}"),
            Self::Integer(Some(number)) => write!(f, "{number}"),
            Self::Bytes(Some(bytes)) => write!(f, "{} bytes", bytes.len()),
            Self::Text(None) | Self::Integer(None) | Self::Bytes(None) => write!(f, "nothing"),
        }
    }
}

/// An unfinished digest.
#[derive(Default)]
struct Hashed {
    rows: u64,
    hash: Sha256,
}

impl Hashed {
    /// Each value is preceded by its kind and length, so that different rows never give the same bytes.
    fn add(&mut self, row: &[Value]) {
        self.rows += 1;
        for value in row {
            match value {
                Value::Text(None) | Value::Integer(None) | Value::Bytes(None) => self.hash.update([0]),
                Value::Integer(Some(number)) => {
                    self.hash.update([1]);
                    self.hash.update(number.to_be_bytes());
                }
                Value::Text(Some(text)) => self.add_long(2, text.as_bytes()),
                Value::Bytes(Some(bytes)) => self.add_long(3, bytes),
            }
        }
    }

    fn add_long(&mut self, kind: u8, bytes: &[u8]) {
        self.hash.update([kind]);
        self.hash.update((bytes.len() as u64).to_be_bytes());
        self.hash.update(bytes);
    }
}

impl From<Hashed> for Digest {
    fn from(hashed: Hashed) -> Self {
        Self { rows: hashed.rows, hash: hashed.hash.finalize().into() }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
