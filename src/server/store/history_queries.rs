//! Reading the daily history from a snapshot. Must not interpret: callers decide which days are complete, what is
//! compared and what a folder is.

mod finished;
mod summary;

use futures::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::{Any, Row, Transaction};
use tokio::sync::OwnedSemaphorePermit;

pub use self::finished::FinishedJob;
pub use self::summary::{Summary, SummaryRanges};
use super::rollups::{self, DayRow};
use super::{Store, StoreError, jobs, optional_word, word};
use crate::model::day::{Day, DayRange};
use crate::model::history::{Annotation, Mark};
use crate::model::id::ProjectId;
use crate::model::page_views::ViewCounts;
use crate::model::time::Timestamp;

/// The maximum number of annotations in one answer.
const ANNOTATIONS_MAX: i64 = 500;

/// A consistent snapshot of a project's history. It holds a connection: drop it before sending anything to a client.
pub struct Snapshot {
    tx: Transaction<'static, Any>,
    project: ProjectId,
    _turn: OwnedSemaphorePermit,
}

/// A stored day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDay {
    pub day: Day,
    /// The upstream's totals, which may differ from the sums of the rows.
    pub totals: ViewCounts,
    pub read_at: Timestamp,
    pub mark: Option<Mark>,
    /// Equal for equal rows.
    pub digest: String,
}

/// Every known path of a project, in the order of their ids.
#[derive(Debug, Default)]
pub struct Paths {
    ids: Vec<i64>,
    names: Vec<String>,
}

/// For each of [`Paths`], its views; `None` where it has no row.
pub type Sums = Vec<Option<ViewCounts>>;

impl Store {
    pub async fn snapshot(&self, project: &ProjectId) -> Result<Snapshot, StoreError> {
        let turn = self.questions.turn().await?;
        Ok(Snapshot { tx: self.begin_to_read().await?, project: project.clone(), _turn: turn })
    }
}

impl Snapshot {
    /// The stored days of the range, oldest first.
    pub async fn days(&mut self, range: DayRange) -> Result<Vec<StoredDay>, StoreError> {
        let rows = sqlx::query(
            "SELECT day, human, ai, total, read_at, mark, digest FROM history_days
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
                    read_at: jobs::instant(row, "read_at")?,
                    mark: optional_word(row, "mark")?,
                    digest: row.try_get("digest")?,
                })
            })
            .collect()
    }

    pub async fn paths(&mut self) -> Result<Paths, StoreError> {
        let mut rows = sqlx::query("SELECT id, path FROM page_paths WHERE project = $1 ORDER BY id")
            .bind(self.project.as_str())
            .fetch(&mut *self.tx);
        let mut paths = Paths::default();
        while let Some(row) = rows.try_next().await? {
            paths.ids.push(row.try_get(0)?);
            paths.names.push(row.try_get(1)?);
        }
        Ok(paths)
    }

    /// The views of each page over the range.
    pub async fn sums(&mut self, range: DayRange, paths: &Paths) -> Result<Sums, StoreError> {
        let mut sums = vec![None; paths.len()];
        self.each_day(range, |_, rows| {
            rows.each(paths, |at, counts| *sums[at].get_or_insert_default() += counts)
        })
        .await?;
        Ok(sums)
    }

    /// The summed views of the `wanted` pages for each stored day of the range, oldest first.
    pub async fn sums_by_day(
        &mut self,
        range: DayRange,
        paths: &Paths,
        wanted: &[bool],
    ) -> Result<Vec<(Day, ViewCounts)>, StoreError> {
        let mut days = Vec::new();
        self.each_day(range, |day, rows| {
            let mut sum = ViewCounts::default();
            rows.each(paths, |at, counts| {
                if wanted[at] {
                    sum += counts;
                }
            })?;
            days.push((day, sum));
            Ok(())
        })
        .await?;
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
             FROM history_days h LEFT JOIN daily_views v ON v.project = h.project AND v.day = h.day
             AND v.path_id = (SELECT id FROM page_paths WHERE project = $1 AND path = $4)
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

    /// The rows of one day, with the indexes of their paths; `None` if the day is not stored.
    pub async fn day(
        &mut self,
        day: Day,
        paths: &Paths,
    ) -> Result<Option<Vec<(usize, ViewCounts)>>, StoreError> {
        let mut found = None;
        self.each_day(DayRange::ending(day, 1), |_, rows| {
            let mut day = Vec::new();
            rows.each(paths, |at, counts| day.push((at, counts)))?;
            found = Some(day);
            Ok(())
        })
        .await?;
        Ok(found)
    }

    pub async fn annotations(&mut self, range: DayRange) -> Result<Vec<Annotation>, StoreError> {
        let rows = sqlx::query(
            "SELECT a.id, a.day, a.text, u.name AS author FROM annotations a JOIN users u ON u.id = a.author_id
             WHERE a.project = $1 AND a.day BETWEEN $2 AND $3 ORDER BY a.day, a.id LIMIT $4",
        )
        .bind(self.project.as_str())
        .bind(range.from().to_string())
        .bind(range.to().to_string())
        .bind(ANNOTATIONS_MAX)
        .fetch_all(&mut *self.tx)
        .await?;
        rows.iter().map(annotation).collect()
    }

    /// Passes the rows of each stored day of the range to `take`, in no particular order of days.
    async fn each_day(
        &mut self,
        range: DayRange,
        mut take: impl FnMut(Day, DayRows<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut unpacked = Vec::new();
        let mut days = sqlx::query(
            "SELECT h.day, r.pages FROM history_days h
             LEFT JOIN day_rollups r ON r.project = h.project AND r.day = h.day AND r.digest = h.digest
             WHERE h.project = $1 AND h.day BETWEEN $2 AND $3",
        )
        .bind(self.project.as_str())
        .bind(range.from().to_string())
        .bind(range.to().to_string())
        .fetch(&mut *self.tx);
        while let Some(row) = days.try_next().await? {
            let day = word(&row, "day")?;
            match row.try_get::<Option<Vec<u8>>, _>(1)? {
                Some(piece) => take(day, DayRows::Piece(&piece))?,
                None => unpacked.push(day),
            }
        }
        drop(days);
        for day in unpacked {
            let rows = rollups::rows_of(&mut self.tx, &self.project, day).await?;
            take(day, DayRows::Rows(&rows))?;
        }
        Ok(())
    }
}

/// The rows of a day, in the order of their path ids.
enum DayRows<'a> {
    Piece(&'a [u8]),
    Rows(&'a [DayRow]),
}

impl DayRows<'_> {
    /// Passes each row to `take`, with the index of its path.
    fn each(self, paths: &Paths, mut take: impl FnMut(usize, ViewCounts)) -> Result<(), StoreError> {
        // Both are sorted by id, so that one pass over the paths finds all.
        let (mut at, mut lost) = (0, false);
        let mut find = |row: DayRow| {
            while paths.ids.get(at).is_some_and(|id| *id < row.path_id) {
                at += 1;
            }
            match paths.ids.get(at) {
                Some(id) if *id == row.path_id => take(at, row.counts),
                _ => lost = true,
            }
        };
        match self {
            Self::Piece(piece) => rollups::unpack(piece, find)?,
            Self::Rows(rows) => rows.iter().for_each(|row| find(*row)),
        }
        match lost {
            true => Err(StoreError::Corrupt("a view of a path without a name".to_owned())),
            false => Ok(()),
        }
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
pub(super) fn annotation(row: &AnyRow) -> Result<Annotation, StoreError> {
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
