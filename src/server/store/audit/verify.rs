//! Whether the chain holds: every row is read, and nothing is written.

use std::fmt;

use futures::TryStreamExt;
use sqlx::{Any, Row, Transaction};

use super::chain::BEGINNING;
use super::{LAST, Link, REMOVED, chain, end, from_row};
use crate::model::audit::Action;
use crate::server::store::{Store, StoreError};

/// What reading every row came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The last row that retention removed; number 0 if it never did.
    pub removed: Link,
    /// The last row, as far as the chain holds.
    pub last: Link,
    pub fault: Option<Fault>,
}

/// Where the chain breaks, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Rows that must be there are not.
    Missing { first: i64, last: i64 },
    /// What stands in a row is not what was written.
    Changed(i64),
    /// A row was written after another one than the one that is before it.
    OutOfPlace(i64),
    /// Rows were removed, and no row of retention says so.
    RemovedByNobody(i64),
    /// The end that is kept of the rows is not where they end.
    EndsElsewhere(i64),
}

impl Store {
    /// Reads every row of the audit log as it is now.
    pub async fn verify_audit(&self) -> Result<Verdict, StoreError> {
        let mut tx = self.pool.begin().await?;
        let removed = end(&mut tx, REMOVED).await?.unwrap_or_else(beginning);
        let mut verdict = Verdict { last: removed.clone(), removed, fault: None };
        verdict.fault = walk(&mut tx, &mut verdict).await?;
        Ok(verdict)
    }

    /// The row of the audit log with this number, if it is there; also the last one that was removed.
    pub async fn audit_link(&self, number: i64) -> Result<Option<Link>, StoreError> {
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

/// Follows the chain from what `verdict` has as its last row, and moves that along.
async fn walk(
    tx: &mut Transaction<'static, Any>,
    verdict: &mut Verdict,
) -> Result<Option<Fault>, StoreError> {
    let mut is_said = verdict.removed == beginning();
    let mut rows = sqlx::query("SELECT * FROM audit ORDER BY number").fetch(&mut **tx);
    while let Some(row) = rows.try_next().await? {
        let record = from_row(&row)?;
        let (number, expected) = (record.number, verdict.last.number + 1);
        if number > expected {
            return Ok(Some(Fault::Missing { first: expected, last: number - 1 }));
        }
        let (previous, hash): (String, String) = (row.try_get("previous")?, row.try_get("hash")?);
        if number < expected || chain::hash(&previous, &record) != hash {
            return Ok(Some(Fault::Changed(number)));
        }
        if previous != verdict.last.hash {
            return Ok(Some(Fault::OutOfPlace(number)));
        }
        is_said |=
            record.action == Action::AuditRemove.as_str() && record.subject == verdict.removed.to_string();
        verdict.last = Link { number, hash };
    }
    drop(rows);
    if !is_said {
        return Ok(Some(Fault::RemovedByNobody(verdict.removed.number)));
    }
    Ok(match end(tx, LAST).await? {
        Some(last) if last == verdict.last => None,
        Some(last) if last.number > verdict.last.number => {
            Some(Fault::Missing { first: verdict.last.number + 1, last: last.number })
        }
        _ => Some(Fault::EndsElsewhere(verdict.last.number)),
    })
}

fn beginning() -> Link {
    Link { number: 0, hash: BEGINNING.to_owned() }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { first, last } if first == last => write!(f, "record {first} is missing"),
            Self::Missing { first, last } => write!(f, "records {first} to {last} are missing"),
            Self::Changed(number) => write!(f, "record {number} is not what was written"),
            Self::OutOfPlace(number) => write!(f, "record {number} was not written after the one before it"),
            Self::RemovedByNobody(number) => {
                write!(
                    f,
                    "records up to {number} are missing, and no record says that retention removed them"
                )
            }
            Self::EndsElsewhere(number) => {
                write!(f, "record {number} is the last one, and not the one that was written last")
            }
        }
    }
}
