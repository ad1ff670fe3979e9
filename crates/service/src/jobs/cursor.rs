//! Cursors of the list as text, bound to project and query. They contain no secret, only a digest against mistakes: a
//! forged cursor only leads to another page of the same list.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use model::ParseError;
use model::id::ProjectId;
use model::job_query::JobQuery;
use store::jobs::list::Cursor;

/// Bytes of a cursor's content: a direction and four numbers.
const CONTENT: usize = 1 + 4 * 8;
const DIGEST: usize = 6;

/// Binds cursors to one list.
pub(super) struct Seal(Sha256);

impl Seal {
    /// `query` must be canonical.
    pub(super) fn of(project: &ProjectId, query: &JobQuery) -> Self {
        Self(Sha256::new_with_prefix(format!("{project}?{}", query.canonical())))
    }

    /// Binds them to further filters, too.
    pub(super) fn and(self, filters: &str) -> Self {
        Self(self.0.chain_update([0]).chain_update(filters))
    }

    pub(super) fn write(&self, cursor: Cursor) -> String {
        let numbers =
            [cursor.top, cursor.changed_at, cursor.number, i64::try_from(cursor.before).unwrap_or(i64::MAX)];
        let mut bytes = vec![u8::from(cursor.backward)];
        bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        bytes.extend(self.digest(&bytes));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    pub(super) fn read(&self, text: &str) -> Result<Cursor, ParseError> {
        self.parse(text)
            .ok_or_else(|| "That page of the list does not exist. Start again from the first page.".into())
    }

    fn parse(&self, text: &str) -> Option<Cursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (content, digest) = bytes.split_at_checked(CONTENT)?;
        if digest != self.digest(content) {
            return None;
        }
        let (direction, numbers) = content.split_first()?;
        let number = |at: usize| {
            let bytes = numbers.get(at * 8..at * 8 + 8)?;
            Some(i64::from_be_bytes(bytes.try_into().ok()?)).filter(|number| *number >= 0)
        };
        Some(Cursor {
            backward: *direction == 1,
            top: number(0)?,
            changed_at: number(1)?,
            number: number(2)?,
            before: number(3)?.unsigned_abs(),
        })
    }

    fn digest(&self, content: &[u8]) -> Vec<u8> {
        self.0.clone().chain_update(content).finalize()[..DIGEST].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITION: Cursor =
        Cursor { backward: true, top: 123_456, changed_at: 1_795_000_000_000, number: 7, before: 50 };

    fn seal(project: &str, query: JobQuery) -> Option<Seal> {
        Some(Seal::of(&project.parse().ok()?, &query))
    }

    #[test]
    fn cursor_survives_encoding_and_decoding() {
        let read = seal("docs", JobQuery::default()).map(|seal| seal.parse(&seal.write(POSITION)));
        assert_eq!(read, Some(Some(POSITION)));
    }

    #[test]
    fn foreign_or_altered_cursor_is_rejected() {
        let cursor = seal("docs", JobQuery::default()).map(|seal| seal.write(POSITION)).unwrap_or_default();
        let reads = |project, query| seal(project, query).and_then(|seal| seal.parse(&cursor));
        assert_eq!(reads("docs", JobQuery::default()), Some(POSITION));
        assert_eq!(reads("api", JobQuery::default()), None);
        assert_eq!(reads("docs", JobQuery::default().with("sort", "oldest")), None);
        let seal = seal("docs", JobQuery::default());
        for at in 0..cursor.len() {
            let mut tampered = cursor.clone().into_bytes();
            tampered[at] = if tampered[at] == b'A' { b'B' } else { b'A' };
            let tampered = String::from_utf8(tampered).unwrap_or_default();
            assert_eq!(seal.as_ref().and_then(|seal| seal.parse(&tampered)), None, "letter {at}");
        }
        for text in ["", "51", "AAAA", "%", &"A".repeat(10_000)] {
            assert_eq!(seal.as_ref().and_then(|seal| seal.parse(text)), None, "{text}");
        }
    }
}
