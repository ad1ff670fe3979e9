//! Results that come in one row, as JSON, written with the functions of SQLite and nothing else: PostgreSQL has others of the
//! same kind (`JSON_BUILD_ARRAY`, `JSON_AGG`), which take the place of those in this file alone.
//!
//! Each row of a result goes by itself from the thread of its connection to the request, which is woken for it, and each of its
//! columns is copied twice on the way. For a page of jobs that takes longer than to write and read it as JSON.

use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::any::AnyRow;

use super::StoreError;

/// An expression for the rows of `from` (with what follows it) as a list of lists of `columns`, in no particular order. A type that
/// is read from it has its fields in the order of the columns.
pub(super) fn rows(columns: &str, from: &str) -> String {
    format!("(SELECT JSON_GROUP_ARRAY(JSON_ARRAY({columns})) FROM {from})")
}

/// An expression for a list of values.
pub(super) fn list(values: &str) -> String {
    format!("JSON_ARRAY({values})")
}

/// An expression for the list of what `value` is in the rows of `from`, in no particular order.
pub(super) fn values(value: &str, from: &str) -> String {
    format!("(SELECT JSON_GROUP_ARRAY({value}) FROM {from})")
}

/// An expression for the element of a list at `index`, from 0 on.
pub(super) fn element(list: &str, index: usize) -> String {
    format!("JSON_EXTRACT({list}, '$[{index}]')")
}

/// What a column holds that one of the above is in.
pub(super) fn read<T: DeserializeOwned>(row: &AnyRow, column: usize) -> Result<T, StoreError> {
    let text: String = row.try_get(column)?;
    serde_json::from_str(&text)
        .map_err(|error| StoreError::Corrupt(format!("a row that cannot be read ({error})")))
}
