//! The hash chain of the audit log: SHA-256 over an unambiguous encoding of each row. Pure.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use model::audit::Record;

/// The previous hash of the first row.
pub const BEGINNING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The hash of a row in hexadecimal, where `previous` is the hash of the row before. It covers the line `docket audit 1`, then `previous` and every
/// field in the order of the table. Each is encoded as its length in bytes, a colon, the value and a line end.
pub fn hash(previous: &str, record: &Record) -> String {
    let (number, at) = (record.number.to_string(), record.at.as_millis().to_string());
    let fields = [
        previous,
        &number,
        &at,
        &record.actor_id,
        &record.actor,
        &record.client_ip,
        &record.action,
        &record.outcome,
        &record.project,
        &record.subject,
        &record.detail,
    ];
    let mut sum = Sha256::new();
    sum.update(b"docket audit 1\n");
    for field in fields {
        sum.update(format!("{}:{field}\n", field.len()));
    }
    HEXLOWER.encode(&sum.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::time::Timestamp;

    fn record() -> Record {
        Record {
            number: 1,
            at: Timestamp::from_millis(1_795_000_000_000),
            actor_id: "a".to_owned(),
            actor: "mia".to_owned(),
            client_ip: "192.0.2.7".to_owned(),
            action: "sign_in".to_owned(),
            outcome: "done".to_owned(),
            project: String::new(),
            subject: String::new(),
            detail: String::new(),
        }
    }

    #[test]
    fn row_hash_can_be_computed_with_other_tools() {
        // printf 'docket audit 1\n64:%064d\n1:1\n13:1795000000000\n1:a\n3:mia\n9:192.0.2.7\n7:sign_in\n4:done\n0:\n0:\n0:\n' 0 | sha256sum
        assert_eq!(
            hash(BEGINNING, &record()),
            "9a8cc6f1730969b8e4d96922ddd9e8f514284df1ac8f77059733a363400d3f0a"
        );
    }

    #[test]
    fn hash_changes_when_text_moves_between_fields() {
        let whole = hash(BEGINNING, &record());
        let moved = Record { actor_id: String::new(), actor: "amia".to_owned(), ..record() };
        assert_ne!(hash(BEGINNING, &moved), whole);
        let moved = Record { subject: "x\n1:y".to_owned(), detail: String::new(), ..record() };
        let other = Record { subject: "x".to_owned(), detail: "y".to_owned(), ..record() };
        assert_ne!(hash(BEGINNING, &moved), hash(BEGINNING, &other));
        assert_ne!(hash(&whole, &record()), whole);
    }
}
