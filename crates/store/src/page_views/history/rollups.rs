//! Daily rollups: all rows of a day in one blob, so that a range is summed from one row per day instead of one per day and page. Written in the
//! transaction that writes the rows. The rows stay authoritative.
//!
//! A blob is a sequence of LEB128 numbers, four per page in the order of their ids: the increase of the id, human and AI views, and the difference of
//! the total from their sum (zigzag-encoded, so that small differences are short).

use sqlx::{Any, AnyConnection, Row, Transaction};

use super::FetchedDay;
use crate::{Store, StoreError};
use base::blocking;
use base::work::Work;
use model::day::Day;
use model::id::ProjectId;
use model::page_views::ViewCounts;

/// How many rows are read at once.
const ROWS_AT_ONCE: i64 = 1_000;

/// The views of a page on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DayRow {
    pub(crate) path_id: i64,
    pub(crate) counts: ViewCounts,
}

impl Store {
    /// Writes the rollup of a day that lacks one.
    pub async fn refresh_rollup(&self, work: &Work, project: &ProjectId, day: Day) -> Result<(), StoreError> {
        let mut tx = self.write_history(work).begin().await?.tx;
        let row = sqlx::query("SELECT digest, version FROM history_days WHERE project = $1 AND day = $2")
            .bind(project.as_str())
            .bind(day.to_string())
            .fetch_optional(&mut *tx)
            .await?;
        let Some(row) = row else { return Ok(()) };
        let rows = rows_of(&mut tx, project, day, row.try_get("version")?).await?;
        let pages = blocking::run(rows.len(), move || packed(&rows)).await;
        put_rollup(&mut tx, project, day, row.try_get("digest")?, pages).await?;
        Ok(tx.commit().await?)
    }
}

/// Writes a day's rollup. Call it in the transaction that writes the day's row in `history_days`.
pub(crate) async fn write(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: &FetchedDay,
    pages: Vec<u8>,
) -> Result<(), StoreError> {
    put_rollup(tx, project, day.day, day.digest.clone(), pages).await
}

async fn put_rollup(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: Day,
    digest: String,
    pages: Vec<u8>,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO day_rollups (project, day, digest, pages) VALUES ($1, $2, $3, $4)
         ON CONFLICT (project, day) DO UPDATE SET digest = excluded.digest, pages = excluded.pages",
    )
    .bind(project.as_str())
    .bind(day.to_string())
    .bind(digest)
    .bind(pages)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// The rows of a version of a day, by path id.
pub(crate) async fn rows_of(
    connection: &mut AnyConnection,
    project: &ProjectId,
    day: Day,
    version: i64,
) -> Result<Vec<DayRow>, StoreError> {
    let (mut all, mut last) = (Vec::new(), i64::MIN);
    loop {
        let rows = sqlx::query(
            "SELECT path_id, human, ai, total FROM page_views
             WHERE project = $1 AND day = $2 AND version = $3 AND path_id > $4 ORDER BY path_id LIMIT $5",
        )
        .bind(project.as_str())
        .bind(day.to_string())
        .bind(version)
        .bind(last)
        .bind(ROWS_AT_ONCE)
        .fetch_all(&mut *connection)
        .await?;
        for row in &rows {
            let count = |column| Ok::<_, StoreError>(row.try_get::<i64, _>(column)?.unsigned_abs());
            let counts = ViewCounts { human: count(1)?, ai: count(2)?, total: count(3)? };
            all.push(DayRow { path_id: row.try_get(0)?, counts });
        }
        last = all.last().map_or(last, |row: &DayRow| row.path_id);
        if (rows.len() as i64) < ROWS_AT_ONCE {
            return Ok(all);
        }
    }
}

/// Encodes rows in ascending order of their ids.
pub(crate) fn packed(rows: &[DayRow]) -> Vec<u8> {
    blocking::must_be_apart(rows.len());
    let mut piece = Vec::with_capacity(rows.len() * 6);
    let mut last = 0;
    for DayRow { path_id, counts } in rows {
        let difference = counts.total.wrapping_sub(counts.human.wrapping_add(counts.ai)) as i64;
        let zigzag = ((difference << 1) ^ (difference >> 63)) as u64;
        for number in [path_id.wrapping_sub(last) as u64, counts.human, counts.ai, zigzag] {
            put(&mut piece, number);
        }
        last = *path_id;
    }
    piece
}

/// Passes each row of a blob to `add`, in the order of their ids.
pub(crate) fn unpack(piece: &[u8], mut add: impl FnMut(DayRow)) -> Result<(), StoreError> {
    let mut numbers = Numbers { rest: piece };
    let mut path_id: i64 = 0;
    while !numbers.rest.is_empty() {
        path_id = path_id.wrapping_add(numbers.next()? as i64);
        let (human, ai, zigzag) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let difference = (zigzag >> 1) ^ (zigzag & 1).wrapping_neg();
        let total = human.wrapping_add(ai).wrapping_add(difference);
        add(DayRow { path_id, counts: ViewCounts { human, ai, total } });
    }
    Ok(())
}

fn put(piece: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        piece.push(number as u8 | 0x80);
        number >>= 7;
    }
    piece.push(number as u8);
}

struct Numbers<'a> {
    rest: &'a [u8],
}

impl Numbers<'_> {
    fn next(&mut self) -> Result<u64, StoreError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or_else(broken)?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return Ok(number);
            }
        }
        Err(broken())
    }
}

fn broken() -> StoreError {
    StoreError::Corrupt("a day's rollup that breaks off".to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpacked(piece: &[u8]) -> Option<Vec<DayRow>> {
        let mut rows = Vec::new();
        unpack(piece, |row| rows.push(row)).ok().map(|()| rows)
    }

    proptest! {
        #[test]
        fn packed_rows_round_trip(
            counts in prop::collection::btree_map(0..i64::MAX, any::<(u64, u64, u64)>(), 0..50),
        ) {
            let row = |(path_id, (human, ai, total))| DayRow { path_id, counts: ViewCounts { human, ai, total } };
            let rows: Vec<DayRow> = counts.into_iter().map(row).collect();
            prop_assert_eq!(unpacked(&packed(&rows)), Some(rows));
        }

        #[test]
        fn unpacking_arbitrary_bytes_does_not_panic(piece in prop::collection::vec(any::<u8>(), 0..200)) {
            unpacked(&piece);
        }
    }

    #[test]
    fn typical_row_takes_five_bytes_and_a_partial_row_fails() {
        let row = DayRow { path_id: 17, counts: ViewCounts { human: 300, ai: 40, total: 340 } };
        let piece = packed(&[row]);
        assert_eq!(piece.len(), 5);
        assert_eq!(unpacked(&piece[..4]), None);
    }
}
