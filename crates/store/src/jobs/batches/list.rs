//! The list of started batches.

use sqlx::{AssertSqlSafe, Row};

use crate::{Store, StoreError, instant, word};
use model::batch::{self, BatchPage, ListedBatch};
use model::id::{BatchId, ProjectId};
use model::job::EXCERPT_CHARS;

impl Store {
    /// `count` started batches of the project after the first `before`, newest first.
    pub async fn batches(
        &self,
        project: &ProjectId,
        before: i64,
        count: usize,
    ) -> Result<BatchPage, StoreError> {
        let sql = format!(
            "SELECT b.id, b.name, SUBSTR(b.template, 1, {EXCERPT_CHARS}) AS template, b.started_at, u.name AS author
             FROM batches b JOIN users u ON u.id = b.author_id
             WHERE b.project = $1 AND b.started_at IS NOT NULL ORDER BY b.started_at DESC, b.id DESC LIMIT $2 OFFSET $3"
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(project.as_str())
            .bind(count as i64 + 1)
            .bind(before)
            .fetch_all(&self.pool)
            .await?;
        let ids = rows.iter().map(|row| word(row, "id")).collect::<Result<Vec<BatchId>, _>>()?;
        let mut progress = self.progress_of(&ids).await?;
        let listed = rows.iter().zip(ids).map(|(row, id)| {
            let progress = progress.remove(&id).unwrap_or_default();
            Ok(ListedBatch {
                name: batch::name(
                    row.try_get("name")?,
                    &row.try_get::<String, _>("template")?,
                    progress.jobs,
                ),
                author: row.try_get("author")?,
                started_at: instant(row, "started_at")?,
                progress,
                id,
            })
        });
        let mut batches = listed.collect::<Result<Vec<_>, StoreError>>()?;
        let has_more = batches.len() > count;
        batches.truncate(count);
        Ok(BatchPage { batches, has_more })
    }
}
