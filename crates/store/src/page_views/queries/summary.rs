//! The data of a report besides the views of each page, read in one statement.

use std::cmp::Reverse;

use serde::Deserialize;
use sqlx::{Any, AssertSqlSafe, Executor};

use super::finished::{self, Completed};
use super::{
    ANNOTATIONS_MAX, Annotations, FinishedJob, FinishedJobs, Snapshot, StoredDay, newest_annotations,
};
use crate::dialect::{Dialect, read_json};
use crate::{Store, StoreError};
use model::analytics::trend::Annotation;
use model::day::{Day, DayRange};
use model::history::Mark;
use model::id::{JobId, ProjectId};
use model::page_views::ViewCounts;
use model::pull_request::PullRequestState;
use model::time::Timestamp;

/// The days of one range; finished jobs and annotations of another.
#[derive(Debug)]
pub struct Summary {
    /// The stored days, oldest first.
    pub days: Vec<StoredDay>,
    /// Latest finished first.
    pub finished: FinishedJobs,
    pub annotations: Annotations,
}

/// The range with its finished jobs and annotations, the period of comparison, and the maximum number of jobs.
#[derive(Debug, Clone, Copy)]
pub struct SummaryRanges {
    pub shown: DayRange,
    pub compared: Option<DayRange>,
    pub jobs_max: i64,
}

#[derive(Deserialize)]
struct DayRow(Day, u64, u64, u64, i64, Option<Mark>, String, Option<i64>);

#[derive(Deserialize)]
struct FinishedRow(JobId, String, i64, Option<PullRequestState>, u64);

#[derive(Deserialize)]
struct AnnotationRow(String, Day, String, String, u64);

fn statement(dialect: Dialect) -> String {
    let rows = |columns: &str, from: &str| dialect.json_column(&dialect.json_rows(columns, from));
    let days = rows(
        "h.day, h.human, h.ai, h.total, h.fetched_at, h.mark, h.digest, h.final_at",
        "history_days h WHERE h.project = $1 AND (h.day BETWEEN $6 AND $7 OR h.day BETWEEN $8 AND $9)",
    );
    let (source, about) = finished::every();
    let jobs = rows(
        "f.id, f.prompt, f.finished_at, f.pull_request, f.total",
        &format!("({}) f", finished::select(Completed::All, &source, about)),
    );
    let annotations = rows(
        "n.id, n.day, n.text, n.author, n.total",
        &format!("({}) n", newest_annotations("$8", "$9", "$10")),
    );
    format!("SELECT {days}, {jobs}, {annotations}")
}

impl Store {
    pub async fn summary(&self, project: &ProjectId, of: SummaryRanges) -> Result<Summary, StoreError> {
        read(&self.pool, self.dialect, project, of).await
    }
}

impl Snapshot {
    pub async fn summary(&mut self, of: SummaryRanges) -> Result<Summary, StoreError> {
        read(&mut *self.tx, self.dialect, &self.project, of).await
    }
}

async fn read(
    database: impl Executor<'_, Database = Any>,
    dialect: Dialect,
    project: &ProjectId,
    SummaryRanges { shown, compared, jobs_max }: SummaryRanges,
) -> Result<Summary, StoreError> {
    let compared = compared.unwrap_or(shown);
    let row = sqlx::query(AssertSqlSafe(statement(dialect)))
        .bind(project.as_str())
        .bind("")
        .bind(shown.from().start().as_millis())
        .bind(shown.to().plus_days(1).start().as_millis())
        .bind(jobs_max)
        .bind(compared.from().to_string())
        .bind(compared.to().to_string())
        .bind(shown.from().to_string())
        .bind(shown.to().to_string())
        .bind(ANNOTATIONS_MAX)
        .fetch_one(database)
        .await?;
    let days: Vec<DayRow> = read_json(&row, 0)?;
    let finished: Vec<FinishedRow> = read_json(&row, 1)?;
    let annotations: Vec<AnnotationRow> = read_json(&row, 2)?;
    let mut days: Vec<_> = days.into_iter().map(StoredDay::from).collect();
    days.sort_unstable_by_key(|day| day.day);
    Ok(Summary { days, finished: finished_jobs(finished), annotations: written(annotations) })
}

fn finished_jobs(rows: Vec<FinishedRow>) -> FinishedJobs {
    let total = rows.first().map_or(0, |row| row.4);
    let mut jobs: Vec<_> = rows.into_iter().map(FinishedJob::from).collect();
    jobs.sort_unstable_by(|a, b| Reverse((a.finished_at, &a.job)).cmp(&Reverse((b.finished_at, &b.job))));
    FinishedJobs { jobs, total }
}

fn written(rows: Vec<AnnotationRow>) -> Annotations {
    let total = rows.first().map_or(0, |row| row.4);
    let annotation = |AnnotationRow(id, day, text, author, _)| Annotation { id, day, text, author };
    let mut newest: Vec<_> = rows.into_iter().map(annotation).collect();
    newest.sort_unstable_by(|a, b| (a.day, &a.id).cmp(&(b.day, &b.id)));
    Annotations { newest, total }
}

impl From<DayRow> for StoredDay {
    fn from(DayRow(day, human, ai, total, fetched_at, mark, digest, final_at): DayRow) -> Self {
        let fetched_at = Timestamp::from_millis(fetched_at);
        let totals = ViewCounts { human, ai, total };
        Self { day, totals, fetched_at, mark, digest, is_final: final_at.is_some() }
    }
}

impl From<FinishedRow> for FinishedJob {
    fn from(FinishedRow(job, prompt, finished_at, pull_request, _): FinishedRow) -> Self {
        Self { job, prompt, finished_at: Timestamp::from_millis(finished_at), pull_request }
    }
}
