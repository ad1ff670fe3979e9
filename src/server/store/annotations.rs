//! Writing the team's notes on days. They are read with the history.

use sqlx::Row;

use super::{Store, StoreError, history_queries, new_id};
use crate::model::day::Day;
use crate::model::history::Annotation;
use crate::model::id::ProjectId;
use crate::model::time::Timestamp;

impl Store {
    /// Adds a note and returns its id.
    pub async fn add_annotation(
        &self,
        project: &ProjectId,
        author_id: &str,
        day: Day,
        text: &str,
        now: Timestamp,
    ) -> Result<String, StoreError> {
        let id = new_id();
        sqlx::query(
            "INSERT INTO annotations (id, project, day, text, author_id, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $6)",
        )
        .bind(&id)
        .bind(project.as_str())
        .bind(day.to_string())
        .bind(text)
        .bind(author_id)
        .bind(now.as_millis())
        .execute(&self.pool)
        .await?;
        Ok(id)
    }

    /// A note of the project, and its author's id.
    pub async fn annotation(
        &self,
        project: &ProjectId,
        id: &str,
    ) -> Result<Option<(Annotation, String)>, StoreError> {
        let row = sqlx::query(
            "SELECT a.id, a.day, a.text, a.author_id, u.name AS author FROM annotations a
             JOIN users u ON u.id = a.author_id WHERE a.project = $1 AND a.id = $2",
        )
        .bind(project.as_str())
        .bind(id)
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| Ok((history_queries::annotation(&row)?, row.try_get("author_id")?))).transpose()
    }

    pub async fn change_annotation(
        &self,
        id: &str,
        day: Day,
        text: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query("UPDATE annotations SET day = $2, text = $3, updated_at = $4 WHERE id = $1")
            .bind(id)
            .bind(day.to_string())
            .bind(text)
            .bind(now.as_millis())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    pub async fn remove_annotation(&self, id: &str) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM annotations WHERE id = $1").bind(id).execute(&self.pool).await?;
        Ok(())
    }
}
