//! Prepared batches that are not started.

use sqlx::{AssertSqlSafe, Row};

use super::PREPARED_MILLIS;
use crate::{Authority, Store, StoreError, instant, word};
use model::batch::{self, UnstartedBatch};
use model::id::{BatchId, ProjectId};
use model::job::{EXCERPT_CHARS, cut};
use model::limits::PREPARED_BATCHES;
use model::time::Timestamp;

impl Store {
    /// The batches that this person prepared in the project and nobody started, newest first.
    pub async fn unstarted_batches(
        &self,
        project: &ProjectId,
        author_id: &str,
        now: Timestamp,
    ) -> Result<Vec<UnstartedBatch>, StoreError> {
        // One character more than is displayed, to detect truncation.
        let chars = EXCERPT_CHARS + 1;
        let sql = format!(
            "SELECT id, name, SUBSTR(template, 1, {EXCERPT_CHARS}) AS template, SUBSTR(list, 1, {chars}) AS list,
                 created_at
             FROM batches WHERE author_id = $1 AND project = $2 AND started_at IS NULL AND created_at >= $3
             ORDER BY id DESC LIMIT $4"
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(author_id)
            .bind(project.as_str())
            .bind(now.as_millis() - PREPARED_MILLIS)
            .bind(PREPARED_BATCHES)
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| {
                let mut values: String = row.try_get("list")?;
                cut(&mut values);
                Ok(UnstartedBatch {
                    id: word(row, "id")?,
                    name: batch::name(row.try_get("name")?, &row.try_get::<String, _>("template")?, 0),
                    values,
                    prepared_at: instant(row, "created_at")?,
                })
            })
            .collect()
    }

    /// Deletes a batch that this person prepared and nobody started; returns whether there was one.
    pub async fn discard_batch(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        id: &BatchId,
        author_id: &str,
    ) -> Result<bool, StoreError> {
        let deleted = sqlx::query(
            "DELETE FROM batches WHERE id = $1 AND project = $2 AND author_id = $3 AND started_at IS NULL",
        )
        .bind(id.as_str())
        .bind(project.as_str())
        .bind(author_id)
        .execute(self.write(by).statement())
        .await?;
        Ok(deleted.rows_affected() > 0)
    }
}
