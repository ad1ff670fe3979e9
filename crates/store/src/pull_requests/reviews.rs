//! The pull requests of a project that wait for somebody, and those merged lately.

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use strum::VariantArray;

use super::row::{StoredPullRequest, pull_request_of};
use crate::dialect::parsed_json;
use crate::{Store, StoreError, word};
use model::id::{JobId, ProjectId};
use model::job::EXCERPT_CHARS;
use model::pull_request::{PullRequestState, ReviewGroup, ReviewedJob, WaitingFor};
use model::time::Timestamp;
use model::title::title;

/// The maximum number of pull requests in a group.
const GROUP_MAX: u32 = 100;
/// The maximum number of pull requests that `docket check` looks at.
const NEWEST_MAX: u32 = 200;
/// The maximum number of merged ones.
const MERGED_MAX: u32 = 50;

impl Store {
    /// The groups of waiting pull requests, those merged since `merged_since`, and the number of the latter.
    pub async fn reviews(
        &self,
        project: &ProjectId,
        merged_since: Timestamp,
    ) -> Result<(Vec<ReviewGroup>, Vec<ReviewedJob>, u64), StoreError> {
        let mut groups = Vec::new();
        for waiting_for in WaitingFor::VARIANTS.iter().copied().filter(|group| *group != WaitingFor::Nobody) {
            let condition =
                format!("r.waiting_for <> 'nobody' AND r.waiting_for = '{}'", waiting_for.as_str());
            let total: i64 = sqlx::query_scalar(AssertSqlSafe(format!(
                "SELECT COUNT(*) FROM pull_requests r WHERE r.project = $1 AND {condition}"
            )))
            .bind(project.as_str())
            .fetch_one(&self.pool)
            .await?;
            if total > 0 {
                let sql = self
                    .reviewed(&format!("{condition} ORDER BY r.waiting_since, r.number LIMIT {GROUP_MAX}"));
                let rows =
                    sqlx::query(AssertSqlSafe(sql)).bind(project.as_str()).fetch_all(&self.pool).await?;
                let jobs = rows.iter().map(reviewed_job).collect::<Result<_, _>>()?;
                groups.push(ReviewGroup { waiting_for, total: total.unsigned_abs(), jobs });
            }
        }
        let condition = format!("r.state = '{}' AND r.merged_at >= $2", PullRequestState::Merged.as_str());
        let total: i64 = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT COUNT(*) FROM pull_requests r WHERE r.project = $1 AND {condition}"
        )))
        .bind(project.as_str())
        .bind(merged_since.as_millis())
        .fetch_one(&self.pool)
        .await?;
        let sql = self.reviewed(&format!("{condition} ORDER BY r.merged_at DESC LIMIT {MERGED_MAX}"));
        let merged = sqlx::query(AssertSqlSafe(sql)).bind(project.as_str()).bind(merged_since.as_millis());
        let merged =
            merged.fetch_all(&self.pool).await?.iter().map(reviewed_job).collect::<Result<_, _>>()?;
        Ok((groups, merged, total.unsigned_abs()))
    }

    /// The open pull requests that have waited since `before` or longer, at most `most`.
    pub async fn stale_reviews(
        &self,
        project: &ProjectId,
        before: Timestamp,
        most: usize,
    ) -> Result<Vec<ReviewedJob>, StoreError> {
        let sql = self.reviewed(&format!(
            "r.waiting_for <> 'nobody' AND r.waiting_since <= $2 ORDER BY r.waiting_since, r.number LIMIT {most}"
        ));
        let rows = sqlx::query(AssertSqlSafe(sql)).bind(project.as_str()).bind(before.as_millis());
        rows.fetch_all(&self.pool).await?.iter().map(reviewed_job).collect()
    }

    /// The URLs of the newest pull requests of all projects, the newest first.
    pub async fn newest_pull_requests(&self) -> Result<Vec<String>, StoreError> {
        let sql = format!("SELECT url FROM pull_requests ORDER BY job_id DESC LIMIT {NEWEST_MAX}");
        Ok(sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&self.pool).await?)
    }

    /// The pull requests `r` of the project `$1` with this condition, with their jobs.
    fn reviewed(&self, condition: &str) -> String {
        let pull_request = self.dialect.json_column(&pull_request_of(self.dialect, "r.job_id"));
        format!(
            "SELECT r.job_id, SUBSTR(m.prompt, 1, {EXCERPT_CHARS}) AS prompt, u.name AS author, {pull_request} AS pull_request
             FROM pull_requests r JOIN messages m ON m.job_id = r.job_id AND m.position = 0 JOIN users u ON u.id = m.author_id
             WHERE r.project = $1 AND {condition}"
        )
    }
}

fn reviewed_job(row: &AnyRow) -> Result<ReviewedJob, StoreError> {
    let pull_request: StoredPullRequest = parsed_json(&row.try_get::<String, _>("pull_request")?)?;
    Ok(ReviewedJob {
        job: word::<JobId>(row, "job_id")?,
        title: title(&row.try_get::<String, _>("prompt")?),
        author: row.try_get("author")?,
        pull_request: pull_request.into(),
    })
}
