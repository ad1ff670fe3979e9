//! Reads the daily history from a snapshot. Callers decide which days are complete, and define comparisons and folders.

mod finished;
mod summary;

use std::sync::Arc;

use futures::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};
use tokio::sync::OwnedSemaphorePermit;

use self::finished::total;
#[cfg(test)]
pub(crate) use self::finished::{Completed, finished_about};
pub use self::finished::{FinishedJob, FinishedJobs};
pub use self::summary::{Summary, SummaryRanges};
use super::history::rollups::{self, DayRow};
use crate::dialect::Dialect;
use crate::{Store, StoreError, instant, optional_word, word};
use base::blocking;
use model::analytics::trend::Annotation;
use model::day::{Day, DayRange};
use model::history::Mark;
use model::id::ProjectId;
use model::page_views::ViewCounts;
use model::time::Timestamp;

/// The maximum number of annotations in one result.
const ANNOTATIONS_MAX: i64 = 500;

/// The newest annotations of a range, oldest first.
#[derive(Debug)]
pub struct Annotations {
    pub newest: Vec<Annotation>,
    /// How many there are.
    pub total: u64,
}

/// Selects the newest annotations of the project `$1`, and their number `total`.
fn newest_annotations(first: &str, last: &str, limit: &str) -> String {
    format!(
        "SELECT a.id, a.day, a.text, u.name AS author, COUNT(*) OVER () AS total
         FROM annotations a JOIN users u ON u.id = a.author_id
         WHERE a.project = $1 AND a.day BETWEEN {first} AND {last} ORDER BY a.day DESC, a.id DESC LIMIT {limit}"
    )
}

/// $1: the project, $2: the first day.
pub(crate) const PATHS: &str = "SELECT id, path FROM page_paths WHERE project = $1 AND seen_on >= $2";

/// A consistent snapshot of a project's history. It uses a connection: drop it before sending anything to a client.
pub struct Snapshot {
    pub(super) tx: Transaction<'static, Any>,
    dialect: Dialect,
    pub(super) project: ProjectId,
    _permit: OwnedSemaphorePermit,
}

/// A stored day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDay {
    pub day: Day,
    /// The upstream's totals, which may differ from the sums of the rows.
    pub totals: ViewCounts,
    pub fetched_at: Timestamp,
    pub mark: Option<Mark>,
    /// Equal for equal rows.
    pub digest: String,
    /// Whether only the weekly check fetches it again.
    pub is_final: bool,
}

/// Rollup pieces are added up in batches of about this many bytes.
const BATCH_BYTES: usize = 256 * 1024;
/// The size of a row in a piece.
const ROW_BYTES: usize = 5;

/// Paths of a project, in the order of their ids.
#[derive(Debug, Default)]
pub struct Paths {
    ids: Vec<i64>,
    names: Vec<String>,
}

/// The views of each of [`Paths`]; `None` for a path without a row.
pub type Sums = Vec<Option<ViewCounts>>;

impl Store {
    pub async fn snapshot(&self, project: &ProjectId) -> Result<Snapshot, StoreError> {
        let permit = self.queries.snapshot_permit().await?;
        let tx = self.begin_to_read().await?;
        Ok(Snapshot { tx, dialect: self.dialect, project: project.clone(), _permit: permit })
    }
}

impl Snapshot {
    /// The stored days of the range, oldest first.
    pub async fn days(&mut self, range: DayRange) -> Result<Vec<StoredDay>, StoreError> {
        let rows = sqlx::query(
            "SELECT day, human, ai, total, fetched_at, mark, digest, final_at FROM history_days
             WHERE project = $1 AND day BETWEEN $2 AND $3 ORDER BY day",
        )
        .bind(self.project.as_str())
        .bind(range.from().to_string())
        .bind(range.to().to_string())
        .fetch_all(&mut *self.tx)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(StoredDay {
                    day: word(row, "day")?,
                    totals: counts(row)?,
                    fetched_at: instant(row, "fetched_at")?,
                    mark: optional_word(row, "mark")?,
                    digest: row.try_get("digest")?,
                    is_final: row.try_get::<Option<i64>, _>("final_at")?.is_some(),
                })
            })
            .collect()
    }

    /// The paths with views on `first` or later. Rows of these days refer to no other path.
    pub async fn paths(&mut self, first: Day) -> Result<Arc<Paths>, StoreError> {
        let mut rows =
            sqlx::query(PATHS).bind(self.project.as_str()).bind(first.to_string()).fetch(&mut *self.tx);
        let mut found: Vec<(i64, String)> = Vec::new();
        while let Some(row) = rows.try_next().await? {
            found.push((row.try_get(0)?, row.try_get(1)?));
        }
        drop(rows);
        let found_number = found.len();
        let sort = move || {
            found.sort_unstable_by_key(|(id, _)| *id);
            Arc::new(Paths::from_iter(found))
        };
        Ok(blocking::run(found_number, sort).await)
    }

    /// The views of each page over the days of the range, without those in `but`.
    pub async fn sums(
        &mut self,
        range: DayRange,
        but: &[Day],
        paths: &Arc<Paths>,
    ) -> Result<Sums, StoreError> {
        let (sums, paths, but) = (vec![None; paths.len()], paths.clone(), Arc::<[Day]>::from(but));
        let add = move |sums: &mut Sums, day, rows: DayRows| match but.contains(&day) {
            true => Ok(()),
            false => rows.each(&paths, |at, counts| *sums[at].get_or_insert_default() += counts),
        };
        self.fold(range, sums, add).await
    }

    /// The summed views of the `wanted` pages for each stored day of the range, oldest first.
    pub async fn sums_by_day(
        &mut self,
        range: DayRange,
        paths: &Arc<Paths>,
        wanted: &Arc<[bool]>,
    ) -> Result<Vec<(Day, ViewCounts)>, StoreError> {
        let (paths, wanted) = (paths.clone(), wanted.clone());
        let add = move |days: &mut Vec<(Day, ViewCounts)>, day, rows: DayRows| {
            let mut sum = ViewCounts::default();
            rows.each(&paths, |at, counts| {
                if wanted[at] {
                    sum += counts;
                }
            })?;
            days.push((day, sum));
            Ok::<_, StoreError>(())
        };
        let mut days = self.fold(range, Vec::new(), add).await?;
        days.sort_unstable_by_key(|(day, _)| *day);
        Ok(days)
    }

    /// The views of one page for each stored day of the range, oldest first.
    pub async fn page_by_day(
        &mut self,
        range: DayRange,
        path: &str,
    ) -> Result<Vec<(Day, ViewCounts)>, StoreError> {
        let rows = sqlx::query(
            "SELECT h.day, COALESCE(v.human, 0) AS human, COALESCE(v.ai, 0) AS ai, COALESCE(v.total, 0) AS total
             FROM history_days h LEFT JOIN page_views v ON v.project = h.project AND v.day = h.day
             AND v.version = h.version AND v.path_id = (SELECT id FROM page_paths WHERE project = $1 AND path = $4)
             WHERE h.project = $1 AND h.day BETWEEN $2 AND $3 ORDER BY h.day",
        )
        .bind(self.project.as_str())
        .bind(range.from().to_string())
        .bind(range.to().to_string())
        .bind(path)
        .fetch_all(&mut *self.tx)
        .await?;
        rows.iter().map(|row| Ok((word(row, "day")?, counts(row)?))).collect()
    }

    /// The rows of one day, with the indexes of their paths; `None` if the day is not stored. [`StoreError::UnknownPath`] if `paths` are of an
    /// earlier snapshot and the day has another one by now.
    pub async fn day(
        &mut self,
        day: Day,
        paths: &Arc<Paths>,
    ) -> Result<Option<Vec<(usize, ViewCounts)>>, StoreError> {
        let paths = paths.clone();
        self.fold(DayRange::ending(day, 1), None, move |found, _, rows| {
            let day: &mut Vec<_> = found.insert(Vec::new());
            rows.each(&paths, |at, counts| day.push((at, counts)))
        })
        .await
    }

    pub async fn annotations(&mut self, range: DayRange) -> Result<Annotations, StoreError> {
        let rows = sqlx::query(AssertSqlSafe(newest_annotations("$2", "$3", "$4")))
            .bind(self.project.as_str())
            .bind(range.from().to_string())
            .bind(range.to().to_string())
            .bind(ANNOTATIONS_MAX)
            .fetch_all(&mut *self.tx)
            .await?;
        let newest = rows.iter().rev().map(annotation).collect::<Result<_, _>>()?;
        Ok(Annotations { newest, total: total(&rows)? })
    }

    /// Adds the rows of each stored day of the range to `sum`, in no particular order of days.
    async fn fold<T: Send + 'static>(
        &mut self,
        range: DayRange,
        mut sum: T,
        add: impl Fn(&mut T, Day, DayRows) -> Result<(), StoreError> + Clone + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut unpacked = Vec::new();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        let mut days = sqlx::query(
            "SELECT h.day, h.version, r.pages FROM history_days h
             LEFT JOIN day_rollups r ON r.project = h.project AND r.day = h.day AND r.digest = h.digest
             WHERE h.project = $1 AND h.day BETWEEN $2 AND $3",
        )
        .bind(self.project.as_str())
        .bind(range.from().to_string())
        .bind(range.to().to_string())
        .fetch(&mut *self.tx);
        while let Some(row) = days.try_next().await? {
            let day = word(&row, "day")?;
            match row.try_get::<Option<Vec<u8>>, _>(2)? {
                Some(piece) => {
                    bytes += piece.len();
                    batch.push((day, DayRows::Piece(piece)));
                }
                None => unpacked.push((day, row.try_get::<i64, _>(1)?)),
            }
            if bytes >= BATCH_BYTES {
                sum = add_batch(sum, std::mem::take(&mut batch), bytes / ROW_BYTES, add.clone()).await?;
                bytes = 0;
            }
        }
        drop(days);
        sum = add_batch(sum, batch, bytes / ROW_BYTES, add.clone()).await?;
        for (day, version) in unpacked {
            let rows = rollups::rows_of(&mut self.tx, &self.project, day, version).await?;
            let number = rows.len();
            sum = add_batch(sum, vec![(day, DayRows::Rows(rows))], number, add.clone()).await?;
        }
        Ok(sum)
    }
}

/// Adds the rows of some days; `rows` is their approximate number.
async fn add_batch<T: Send + 'static>(
    mut sum: T,
    batch: Vec<(Day, DayRows)>,
    rows: usize,
    add: impl Fn(&mut T, Day, DayRows) -> Result<(), StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let add_all = move || {
        for (day, rows) in batch {
            add(&mut sum, day, rows)?;
        }
        Ok(sum)
    };
    blocking::run(rows, add_all).await
}

/// The rows of a day, in the order of their path ids.
enum DayRows {
    Piece(Vec<u8>),
    Rows(Vec<DayRow>),
}

impl DayRows {
    /// Passes each row to `add`, with the index of its path.
    fn each(self, paths: &Paths, mut add: impl FnMut(usize, ViewCounts)) -> Result<(), StoreError> {
        // Both are sorted by id, so one pass over the paths finds all.
        let (mut at, mut lost) = (0, false);
        let find = |row: DayRow| {
            while paths.ids.get(at).is_some_and(|id| *id < row.path_id) {
                at += 1;
            }
            match paths.ids.get(at) {
                Some(id) if *id == row.path_id => add(at, row.counts),
                _ => lost = true,
            }
        };
        match self {
            Self::Piece(piece) => {
                blocking::must_be_apart(piece.len() / ROW_BYTES / 2);
                rollups::unpack(&piece, find)?;
            }
            Self::Rows(rows) => {
                blocking::must_be_apart(rows.len());
                rows.into_iter().for_each(find);
            }
        }
        match lost {
            true => Err(StoreError::UnknownPath),
            false => Ok(()),
        }
    }
}

/// Of ids and names in the order of the ids.
impl FromIterator<(i64, String)> for Paths {
    fn from_iter<I: IntoIterator<Item = (i64, String)>>(paths: I) -> Self {
        let (ids, names) = paths.into_iter().unzip();
        Self { ids, names }
    }
}

impl Paths {
    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// A row with the columns `id`, `day`, `text` and `author`.
pub(crate) fn annotation(row: &AnyRow) -> Result<Annotation, StoreError> {
    Ok(Annotation {
        id: row.try_get("id")?,
        day: word(row, "day")?,
        text: row.try_get("text")?,
        author: row.try_get("author")?,
    })
}

fn counts(row: &AnyRow) -> Result<ViewCounts, StoreError> {
    let count = |column| Ok::<_, StoreError>(row.try_get::<i64, _>(column)?.unsigned_abs());
    Ok(ViewCounts { human: count("human")?, ai: count("ai")?, total: count("total")? })
}
