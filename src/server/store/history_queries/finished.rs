//! Completed jobs and when they finished, for markers on charts.

use sqlx::{AssertSqlSafe, Row};

use super::Snapshot;
use crate::model::day::{Day, DayRange};
use crate::model::id::JobId;
use crate::model::selection::Selection;
use crate::model::time::Timestamp;
use crate::server::store::{StoreError, jobs, word};

/// A completed job, with or without changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedJob {
    pub job: JobId,
    pub prompt: String,
    /// When it last completed.
    pub finished_at: Timestamp,
}

impl Snapshot {
    /// Completed jobs about the selected pages, last finished first, at most `limit`.
    pub async fn finished_jobs(
        &mut self,
        selection: &Selection,
        limit: i64,
    ) -> Result<Vec<FinishedJob>, StoreError> {
        self.finished(selection, None, limit).await
    }

    /// As [`Self::finished_jobs`], for those that finished on a day of the range.
    pub async fn finished_jobs_within(
        &mut self,
        range: DayRange,
        selection: &Selection,
        limit: i64,
    ) -> Result<Vec<FinishedJob>, StoreError> {
        self.finished(selection, Some(range), limit).await
    }

    async fn finished(
        &mut self,
        selection: &Selection,
        range: Option<DayRange>,
        limit: i64,
    ) -> Result<Vec<FinishedJob>, StoreError> {
        let (about, text) = match selection {
            Selection::Project => ("$2 = ''", String::new()),
            Selection::Page(path) => {
                ("EXISTS (SELECT 1 FROM job_paths p WHERE p.job_id = j.id AND p.path = $2)", path.clone())
            }
            Selection::Folder(folder) => (
                "EXISTS (SELECT 1 FROM job_paths p WHERE p.job_id = j.id AND SUBSTR(p.path, 1, LENGTH($2)) = $2)",
                folder.prefix(),
            ),
        };
        // A job imported after it completed, or archived before any poll saw it complete, has no such event.
        let sql = format!(
            "SELECT id, prompt, finished_at FROM (
                 SELECT j.id, m.prompt, COALESCE(
                     (SELECT MAX(e.at) FROM job_events e WHERE e.job_id = j.id AND e.state = 'completed'), j.changed_at
                 ) AS finished_at
                 FROM jobs j JOIN messages m ON m.job_id = j.id AND m.position = 0
                 WHERE j.project = $1 AND j.state IN ('completed', 'archived') AND j.changed_at >= $3 AND {about}
             ) AS finished WHERE finished_at >= $3 AND finished_at < $4 ORDER BY finished_at DESC, id DESC LIMIT $5"
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(self.project.as_str())
            .bind(text)
            .bind(range.map_or(i64::MIN, |range| start(range.from())))
            .bind(range.map_or(i64::MAX, |range| start(range.to().plus_days(1))))
            .bind(limit)
            .fetch_all(&mut *self.tx)
            .await?;
        rows.iter()
            .map(|row| {
                Ok(FinishedJob {
                    job: word(row, "id")?,
                    prompt: row.try_get("prompt")?,
                    finished_at: jobs::instant(row, "finished_at")?,
                })
            })
            .collect()
    }
}

/// The start of a day, in Unix milliseconds.
fn start(day: Day) -> i64 {
    day.days_since(Day::of(Timestamp::from_millis(0))) * 24 * 60 * 60 * 1000
}
