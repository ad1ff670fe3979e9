//! Whether the audit log holds: by itself, against a copy, and against a record that somebody noted.

use crate::server::store::audit::ChainLink;
use crate::server::store::audit::verify::ChainCheck;
use crate::server::store::{Store, StoreError};

/// What became of a comparison of the ledger with a copy or a note of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// All records up to this one are the same.
    SameUpTo(i64),
    /// Retention has removed here what there was then.
    NothingInCommon,
    /// From this record on they differ.
    DifferFrom(i64),
    /// The ledger ends before this one, which there was once.
    Lacks(i64),
}

/// Compares the ledger with a record that was noted earlier.
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

/// Compares the ledger with a copy; both hold by themselves.
pub async fn against_copy(
    (store, check): (&Store, &ChainCheck),
    (copy, copied): (&Store, &ChainCheck),
) -> Result<Comparison, StoreError> {
    let first = check.removed.number.max(copied.removed.number);
    let last = check.last.number.min(copied.last.number);
    if first > last {
        return Ok(Comparison::NothingInCommon);
    }
    // Where two chains differ once, they differ from there on.
    let (mut same, mut differs) = (first - 1, last + 1);
    while differs - same > 1 {
        let middle = same + (differs - same) / 2;
        if store.audit_link(middle).await? == copy.audit_link(middle).await? {
            same = middle;
        } else {
            differs = middle;
        }
    }
    Ok(match differs {
        _ if same == last && copied.last.number > last => Comparison::Lacks(copied.last.number),
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
                f.write_str("nothing to compare: retention has removed here all that there was then")
            }
            Self::DifferFrom(number) => write!(f, "they differ from record {number} on"),
            Self::Lacks(number) => {
                write!(f, "the log ends before record {number}, which there was: its end was cut off")
            }
        }
    }
}
