//! Writing a complete day: its rows, its totals and the result of the fetch, in one transaction that replaces the
//! previous ones. Works page by page, so that a day of any size needs the memory of one page.

use std::collections::HashSet;

use data_encoding::HEXLOWER;
use futures::TryStreamExt;
use sha2::{Digest, Sha256};
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::partial_day::page;
use super::{FetchedDay, fetched_day};
use crate::model::day::Day;
use crate::model::history::Mark;
use crate::model::id::ProjectId;
use crate::model::page_views::{PageViews, ViewCounts};
use crate::model::time::Timestamp;
use crate::server::store::{Store, StoreError, rollups};

/// Rows per statement.
const ROWS_AT_ONCE: usize = 250;

/// A day that was just fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFetch {
    pub day: Day,
    /// When its first page was requested.
    pub begun_at: Timestamp,
    pub totals: ViewCounts,
    pub rows: u64,
    /// Equal for equal rows and totals, within one database.
    pub digest: String,
    /// Whether the rows add up to the totals, and no figure had to be corrected.
    pub even: bool,
}

/// What to do with a fetched day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayDecision {
    /// Replace the stored day.
    Replace { agreed: u32, final_at: Option<Timestamp>, mark: Option<Mark> },
    /// Keep the stored day, and only record when it was fetched.
    Keep,
}

/// A day before and after a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub before: Option<FetchedDay>,
    /// `None` if the stored day was kept.
    pub after: Option<FetchedDay>,
}

impl Store {
    /// Writes a day from its stored pages; `decide` compares the stored day with the fetched one. Deletes the pages and
    /// the request for the day.
    pub async fn write_day(
        &self,
        project: &ProjectId,
        day: Day,
        decide: impl Fn(Option<&FetchedDay>, &NewFetch) -> DayDecision + Send,
    ) -> Result<Written, StoreError> {
        let mut tx = self.begin().await?;
        let before = day_in(&mut tx, project, day).await?;
        let fetched = write_rows(&mut tx, project, day).await?;
        let DayDecision::Replace { agreed, final_at, mark } = decide(before.as_ref(), &fetched) else {
            tx.rollback().await?;
            self.keep_day(project, &fetched).await?;
            return Ok(Written { before, after: None });
        };
        let NewFetch { begun_at: fetched_at, totals, rows, digest, .. } = fetched;
        let after = FetchedDay { day, totals, rows, digest, fetched_at, agreed, final_at, mark };
        write_day(&mut tx, project, &after).await?;
        rollups::refresh(&mut tx, project, day).await?;
        forget_partial_day(&mut tx, project, day).await?;
        tx.commit().await?;
        Ok(Written { before, after: Some(after) })
    }

    async fn keep_day(&self, project: &ProjectId, fetched: &NewFetch) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        sqlx::query("UPDATE history_days SET read_at = $3 WHERE project = $1 AND day = $2")
            .bind(project.as_str())
            .bind(fetched.day.to_string())
            .bind(fetched.begun_at.as_millis())
            .execute(&mut *tx)
            .await?;
        forget_partial_day(&mut tx, project, fetched.day).await?;
        Ok(tx.commit().await?)
    }
}

async fn day_in(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: Day,
) -> Result<Option<FetchedDay>, StoreError> {
    let row = sqlx::query("SELECT * FROM history_days WHERE project = $1 AND day = $2")
        .bind(project.as_str())
        .bind(day.to_string())
        .fetch_optional(&mut **tx)
        .await?;
    row.as_ref().map(fetched_day).transpose()
}

/// Replaces the rows of a day by those of its stored pages. If a path occurs twice, because rows moved between two
/// answers, the later answer counts; the totals then differ, which marks the day.
async fn write_rows(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: Day,
) -> Result<NewFetch, StoreError> {
    sqlx::query("DELETE FROM daily_views WHERE project = $1 AND day = $2")
        .bind(project.as_str())
        .bind(day.to_string())
        .execute(&mut **tx)
        .await?;
    let (mut begun_at, mut totals, mut corrected) = (None, ViewCounts::default(), false);
    for number in 0.. {
        let row = sqlx::query(
            "SELECT answer, read_at FROM history_reading WHERE project = $1 AND day = $2 AND page = $3",
        )
        .bind(project.as_str())
        .bind(day.to_string())
        .bind(number)
        .fetch_optional(&mut **tx)
        .await?;
        let Some(row) = row else { break };
        begun_at = begun_at.or(Some(Timestamp::from_millis(row.try_get("read_at")?)));
        let page = page(&row)?;
        (totals, corrected) = (page.totals, corrected || page.corrected);
        for views in page.views.chunks(ROWS_AT_ONCE) {
            insert(tx, project, day, views).await?;
        }
    }
    let begun_at = begun_at.ok_or_else(|| StoreError::Corrupt(format!("no page of {day}")))?;
    let (rows, sums, digest) = summed(tx, project, day, totals).await?;
    Ok(NewFetch { day, begun_at, totals, rows, digest, even: sums == totals && !corrected })
}

async fn insert(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: Day,
    views: &[PageViews],
) -> Result<(), StoreError> {
    // One statement must not insert a path twice.
    let mut met = HashSet::new();
    let mut views: Vec<&PageViews> =
        views.iter().rev().filter(|view| met.insert(view.path.as_str())).collect();
    views.reverse();
    let values = placeholders(views.len(), 1, 1);
    let mut paths = sqlx::query(AssertSqlSafe(format!(
        "WITH v (path) AS (VALUES {values}) INSERT INTO page_paths (project, path)
         SELECT $1, v.path FROM v WHERE true ON CONFLICT (project, path) DO NOTHING"
    )))
    .bind(project.as_str());
    for view in &views {
        paths = paths.bind(view.path.as_str());
    }
    // Preparing a statement for every count of rows would evict useful ones from the cache.
    paths.persistent(views.len() == ROWS_AT_ONCE).execute(&mut **tx).await?;

    let values = placeholders(views.len(), 2, 4);
    let mut rows = sqlx::query(AssertSqlSafe(format!(
        "WITH v (path, human, ai, total) AS (VALUES {values})
         INSERT INTO daily_views (project, day, path_id, human, ai, total)
         SELECT $1, $2, p.id, v.human, v.ai, v.total FROM v
         JOIN page_paths p ON p.project = $1 AND p.path = v.path WHERE true
         ON CONFLICT (project, day, path_id)
         DO UPDATE SET human = excluded.human, ai = excluded.ai, total = excluded.total"
    )))
    .bind(project.as_str())
    .bind(day.to_string());
    for view in &views {
        rows = rows
            .bind(view.path.as_str())
            .bind(whole(view.human))
            .bind(whole(view.ai))
            .bind(whole(view.total));
    }
    rows.persistent(views.len() == ROWS_AT_ONCE).execute(&mut **tx).await?;
    Ok(())
}

/// `($3, $4), ($5, $6)`: `rows` of `columns`, numbered after the first `taken` parameters.
fn placeholders(rows: usize, taken: usize, columns: usize) -> String {
    let row = |row| {
        let first = taken + 1 + row * columns;
        let numbers: Vec<String> = (first..first + columns).map(|number| format!("${number}")).collect();
        format!("({})", numbers.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

/// The number, the sums and a digest of a day's rows; the digest also covers `totals`.
async fn summed(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: Day,
    totals: ViewCounts,
) -> Result<(u64, ViewCounts, String), StoreError> {
    let (mut number, mut sums, mut digest) = (0, ViewCounts::default(), Sha256::new());
    let mut rows = sqlx::query(
        "SELECT path_id, human, ai, total FROM daily_views WHERE project = $1 AND day = $2 ORDER BY path_id",
    )
    .bind(project.as_str())
    .bind(day.to_string())
    .fetch(&mut **tx);
    while let Some(row) = rows.try_next().await? {
        let mut of = [0; 4];
        for (number, column) in of.iter_mut().zip(["path_id", "human", "ai", "total"]) {
            *number = row.try_get::<i64, _>(column)?;
            digest.update(number.to_le_bytes());
        }
        let [_, human, ai, total] = of.map(i64::unsigned_abs);
        sums.human = sums.human.saturating_add(human);
        sums.ai = sums.ai.saturating_add(ai);
        sums.total = sums.total.saturating_add(total);
        number += 1;
    }
    for count in [totals.human, totals.ai, totals.total] {
        digest.update(count.to_le_bytes());
    }
    let digest = HEXLOWER.encode(&digest.finalize());
    Ok((number, sums, digest))
}

async fn write_day(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: &FetchedDay,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM history_days WHERE project = $1 AND day = $2")
        .bind(project.as_str())
        .bind(day.day.to_string())
        .execute(&mut **tx)
        .await?;
    sqlx::query(
        "INSERT INTO history_days
         (project, day, human, ai, total, pages, digest, read_at, agreed, settled_at, mark)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(project.as_str())
    .bind(day.day.to_string())
    .bind(whole(day.totals.human))
    .bind(whole(day.totals.ai))
    .bind(whole(day.totals.total))
    .bind(whole(day.rows))
    .bind(day.digest.as_str())
    .bind(day.fetched_at.as_millis())
    .bind(i64::from(day.agreed))
    .bind(day.final_at.map(Timestamp::as_millis))
    .bind(day.mark.map(|mark| mark.into_str()))
    .execute(&mut **tx)
    .await?;
    Ok(())
}

async fn forget_partial_day(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: Day,
) -> Result<(), StoreError> {
    for table in ["history_reading", "history_wanted"] {
        sqlx::query(AssertSqlSafe(format!("DELETE FROM {table} WHERE project = $1 AND day = $2")))
            .bind(project.as_str())
            .bind(day.to_string())
            .execute(&mut **tx)
            .await?;
    }
    Ok(())
}

/// A count as a database integer.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
