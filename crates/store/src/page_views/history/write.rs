//! Writes a complete day. Its rows are written in small steps, under another version than the one that is read. One transaction then stores the
//! result of the fetch and switches the version. The next write of the day or retention removes leftovers of a crash. Works page by page: the memory
//! needed is one page and its rollup, whatever the size of the day.

use std::collections::HashSet;
use std::time::Duration;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use sqlx::{Any, AnyConnection, AssertSqlSafe, Row, Transaction};

use super::partial_day::page;
use super::rollups::{self, DayRow};
use super::{EmptyFetches, FetchedDay, fetched_day};
use crate::dialect::Dialect;
use crate::{Store, StoreError};
use base::blocking;
use base::work::Work;
use model::day::Day;
use model::history::Mark;
use model::id::ProjectId;
use model::page_views::{PageViews, ViewCounts};
use model::time::Timestamp;

/// Rows per statement, and per transaction.
const ROWS_AT_ONCE: usize = 250;
const REMOVED_AT_ONCE: i64 = 500;
/// Lets other writers take the write lock.
const BETWEEN_STEPS: Duration = Duration::from_millis(2);

/// The rows of one version of a day. `history_days` stores the version that is read.
#[derive(Clone, Copy)]
struct Rows<'a> {
    project: &'a ProjectId,
    day: Day,
    /// 0 or 1.
    version: i64,
}

/// A day that was just fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFetch {
    pub day: Day,
    /// When its first page was requested.
    pub begun_at: Timestamp,
    pub totals: ViewCounts,
    /// Of its rows.
    pub sums: ViewCounts,
    pub rows: u64,
    /// Equal for equal rows and totals, within one database.
    pub digest: String,
    /// Whether the rows add up to the totals, and no number had to be corrected.
    pub even: bool,
}

/// What to do with a fetched day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayDecision {
    /// Replace the stored day.
    Replace { equal_fetches: u32, final_at: Option<Timestamp>, mark: Option<Mark>, empty: EmptyFetches },
    /// Leave the figures of the stored day unchanged, and only record when it was fetched.
    Keep { final_at: Option<Timestamp>, mark: Option<Mark>, empty: EmptyFetches },
}

/// A day before and after a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub before: Option<FetchedDay>,
    /// `None` if the stored day is unchanged.
    pub after: Option<FetchedDay>,
}

impl Store {
    /// Writes a day from its stored pages; `decide` compares the stored day with the fetched one. Deletes the pages and the request for the day.
    pub async fn write_day(
        &self,
        work: &Work,
        project: &ProjectId,
        day: Day,
        decide: impl Fn(Option<&FetchedDay>, &NewFetch) -> DayDecision + Send,
    ) -> Result<Written, StoreError> {
        let stored = day_in(&mut *self.pool.acquire().await?, project, day).await?;
        let rows = Rows { project, day, version: stored.as_ref().map_or(0, |(_, version)| 1 - version) };
        // Rows left by an interrupted write.
        self.remove_rows(work, rows).await?;
        let (fetched, rollup) = self.write_rows(work, rows).await?;
        let before = stored.as_ref().map(|(day, _)| day.clone());
        let (equal_fetches, final_at, mark, empty) = match decide(before.as_ref(), &fetched) {
            DayDecision::Replace { equal_fetches, final_at, mark, empty } => {
                (equal_fetches, final_at, mark, empty)
            }
            DayDecision::Keep { final_at, mark, empty } => {
                self.record_unchanged_day(work, project, &fetched, (final_at, mark, empty)).await?;
                self.remove_rows(work, rows).await?;
                return Ok(Written { before, after: None });
            }
        };
        let NewFetch { begun_at: fetched_at, totals, rows: number, digest, .. } = fetched;
        let after = FetchedDay {
            day,
            totals,
            rows: number,
            digest,
            fetched_at,
            equal_fetches,
            final_at,
            mark,
            empty,
        };
        let mut tx = self.begin_fetched(work).await?;
        if day_in(&mut tx, project, day).await? != stored {
            return Err(StoreError::Overtaken);
        }
        write_day(&mut tx, rows, &after).await?;
        rollups::write(&mut tx, project, &after, rollup).await?;
        forget_partial_day(&mut tx, project, day).await?;
        tx.commit().await?;
        self.remove_rows(work, Rows { version: 1 - rows.version, ..rows }).await?;
        Ok(Written { before, after: Some(after) })
    }

    /// Writes the rows of a day's stored pages. If a path occurs twice, because rows moved between two responses, the later response counts. The
    /// totals then differ, which marks the day.
    async fn write_rows(&self, work: &Work, rows: Rows<'_>) -> Result<(NewFetch, Vec<u8>), StoreError> {
        let day = rows.day;
        let (mut begun_at, mut totals, mut corrected) = (None, ViewCounts::default(), false);
        for number in 0.. {
            let row = sqlx::query(
                "SELECT response, fetched_at FROM partial_days WHERE project = $1 AND day = $2 AND page = $3",
            )
            .bind(rows.project.as_str())
            .bind(day.to_string())
            .bind(number)
            .fetch_optional(&self.pool)
            .await?;
            let Some(row) = row else { break };
            begun_at = begun_at.or(Some(Timestamp::from_millis(row.try_get("fetched_at")?)));
            let page = page(&row)?;
            (totals, corrected) = (page.totals, corrected || page.corrected);
            for views in page.views.chunks(ROWS_AT_ONCE) {
                let mut tx = self.begin_fetched(work).await?;
                insert(&mut tx, self.dialect, rows, views).await?;
                tx.commit().await?;
                tokio::time::sleep(BETWEEN_STEPS).await;
            }
        }
        let begun_at = begun_at.ok_or_else(|| StoreError::Corrupt(format!("no page of {day}")))?;
        let written =
            rollups::rows_of(&mut *self.pool.acquire().await?, rows.project, day, rows.version).await?;
        let (number, sums, digest, rollup) =
            blocking::run(written.len(), move || summed(&written, totals)).await;
        let even = sums == totals && !corrected;
        Ok((NewFetch { day, begun_at, totals, sums, rows: number, digest, even }, rollup))
    }

    /// Removes all rows of one version of a day.
    async fn remove_rows(&self, work: &Work, rows: Rows<'_>) -> Result<(), StoreError> {
        loop {
            let mut tx = self.begin_fetched(work).await?;
            let removed = sqlx::query(
                "DELETE FROM page_views WHERE project = $1 AND day = $2 AND version = $3 AND path_id IN (
                     SELECT path_id FROM page_views WHERE project = $1 AND day = $2 AND version = $3
                     ORDER BY path_id LIMIT $4)",
            )
            .bind(rows.project.as_str())
            .bind(rows.day.to_string())
            .bind(rows.version)
            .bind(REMOVED_AT_ONCE)
            .execute(&mut *tx)
            .await?
            .rows_affected();
            tx.commit().await?;
            if removed == 0 {
                return Ok(());
            }
            tokio::time::sleep(BETWEEN_STEPS).await;
        }
    }

    async fn record_unchanged_day(
        &self,
        work: &Work,
        project: &ProjectId,
        fetched: &NewFetch,
        (final_at, mark, empty): (Option<Timestamp>, Option<Mark>, EmptyFetches),
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_fetched(work).await?;
        sqlx::query(
            "UPDATE history_days SET fetched_at = $3, mark = $4, empty_fetches = $5, empty_on = $6, final_at = $7
             WHERE project = $1 AND day = $2",
        )
        .bind(project.as_str())
        .bind(fetched.day.to_string())
        .bind(fetched.begun_at.as_millis())
        .bind(mark.map(|mark| mark.into_str()))
        .bind(i64::from(empty.days))
        .bind(empty.last.map(|day| day.to_string()))
        .bind(final_at.map(Timestamp::as_millis))
        .execute(&mut *tx)
        .await?;
        forget_partial_day(&mut tx, project, fetched.day).await?;
        Ok(tx.commit().await?)
    }
}

/// A stored day, and the version of its rows.
async fn day_in(
    connection: &mut AnyConnection,
    project: &ProjectId,
    day: Day,
) -> Result<Option<(FetchedDay, i64)>, StoreError> {
    let row = sqlx::query("SELECT * FROM history_days WHERE project = $1 AND day = $2")
        .bind(project.as_str())
        .bind(day.to_string())
        .fetch_optional(connection)
        .await?;
    row.map(|row| Ok((fetched_day(&row)?, row.try_get("version")?))).transpose()
}

async fn insert(
    tx: &mut Transaction<'static, Any>,
    dialect: Dialect,
    Rows { project, day, version }: Rows<'_>,
    views: &[PageViews],
) -> Result<(), StoreError> {
    // One statement must not insert a path twice.
    let mut seen = HashSet::new();
    let mut views: Vec<&PageViews> =
        views.iter().rev().filter(|view| seen.insert(view.path.as_str())).collect();
    views.reverse();
    let values = placeholders(views.len(), 2, 1);
    let mut paths = sqlx::query(AssertSqlSafe(format!(
        "WITH v (path) AS (VALUES {values}) INSERT INTO page_paths (project, path, seen_on)
         SELECT $1, v.path, $2 FROM v WHERE true ON CONFLICT ({})
         DO UPDATE SET seen_on = excluded.seen_on WHERE page_paths.seen_on < excluded.seen_on",
        dialect.key_of_paths()
    )))
    .bind(project.as_str())
    .bind(day.to_string());
    for view in &views {
        paths = paths.bind(view.path.as_str());
    }
    // Prepared statements for every number of rows would evict useful ones from the cache, and a connection pooler would keep them.
    paths.persistent(false).execute(&mut **tx).await?;

    let values = placeholders(views.len(), 3, 4);
    let mut rows = sqlx::query(AssertSqlSafe(format!(
        "WITH v (path, human, ai, total) AS (VALUES {values})
         INSERT INTO page_views (project, day, version, path_id, human, ai, total)
         SELECT $1, $2, $3, p.id, v.human, v.ai, v.total FROM v
         JOIN page_paths p ON p.project = $1 AND p.path = v.path WHERE true
         ON CONFLICT (project, day, version, path_id)
         DO UPDATE SET human = excluded.human, ai = excluded.ai, total = excluded.total"
    )))
    .bind(project.as_str())
    .bind(day.to_string())
    .bind(version);
    for view in &views {
        rows = rows
            .bind(view.path.as_str())
            .bind(whole(view.human))
            .bind(whole(view.ai))
            .bind(whole(view.total));
    }
    rows.persistent(false).execute(&mut **tx).await?;
    Ok(())
}

/// `($3, $4), ($5, $6)`: `rows` of `columns`, numbered after the first `used` parameters.
fn placeholders(rows: usize, used: usize, columns: usize) -> String {
    let row = |row| {
        let first = used + 1 + row * columns;
        let numbers: Vec<String> = (first..first + columns).map(|number| format!("${number}")).collect();
        format!("({})", numbers.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

/// The number, the sums, a digest and the rollup of a day's rows; the digest also covers `totals`.
fn summed(rows: &[DayRow], totals: ViewCounts) -> (u64, ViewCounts, String, Vec<u8>) {
    blocking::must_be_apart(rows.len());
    let (mut sums, mut digest) = (ViewCounts::default(), Sha256::new());
    for DayRow { path_id, counts } in rows {
        digest.update(path_id.to_le_bytes());
        for (sum, count) in
            [(&mut sums.human, counts.human), (&mut sums.ai, counts.ai), (&mut sums.total, counts.total)]
        {
            digest.update(count.to_le_bytes());
            *sum = sum.saturating_add(count);
        }
    }
    for count in [totals.human, totals.ai, totals.total] {
        digest.update(count.to_le_bytes());
    }
    (rows.len() as u64, sums, HEXLOWER.encode(&digest.finalize()), rollups::packed(rows))
}

async fn write_day(
    tx: &mut Transaction<'static, Any>,
    Rows { project, version, .. }: Rows<'_>,
    day: &FetchedDay,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM history_days WHERE project = $1 AND day = $2")
        .bind(project.as_str())
        .bind(day.day.to_string())
        .execute(&mut **tx)
        .await?;
    sqlx::query(
        "INSERT INTO history_days
         (project, day, human, ai, total, pages, digest, fetched_at, equal_fetches, final_at, mark, version,
          empty_fetches, empty_on)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    )
    .bind(project.as_str())
    .bind(day.day.to_string())
    .bind(whole(day.totals.human))
    .bind(whole(day.totals.ai))
    .bind(whole(day.totals.total))
    .bind(whole(day.rows))
    .bind(day.digest.as_str())
    .bind(day.fetched_at.as_millis())
    .bind(i64::from(day.equal_fetches))
    .bind(day.final_at.map(Timestamp::as_millis))
    .bind(day.mark.map(|mark| mark.into_str()))
    .bind(version)
    .bind(i64::from(day.empty.days))
    .bind(day.empty.last.map(|day| day.to_string()))
    .execute(&mut **tx)
    .await?;
    Ok(())
}

async fn forget_partial_day(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: Day,
) -> Result<(), StoreError> {
    for table in ["partial_days", "requested_days", "failing_days"] {
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
