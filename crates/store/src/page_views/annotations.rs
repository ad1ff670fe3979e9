//! Writes the team's notes on days. `queries` reads them with the history.

use sqlx::{Any, Row, Transaction};

use super::queries;
use crate::{Authority, Change, Store, StoreError, audit, limits, new_id};
use model::analytics::trend::Annotation;
use model::audit::{Action, Actor, AuditEvent};
use model::day::Day;
use model::id::ProjectId;
use model::limits::{NOTES_OF_DAY, NOTES_OF_PROJECT};
use model::time::Timestamp;

impl Store {
    /// Adds a note and returns its id. A note that its author repeats is added once: the response to the first request may have been lost.
    pub async fn add_annotation(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        day: Day,
        text: &str,
    ) -> Result<String, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let same = sqlx::query(
            "SELECT id FROM annotations WHERE project = $1 AND day = $2 AND text = $3 AND author_id = $4",
        );
        let same = same.bind(project.as_str()).bind(day.to_string()).bind(text).bind(&by.id);
        if let Some(row) = same.fetch_optional(&mut *tx).await? {
            return Ok(row.try_get("id")?);
        }
        let id = new_id();
        leave_room(&mut tx, project, day, "").await?;
        sqlx::query(
            "INSERT INTO annotations (id, project, day, text, author_id, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $6)",
        )
        .bind(&id)
        .bind(project.as_str())
        .bind(day.to_string())
        .bind(text)
        .bind(&by.id)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        record(tx, Action::AnnotationAdd, project, &id, day, &by, now).await?;
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
        row.map(|row| Ok((queries::annotation(&row)?, row.try_get("author_id")?))).transpose()
    }

    /// Changes a note's day and text, if the note exists.
    pub async fn change_annotation(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        id: &str,
        day: Day,
        text: &str,
    ) -> Result<(), StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        leave_room(&mut tx, project, day, id).await?;
        let changed = sqlx::query(
            "UPDATE annotations SET day = $2, text = $3, updated_at = $4 WHERE id = $1 AND project = $5",
        )
        .bind(id)
        .bind(day.to_string())
        .bind(text)
        .bind(now.as_millis())
        .bind(project.as_str())
        .execute(&mut *tx)
        .await?;
        match changed.rows_affected() {
            0 => Ok(()),
            _ => record(tx, Action::AnnotationChange, project, id, day, &by, now).await,
        }
    }

    /// Removes a note, if it exists.
    pub async fn remove_annotation(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        note: &Annotation,
    ) -> Result<(), StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let removed = sqlx::query("DELETE FROM annotations WHERE id = $1 AND project = $2")
            .bind(&note.id)
            .bind(project.as_str())
            .execute(&mut *tx)
            .await?;
        match removed.rows_affected() {
            0 => Ok(()),
            _ => record(tx, Action::AnnotationRemove, project, &note.id, note.day, &by, now).await,
        }
    }
}

/// Fails if the project or the day has reached its limit of notes, not counting the note with this id.
async fn leave_room(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    day: Day,
    id: &str,
) -> Result<(), StoreError> {
    let others = sqlx::query(
        "SELECT COUNT(*) AS all_notes, COALESCE(SUM(CASE WHEN day = $2 THEN 1 ELSE 0 END), 0) AS of_day
         FROM annotations WHERE project = $1 AND id <> $3",
    );
    let others = others.bind(project.as_str()).bind(day.to_string()).bind(id).fetch_one(&mut **tx).await?;
    limits::leave_room(&NOTES_OF_DAY, others.try_get("of_day")?)?;
    limits::leave_room(&NOTES_OF_PROJECT, others.try_get("all_notes")?)
}

/// Commits a change together with its audit row, which contains the day and not the text.
async fn record(
    mut tx: Transaction<'static, Any>,
    action: Action,
    project: &ProjectId,
    id: &str,
    day: Day,
    by: &Actor,
    now: Timestamp,
) -> Result<(), StoreError> {
    let event = AuditEvent::new(action).in_project(project).on(id).with_detail(day);
    audit::record_often(&mut tx, by, &event, now).await?;
    Ok(tx.commit().await?)
}
