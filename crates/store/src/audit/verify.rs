//! Verification of the audit log: reads every row and writes nothing.

use std::fmt;

use sqlx::any::AnyRow;
use sqlx::{Any, Row, Transaction};

use super::chain::BEGINNING;
use super::{ChainLink, LAST, REMOVED, chain, end, from_row};
use crate::{Store, StoreError};
use base::blocking;
use model::audit::Action;

/// Rows per statement.
const ROWS_AT_ONCE: i64 = 1_000;
/// Hashing one row takes as long as summing this many.
const HASH_IN_ROWS: usize = 20;

/// The result of the verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainCheck {
    /// The last row that retention removed; number 0 if it removed none.
    pub removed: ChainLink,
    /// The last row for which the chain is valid.
    pub last: ChainLink,
    pub fault: Option<ChainFault>,
}

/// The kind and position of a fault in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainFault {
    /// Rows are missing.
    Missing { first: i64, last: i64 },
    /// A row was modified.
    Changed(i64),
    /// The row's previous hash does not match the row before it.
    WrongPredecessor(i64),
    /// Rows were removed, and no retention row refers to the last of them.
    RemovedWithoutRecord(i64),
    /// The stored end differs from the last row.
    EndsElsewhere(i64),
}

impl Store {
    /// Verifies every row of the audit log, as of now.
    pub async fn verify_audit(&self) -> Result<ChainCheck, StoreError> {
        let mut tx = self.begin_to_read().await?;
        let removed = end(&mut tx, REMOVED).await?.unwrap_or_else(beginning);
        let mut check = ChainCheck { last: removed.clone(), removed, fault: None };
        check.fault = walk(&mut tx, &mut check).await?;
        Ok(check)
    }

    /// The link of the row with this number, or of the last removed row; `None` if there is none.
    pub async fn audit_link(&self, number: i64) -> Result<Option<ChainLink>, StoreError> {
        let row = sqlx::query(
            "SELECT number, hash FROM audit WHERE number = $1
             UNION SELECT number, hash FROM audit_ends WHERE name = 'removed' AND number = $1",
        )
        .bind(number)
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(super::link).transpose()
    }
}

/// Verifies the rows after `check.last`, and advances it.
async fn walk(
    tx: &mut Transaction<'static, Any>,
    check: &mut ChainCheck,
) -> Result<Option<ChainFault>, StoreError> {
    let mut is_recorded = check.removed == beginning();
    let there_again: Option<i64> = sqlx::query_scalar("SELECT MIN(number) FROM audit WHERE number <= $1")
        .bind(check.removed.number)
        .fetch_one(&mut **tx)
        .await?;
    if let Some(number) = there_again {
        return Ok(Some(ChainFault::Changed(number)));
    }
    loop {
        let rows = sqlx::query("SELECT * FROM audit WHERE number > $1 ORDER BY number LIMIT $2")
            .bind(check.last.number)
            .bind(ROWS_AT_ONCE)
            .fetch_all(&mut **tx)
            .await?;
        let is_end = (rows.len() as i64) < ROWS_AT_ONCE;
        let (mut walked, removed) = (check.last.clone(), check.removed.clone());
        // A hash is more work than a row of a sum.
        let (last, fault, recorded) = blocking::run(rows.len() * HASH_IN_ROWS, move || {
            let (fault, recorded) = follow(&rows, &mut walked, &removed)?;
            Ok::<_, StoreError>((walked, fault, recorded))
        })
        .await?;
        check.last = last;
        is_recorded |= recorded;
        match fault {
            Some(fault) => return Ok(Some(fault)),
            None if is_end => break,
            None => {}
        }
    }
    if !is_recorded {
        return Ok(Some(ChainFault::RemovedWithoutRecord(check.removed.number)));
    }
    Ok(match end(tx, LAST).await? {
        Some(last) if last == check.last => None,
        Some(last) if last.number > check.last.number => {
            Some(ChainFault::Missing { first: check.last.number + 1, last: last.number })
        }
        _ => Some(ChainFault::EndsElsewhere(check.last.number)),
    })
}

/// Verifies the rows that should follow `last`, and advances it. Also returns whether one of them records the removal of the rows up to `removed`, or
/// of more: then the removal has not ended.
fn follow(
    rows: &[AnyRow],
    last: &mut ChainLink,
    removed: &ChainLink,
) -> Result<(Option<ChainFault>, bool), StoreError> {
    let mut is_recorded = false;
    for row in rows {
        let record = from_row(row)?;
        let (number, expected) = (record.number, last.number + 1);
        if number > expected {
            return Ok((Some(ChainFault::Missing { first: expected, last: number - 1 }), is_recorded));
        }
        let (previous, hash): (String, String) = (row.try_get("previous")?, row.try_get("hash")?);
        if chain::hash(&previous, &record) != hash {
            return Ok((Some(ChainFault::Changed(number)), is_recorded));
        }
        if previous != last.hash {
            return Ok((Some(ChainFault::WrongPredecessor(number)), is_recorded));
        }
        is_recorded |= record.action == Action::AuditRemove.as_str()
            && record
                .subject
                .parse()
                .is_ok_and(|up_to: ChainLink| up_to == *removed || up_to.number > removed.number);
        *last = ChainLink { number, hash };
    }
    Ok((None, is_recorded))
}

fn beginning() -> ChainLink {
    ChainLink { number: 0, hash: BEGINNING.to_owned() }
}

impl fmt::Display for ChainFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { first, last } if first == last => write!(f, "record {first} is missing"),
            Self::Missing { first, last } => write!(f, "records {first} to {last} are missing"),
            Self::Changed(number) => write!(f, "record {number} was changed"),
            Self::WrongPredecessor(number) => {
                write!(f, "record {number} does not follow the record before it")
            }
            Self::RemovedWithoutRecord(number) => {
                write!(
                    f,
                    "records up to {number} are missing, and no record states that retention removed them"
                )
            }
            Self::EndsElsewhere(number) => {
                write!(f, "record {number} is the last one, but another record was written last")
            }
        }
    }
}
