//! The open pull requests of a project with the files that they change.

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::dialect::parsed_json;
use crate::{Store, StoreError, instant, word};
use model::id::ProjectId;
use model::job::EXCERPT_CHARS;
use model::pull_request::number;
use model::similar::OpenRequest;
use model::title::title;

/// The maximum number of open pull requests that are compared with pages, the newest first.
const OPEN_MAX: u32 = 500;

impl Store {
    /// The open pull requests, the newest first, each with its changed files.
    pub async fn open_pull_requests(
        &self,
        project: &ProjectId,
    ) -> Result<Vec<(OpenRequest, Vec<String>)>, StoreError> {
        let sql = format!(
            "SELECT r.job_id, r.url, r.files, SUBSTR(m.prompt, 1, {EXCERPT_CHARS}) AS prompt, u.name AS author, j.state, j.created_at
             FROM pull_requests r JOIN jobs j ON j.id = r.job_id JOIN messages m ON m.job_id = r.job_id AND m.position = 0
             JOIN users u ON u.id = m.author_id
             WHERE r.project = $1 AND r.state IN ('open', 'draft') ORDER BY r.number DESC LIMIT {OPEN_MAX}"
        );
        let rows = sqlx::query(AssertSqlSafe(sql)).bind(project.as_str()).fetch_all(&self.pool).await?;
        rows.iter().map(open_request).collect()
    }

    /// A number that grows with every change of the project's jobs and pull requests.
    pub async fn project_revision(&self, project: &ProjectId) -> Result<i64, StoreError> {
        let revision =
            sqlx::query_scalar("SELECT COALESCE(MAX(revision), 0) FROM project_changes WHERE project = $1");
        Ok(revision.bind(project.as_str()).fetch_one(&self.pool).await?)
    }
}

fn open_request(row: &AnyRow) -> Result<(OpenRequest, Vec<String>), StoreError> {
    let url: String = row.try_get("url")?;
    let request = OpenRequest {
        job: word(row, "job_id")?,
        number: number(&url),
        url,
        title: title(&row.try_get::<String, _>("prompt")?),
        author: row.try_get("author")?,
        state: word(row, "state")?,
        created_at: instant(row, "created_at")?,
    };
    Ok((request, parsed_json(&row.try_get::<String, _>("files")?)?))
}
