//! Drafts: text that a person has written and not sent, one per form.

use sqlx::Row;

use super::{Store, StoreError, jobs};
use crate::model::id::{IntentId, ProjectId};
use crate::model::time::Timestamp;

/// How many drafts a person has; the ones that were changed last are kept.
const DRAFTS_MAX: i64 = 50;

/// How long an unchanged draft is kept: 90 days.
const KEPT_MILLIS: i64 = 90 * 86_400_000;

/// A draft.
#[derive(Default)]
pub struct Draft {
    pub text: String,
    /// The pages field of the form.
    pub paths: String,
    /// The id of the template it came from; empty without one.
    pub template: String,
}

/// The form that a draft belongs to.
#[derive(Clone, Copy)]
pub struct DraftKey<'a> {
    pub user_id: &'a str,
    pub project: &'a ProjectId,
    /// A job's id, or empty for a new job.
    pub subject: &'a str,
}

impl Store {
    /// Stores `draft` in place of the previous one. Old drafts, and those beyond [`DRAFTS_MAX`] of the person, are deleted. With `unless_sent`, nothing is stored if that intent is committed:
    /// a sent text is no longer a draft, however late it arrives. Returns whether it was stored.
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
        .execute(self.writer())
        .await?;
        sqlx::query(
            "DELETE FROM drafts WHERE updated_at < $2 OR (user_id = $1 AND (project, subject) NOT IN (
                 SELECT project, subject FROM drafts WHERE user_id = $1
                 ORDER BY updated_at DESC, project, subject LIMIT $3))",
        )
        .bind(of.user_id)
        .bind(now.as_millis() - KEPT_MILLIS)
        .bind(DRAFTS_MAX)
        .execute(self.writer())
        .await?;
        Ok(kept.rows_affected() == 1)
    }

    /// The draft, and when it was stored.
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
            .execute(self.writer())
            .await?;
        Ok(())
    }
}
