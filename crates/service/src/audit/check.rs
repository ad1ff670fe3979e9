//! Verification of the audit log: by itself, against a copy, and against a record noted earlier.

use store::audit::ChainLink;
use store::audit::verify::ChainCheck;
use store::{Store, StoreError};

/// The result of comparing the audit log with a copy or a noted record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// All records up to this one are equal.
    SameUpTo(i64),
    /// Retention has removed the records that could be compared.
    NothingInCommon,
    /// The records differ from this one on.
    DifferFrom(i64),
    /// The log ends before this record, which existed once.
    Lacks(i64),
}

/// Compares the log with a record that was noted earlier.
pub async fn against_note(
    store: &Store,
    check: &ChainCheck,
    noted: &ChainLink,
) -> Result<Comparison, StoreError> {
    if noted.number < check.removed.number {
        return Ok(Comparison::NothingInCommon);
    }
    Ok(match store.audit_link(noted.number).await? {
        Some(ours) if ours == *noted => Comparison::SameUpTo(noted.number),
        Some(_) => Comparison::DifferFrom(noted.number),
        None => Comparison::Lacks(noted.number),
    })
}

/// An audit log whose chain was verified.
#[derive(Clone, Copy)]
pub struct VerifiedLog<'a> {
    pub store: &'a Store,
    pub check: &'a ChainCheck,
}

/// Compares the log with a copy; each is valid by itself.
pub async fn against_copy(log: VerifiedLog<'_>, copy: VerifiedLog<'_>) -> Result<Comparison, StoreError> {
    let first = log.check.removed.number.max(copy.check.removed.number);
    let last = log.check.last.number.min(copy.check.last.number);
    if first > last {
        return Ok(Comparison::NothingInCommon);
    }
    // Two chains that differ at one record differ in all later ones.
    let (mut same, mut differs) = (first - 1, last + 1);
    while differs - same > 1 {
        let middle = same + (differs - same) / 2;
        if log.store.audit_link(middle).await? == copy.store.audit_link(middle).await? {
            same = middle;
        } else {
            differs = middle;
        }
    }
    Ok(match differs {
        _ if same == last && copy.check.last.number > last => Comparison::Lacks(copy.check.last.number),
        _ if same == last => Comparison::SameUpTo(last),
        differs => Comparison::DifferFrom(differs),
    })
}

impl Comparison {
    pub fn is_good(&self) -> bool {
        matches!(self, Self::SameUpTo(_) | Self::NothingInCommon)
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SameUpTo(number) => write!(f, "the same up to record {number}"),
            Self::NothingInCommon => {
                f.write_str("nothing to compare: retention has removed the records of that time")
            }
            Self::DifferFrom(number) => write!(f, "they differ from record {number} on"),
            Self::Lacks(number) => {
                write!(f, "the log ends before record {number}, which existed: its end was cut off")
            }
        }
    }
}
