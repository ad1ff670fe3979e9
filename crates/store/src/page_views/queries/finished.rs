//! Completed jobs and when they finished, for markers on charts and for the views before and after them.

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::Snapshot;
use crate::dialect::select::{comparable, sql_placeholders};
use crate::jobs::states::{has_changes, is_completed};
use crate::{StoreError, instant, optional_word, word};
use model::day::DayRange;
use model::id::JobId;
use model::job::EXCERPT_CHARS;
use model::pull_request::PullRequestState;
use model::selection::Selection;
use model::time::Timestamp;

/// Which completed jobs. An archived job is completed if it was before it was archived.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Completed {
    All,
    /// Those that opened a pull request or whose project is published without them.
    WithChanges,
}

/// A completed job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedJob {
    pub job: JobId,
    /// Its beginning.
    pub prompt: String,
    /// When its pull request was merged, if that is known; else when it last completed.
    pub finished_at: Timestamp,
    /// `None` without a pull request.
    pub pull_request: Option<PullRequestState>,
}

/// The jobs that finished last.
#[derive(Debug, Default)]
pub struct FinishedJobs {
    pub jobs: Vec<FinishedJob>,
    /// How many there are.
    pub total: u64,
}

impl Snapshot {
    /// Completed jobs with changes about the selected pages, last finished first, at most `limit`.
    pub async fn jobs_with_changes(
        &mut self,
        selection: &Selection,
        limit: i64,
    ) -> Result<FinishedJobs, StoreError> {
        self.finished(selection, Completed::WithChanges, None, limit).await
    }

    /// A job of this project, if it is completed and has changes.
    pub async fn job_with_changes(&mut self, job: &JobId) -> Result<Option<FinishedJob>, StoreError> {
        let sql = select(Completed::WithChanges, "jobs j", "j.project = $1 AND j.id = $2");
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(self.project.as_str())
            .bind(job.as_str())
            .bind(i64::MIN)
            .bind(i64::MAX)
            .bind(1)
            .fetch_optional(&mut *self.tx)
            .await?;
        row.as_ref().map(finished_job).transpose()
    }

    /// The first pages that a job is about, at most `limit`, and how many it is about.
    pub async fn pages_of(&mut self, job: &JobId, limit: i64) -> Result<(Vec<String>, u64), StoreError> {
        let sql =
            "SELECT path, COUNT(*) OVER () AS total FROM job_paths WHERE job_id = $1 ORDER BY path LIMIT $2";
        let rows = sqlx::query(sql).bind(job.as_str()).bind(limit).fetch_all(&mut *self.tx).await?;
        let paths = rows.iter().map(|row| Ok(row.try_get(0)?)).collect::<Result<_, StoreError>>();
        Ok((paths?, total(&rows)?))
    }

    /// All completed jobs about the selected pages that finished on a day of the range, last finished first, at most `limit`.
    pub async fn finished_jobs_within(
        &mut self,
        range: DayRange,
        selection: &Selection,
        limit: i64,
    ) -> Result<FinishedJobs, StoreError> {
        self.finished(selection, Completed::All, Some(range), limit).await
    }

    async fn finished(
        &mut self,
        selection: &Selection,
        which: Completed,
        range: Option<DayRange>,
        limit: i64,
    ) -> Result<FinishedJobs, StoreError> {
        let texts = match selection {
            Selection::Project => vec![String::new()],
            Selection::Page(path) => self.known_pages(std::slice::from_ref(path)).await?.labels(path),
            Selection::Folder(folder) => vec![folder.prefix()],
        };
        if texts.is_empty() {
            return Ok(FinishedJobs::default());
        }
        let sql = finished_about(selection, which, texts.len());
        let mut query = sqlx::query(AssertSqlSafe(sql))
            .bind(self.project.as_str())
            .bind(comparable(&texts[0]))
            .bind(range.map_or(i64::MIN, |range| range.from().start().as_millis()))
            .bind(range.map_or(i64::MAX, |range| range.to().plus_days(1).start().as_millis()))
            .bind(limit);
        for text in &texts[1..] {
            query = query.bind(comparable(text));
        }
        let rows = query.fetch_all(&mut *self.tx).await?;
        let jobs = rows.iter().map(finished_job).collect::<Result<_, _>>()?;
        Ok(FinishedJobs { jobs, total: total(&rows)? })
    }
}

/// The number of all rows of a statement, of which these are the first ones: its column `total`.
pub(super) fn total(rows: &[AnyRow]) -> Result<u64, StoreError> {
    let total = rows.first().map(|row| row.try_get::<i64, _>("total")).transpose()?;
    Ok(total.unwrap_or_default().unsigned_abs())
}

fn finished_job(row: &AnyRow) -> Result<FinishedJob, StoreError> {
    Ok(FinishedJob {
        job: word(row, "id")?,
        prompt: row.try_get("prompt")?,
        finished_at: instant(row, "finished_at")?,
        pull_request: optional_word(row, "pull_request")?,
    })
}

/// The source and the condition of all jobs of project `$1` that completed or were merged from `$3` on; `$2` is empty. Each of the two has an index.
pub(super) fn every() -> (String, &'static str) {
    let completed = is_completed("c");
    let source = format!(
        "(SELECT c.id FROM jobs c WHERE c.project = $1 AND {completed} AND c.changed_at >= $3
          UNION SELECT r.job_id FROM pull_requests r WHERE r.project = $1 AND r.state = 'merged' AND r.merged_at >= $3) a CROSS JOIN jobs j"
    );
    (source, "j.id = a.id AND $2 = ''")
}

/// The statement for the finished jobs of a selection, whose page or folder is `$2`, at most `$5`. It finds the jobs of pages by their labels, whose
/// index groups the jobs of each label. `labels`: the number of labels of a page, which are `$2` and those from `$6` on.
pub(crate) fn finished_about(selection: &Selection, which: Completed, labels: usize) -> String {
    // The planner keeps the order of tables in a cross join. A label belongs to one project, and so do its jobs: without a condition on the project,
    // only the index by id can be chosen.
    let labeled = |which: &str| {
        format!(
            "(SELECT DISTINCT l.job_id FROM listed_labels s CROSS JOIN listed_jobs l
              WHERE s.project = $1 AND {which} AND l.number = s.number) a CROSS JOIN jobs j"
        )
    };
    let (source, about) = match selection {
        Selection::Project => every(),
        Selection::Page(_) if labels < 2 => (labeled("s.label = $2"), "j.id = a.job_id"),
        Selection::Page(_) => {
            let further = sql_placeholders(6, labels - 1);
            (labeled(&format!("s.label IN ($2, {further})")), "j.id = a.job_id")
        }
        // The last character of a prefix is a slash, and the next one is 0.
        Selection::Folder(_) => {
            (labeled("s.label >= $2 AND s.label < SUBSTR($2, 1, LENGTH($2) - 1) || '0'"), "j.id = a.job_id")
        }
    };
    select(which, &source, about)
}

/// Selects `id`, `prompt` (its beginning, as lists show it), `finished_at`, `pull_request` and their number `total` of `which` jobs `j` from `source`
/// that match `about` and ended from `$3` on and before `$4`: last finished first, at most `$5`. The end of a job is the merge of its pull request, if
/// that is known. Reads the prompts of those jobs only.
pub(super) fn select(which: Completed, source: &str, about: &str) -> String {
    // A job that was already completed when the upstream accepted it has no timeline entry for it: then the time of its change counts.
    let completed = match which {
        Completed::All => is_completed("j"),
        Completed::WithChanges => has_changes("j"),
    };
    format!(
        "SELECT f.id, SUBSTR(m.prompt, 1, {EXCERPT_CHARS}) AS prompt, f.finished_at, f.pull_request, f.total FROM (
             SELECT id, finished_at, pull_request, COUNT(*) OVER () AS total FROM (
                 SELECT j.id, COALESCE(
                     p.merged_at, (SELECT MAX(e.at) FROM job_events e WHERE e.job_id = j.id AND e.state = 'completed'), j.changed_at
                 ) AS finished_at, p.state AS pull_request
                 FROM {source} LEFT JOIN pull_requests p ON p.job_id = j.id
                 WHERE {completed} AND (j.changed_at >= $3 OR p.merged_at >= $3) AND {about}
             ) AS finished WHERE finished_at >= $3 AND finished_at < $4 ORDER BY finished_at DESC, id DESC LIMIT $5
         ) AS f CROSS JOIN messages m WHERE m.job_id = f.id AND m.position = 0 ORDER BY f.finished_at DESC, f.id DESC"
    )
}
