//! Cursors of the list as text, bound to project and query. They contain no secret, only a digest against mistakes: a
//! forged cursor only leads to another page of the same list.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use model::ParseError;
use model::id::ProjectId;
use model::job_query::JobQuery;
use store::jobs::changes::ChangePosition;
use store::jobs::list::Cursor;

/// Bytes of the content of a cursor of the list: a direction and four numbers.
const CONTENT: usize = 1 + 4 * NUMBER;
/// Bytes of the content of a cursor of changes: three numbers.
const CONTENT_OF_CHANGES: usize = 3 * NUMBER;
const NUMBER: usize = 8;
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
        self.sealed(bytes)
    }

    pub(super) fn read(&self, text: &str) -> Result<Cursor, ParseError> {
        self.parse(text)
            .ok_or_else(|| "That page of the list does not exist. Start again from the first page.".into())
    }

    pub(super) fn write_change(&self, position: ChangePosition) -> String {
        let ChangePosition { after, first_top, restored_at } = position;
        self.sealed([after, first_top, restored_at].iter().flat_map(|number| number.to_be_bytes()).collect())
    }

    pub(super) fn read_change(&self, text: &str) -> Result<ChangePosition, ParseError> {
        let position = || {
            let content = self.opened(text, CONTENT_OF_CHANGES)?;
            let [after, first_top, restored_at] = numbers(&content)?;
            Some(ChangePosition { after, first_top, restored_at })
        };
        position().ok_or_else(|| {
            "This cursor does not belong to this list. Send it with the fields of the first request, or start again without a cursor."
                .into()
        })
    }

    fn parse(&self, text: &str) -> Option<Cursor> {
        let content = self.opened(text, CONTENT)?;
        let (direction, rest) = content.split_first()?;
        let [top, changed_at, number, before] = numbers(rest)?;
        let before = before.unsigned_abs();
        Some(Cursor { backward: *direction == 1, top, changed_at, number, before })
    }

    fn sealed(&self, mut content: Vec<u8>) -> String {
        content.extend(self.digest(&content));
        URL_SAFE_NO_PAD.encode(content)
    }

    /// The content of a cursor, if it has this many bytes and belongs to the list.
    fn opened(&self, text: &str, bytes: usize) -> Option<Vec<u8>> {
        let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (content, digest) = sealed.split_at_checked(bytes)?;
        (digest == self.digest(content)).then(|| content.to_vec())
    }

    fn digest(&self, content: &[u8]) -> Vec<u8> {
        self.0.clone().chain_update(content).finalize()[..DIGEST].to_vec()
    }
}

/// As many numbers as `bytes` have. None is negative.
fn numbers<const N: usize>(bytes: &[u8]) -> Option<[i64; N]> {
    let (parts, rest) = bytes.as_chunks::<NUMBER>();
    let numbers: Vec<i64> = parts.iter().map(|part| i64::from_be_bytes(*part)).collect();
    let numbers: [i64; N] = numbers.try_into().ok()?;
    (rest.is_empty() && numbers.iter().all(|number| *number >= 0)).then_some(numbers)
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
    fn cursor_of_changes_survives_and_is_none_of_the_list() {
        let position = ChangePosition { after: 7, first_top: 9, restored_at: 1_795_000_000_000 };
        let Some(seal) = seal("docs", JobQuery::default()) else { panic!("no such project") };
        let cursor = seal.write_change(position);
        assert_eq!(seal.read_change(&cursor), Ok(position));
        assert_eq!(seal.parse(&cursor), None);
        assert!(seal.read_change(&seal.write(POSITION)).is_err());
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
