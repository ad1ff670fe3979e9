//! Text that somebody is writing and has not sent, kept for its author: one text for each form.

use sqlx::Row;

use super::{Store, StoreError, jobs};
use crate::model::id::{IntentId, ProjectId};
use crate::model::time::Timestamp;

/// A text in the making.
#[derive(Default)]
pub struct Draft {
    pub text: String,
    /// What stands in the field for pages.
    pub paths: String,
    /// The id of the template it came from; empty is none.
    pub template: String,
}

/// Which form a draft belongs to.
#[derive(Clone, Copy)]
pub struct DraftKey<'a> {
    pub user_id: &'a str,
    pub project: &'a ProjectId,
    /// A job's id, or empty for a new job.
    pub subject: &'a str,
}

impl Store {
    /// Keeps `draft` instead of what was kept before. With `unless_sent`, nothing
    /// is kept where that intent is committed already: what was sent is no draft any more, however late it arrives. Gives
    /// whether it was kept.
    pub async fn keep_draft(
        &self,
        of: DraftKey<'_>,
        draft: &Draft,
        unless_sent: Option<&IntentId>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let kept = sqlx::query(
            "INSERT INTO drafts (user_id, project, subject, text, paths, template_id, updated_at)
             SELECT $1, $2, $3, $4, $5, $6, $7
             WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.author_id = $1 AND m.intent = $8)
             ON CONFLICT (user_id, project, subject)
             DO UPDATE SET text = excluded.text, paths = excluded.paths, template_id = excluded.template_id,
                 updated_at = excluded.updated_at",
        )
        .bind(of.user_id)
        .bind(of.project.as_str())
        .bind(of.subject)
        .bind(&draft.text)
        .bind(&draft.paths)
        .bind(&draft.template)
        .bind(now.as_millis())
        .bind(unless_sent.map(IntentId::as_str))
        .execute(&self.pool)
        .await?;
        Ok(kept.rows_affected() == 1)
    }

    /// The draft, and when it was kept.
    pub async fn draft(&self, of: DraftKey<'_>) -> Result<Option<(Draft, Timestamp)>, StoreError> {
        let row = sqlx::query(
            "SELECT text, paths, template_id, updated_at FROM drafts WHERE user_id = $1 AND project = $2 AND subject = $3",
        )
        .bind(of.user_id)
        .bind(of.project.as_str())
        .bind(of.subject)
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let (text, paths) = (row.try_get("text")?, row.try_get("paths")?);
        let draft = Draft { text, paths, template: row.try_get("template_id")? };
        Ok(Some((draft, jobs::instant(&row, "updated_at")?)))
    }

    pub async fn drop_draft(&self, of: DraftKey<'_>) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM drafts WHERE user_id = $1 AND project = $2 AND subject = $3")
            .bind(of.user_id)
            .bind(of.project.as_str())
            .bind(of.subject)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}
