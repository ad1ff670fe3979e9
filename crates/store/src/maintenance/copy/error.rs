//! Why a ledger was not copied. The target is then unchanged, apart from its schema.

use thiserror::Error;

use crate::StoreError;

#[derive(Debug, Error)]
pub enum CopyError {
    #[error("the source is no database of Docket: check --from")]
    NoLedger,
    #[error(
        "the source was last used by an older Docket (its schema has step {step}, and this version {newest}): \
         `docket user list` with DOCKET_DATABASE_URL set to it brings it up to date; then copy again"
    )]
    Older { step: i64, newest: i64 },
    #[error(
        "a `docket serve` uses the source: stop it, and copy again (if it was killed, that is known {0} s later)"
    )]
    InUse(u64),
    #[error("the target is not empty (there are rows in {0}), and was left as it is: choose a new database")]
    NotEmpty(String),
    #[error("the schemas of source and target are not the same: {0} differs, and nothing was copied")]
    OtherSchema(String),
    #[error(
        "{table}.{column} has a text with a zero byte, which PostgreSQL cannot store, in the row with {row}; nothing was copied"
    )]
    ZeroByte { table: String, column: String, row: String },
    #[error("{table} could not be copied, and the target was left empty: {error}")]
    Table { table: String, error: StoreError },
    #[error(
        "{table} is not the same in source and target ({read} rows were read, {written} are there), and the target was left empty"
    )]
    Differs { table: String, read: u64, written: u64 },
    #[error("the search of the target lacks {jobs} jobs or has too many, and the target was left empty")]
    NotIndexed { jobs: i64 },
    #[error(transparent)]
    Store(#[from] StoreError),
}
