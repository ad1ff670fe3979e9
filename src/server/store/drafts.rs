//! Text that a form could not deliver, kept for its author.

use super::{Store, StoreError};
use crate::model::id::ProjectId;
use crate::model::time::Timestamp;

impl Store {
    /// Keeps `text` as this person's draft about `subject` (a job's id, or empty for a new job).
    pub async fn keep_draft(
        &self,
        user_id: &str,
        project: &ProjectId,
        subject: &str,
        text: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO drafts (user_id, project, subject, text, updated_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (user_id, project, subject)
             DO UPDATE SET text = excluded.text, updated_at = excluded.updated_at",
        )
        .bind(user_id)
        .bind(project.as_str())
        .bind(subject)
        .bind(text)
        .bind(now.as_millis())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    pub async fn draft(
        &self,
        user_id: &str,
        project: &ProjectId,
        subject: &str,
    ) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar("SELECT text FROM drafts WHERE user_id = $1 AND project = $2 AND subject = $3")
            .bind(user_id)
            .bind(project.as_str())
            .bind(subject)
            .fetch_optional(&self.pool)
            .await?)
    }

    pub async fn drop_draft(
        &self,
        user_id: &str,
        project: &ProjectId,
        subject: &str,
    ) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM drafts WHERE user_id = $1 AND project = $2 AND subject = $3")
            .bind(user_id)
            .bind(project.as_str())
            .bind(subject)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}
