//! Results returned in one row, as JSON. sqlx sends each row from the connection's task to the request, which wakes for it, and copies each column
//! twice. For a page of jobs this takes longer than writing and parsing JSON.

use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::any::AnyRow;

use super::Dialect;
use crate::StoreError;

impl Dialect {
    /// An expression for the rows of `from` (including what follows it) as a list of lists of `columns`, in no particular order. The fields of the
    /// type that is parsed from it follow the order of the columns.
    pub(crate) fn json_rows(self, columns: &str, from: &str) -> String {
        self.json_values(&self.json_list(columns), from)
    }

    /// An expression for a list of values.
    pub(crate) fn json_list(self, values: &str) -> String {
        match self {
            Self::Sqlite => format!("JSON_ARRAY({values})"),
            Self::Postgres => format!("JSON_BUILD_ARRAY({values})"),
        }
    }

    /// An expression for the list of the values `value` in the rows of `from`, in no particular order.
    pub(crate) fn json_values(self, value: &str, from: &str) -> String {
        match self {
            Self::Sqlite => format!("(SELECT JSON_GROUP_ARRAY({value}) FROM {from})"),
            Self::Postgres => format!("(SELECT COALESCE(JSON_AGG({value}), '[]') FROM {from})"),
        }
    }

    /// An expression for the number in a list at `index`, counted from 0.
    pub(crate) fn json_number(self, list: &str, index: usize) -> String {
        match self {
            Self::Sqlite => format!("JSON_EXTRACT({list}, '$[{index}]')"),
            Self::Postgres => format!("CAST({list} ->> {index} AS BIGINT)"),
        }
    }

    /// One of the above as a column of the result.
    pub(crate) fn json_column(self, json: &str) -> String {
        match self {
            Self::Sqlite => json.to_owned(),
            Self::Postgres => format!("CAST({json} AS TEXT)"),
        }
    }
}

/// Parses a column with a [`Dialect::json_column`].
pub(crate) fn read<T: DeserializeOwned>(row: &AnyRow, column: usize) -> Result<T, StoreError> {
    parsed(&row.try_get::<String, _>(column)?)
}

/// Parses the text of such a column.
pub(crate) fn parsed<T: DeserializeOwned>(json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json)
        .map_err(|error| StoreError::Corrupt(format!("a row that cannot be read ({error})")))
}
