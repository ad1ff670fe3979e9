//! Drafts: unsent text of a person, one per form.

use sqlx::Row;
use sqlx::any::AnyRow;

use crate::{Authority, Store, StoreError, instant};
use model::draft::{DraftVersion, OtherDraft};
use model::id::{FormKey, IntentId, JobId, ProjectId};
use model::time::Timestamp;

/// The maximum number of drafts of a person; the least recently changed are deleted.
const DRAFTS_MAX: i64 = 50;

/// How long an unchanged draft is stored: 90 days.
const RETENTION_MILLIS: i64 = 90 * 86_400_000;

/// The subject prefix of prefilled forms for a new job; the key of the form follows it.
const PREFILLED: &str = "new/";

/// A draft: texts as typed.
#[derive(Debug, Default)]
pub struct Draft {
    pub text: String,
    /// The pages field of the form.
    pub paths: String,
    /// The id of its template; empty without one.
    pub template: String,
    /// The intent of the form that saves it; empty without one.
    pub intent: String,
    /// The intent of the form that began it, whichever saves it; empty without one.
    pub origin: String,
}

/// The form of a draft.
#[derive(Clone, Copy)]
pub struct DraftKey<'a> {
    pub user_id: &'a str,
    pub project: &'a ProjectId,
    /// That of [`FormOf`], of a batch or of a template.
    pub subject: &'a str,
}

/// What the form of a prompt is for.
#[derive(Debug, Clone)]
pub enum FormOf {
    /// With the key of a prefilled form.
    NewJob(Option<FormKey>),
    FollowUp(JobId),
}

impl FormOf {
    /// The subject of its draft: empty for a new job without prefilled fields.
    pub fn subject(&self) -> String {
        match self {
            Self::NewJob(None) => String::new(),
            Self::NewJob(Some(key)) => [PREFILLED, key.as_str()].concat(),
            Self::FollowUp(job) => job.to_string(),
        }
    }
}

/// The version of a draft that a form may replace or remove.
#[derive(Clone, Copy)]
pub enum Replaces<'a> {
    /// Any version.
    Any,
    /// The draft that was saved at `base` (in milliseconds), or that this form saved since, under one of its `intents`.
    Known { base: i64, intents: [Option<&'a str>; 2] },
}

impl<'a> Replaces<'a> {
    /// The bound values: whether any version may be replaced, the base, and the intents.
    fn bound(self) -> (i64, i64, [Option<&'a str>; 2]) {
        match self {
            Self::Any => (1, 0, [None; 2]),
            Self::Known { base, intents } => (0, base, intents),
        }
    }
}

impl Store {
    /// Stores `draft` if `replaces` allows it or the same text is stored. Each version is newer than the one before. Stores nothing if `unless_sent`
    /// is committed: a sent text is no longer a draft, however late it arrives. Returns the time of storage; `None` if it was not stored. Deletes old
    /// drafts, and those beyond [`DRAFTS_MAX`] of the person.
    pub async fn save_draft(
        &self,
        by: Authority<'_>,
        of: DraftKey<'_>,
        draft: &Draft,
        unless_sent: Option<&IntentId>,
        replaces: Replaces<'_>,
    ) -> Result<Option<Timestamp>, StoreError> {
        let (any, base, intents) = replaces.bound();
        let now = by.now();
        let stored = sqlx::query(
            "INSERT INTO drafts (user_id, project, subject, text, paths, template_id, updated_at, intent, origin)
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $14
             WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.author_id = $1 AND m.intent = $9)
             ON CONFLICT (user_id, project, subject)
             DO UPDATE SET text = excluded.text, paths = excluded.paths, template_id = excluded.template_id,
                 updated_at = CASE WHEN excluded.updated_at > drafts.updated_at THEN excluded.updated_at
                     ELSE drafts.updated_at + 1 END,
                 intent = excluded.intent
             WHERE $10 = 1 OR drafts.updated_at = $11 OR drafts.intent = $12 OR drafts.intent = $13
                 OR (drafts.text = excluded.text AND drafts.paths = excluded.paths)
             RETURNING updated_at",
        )
        .bind(of.user_id)
        .bind(of.project.as_str())
        .bind(of.subject)
        .bind(&draft.text)
        .bind(&draft.paths)
        .bind(&draft.template)
        .bind(now.as_millis())
        .bind(&draft.intent)
        .bind(unless_sent.map(IntentId::as_str))
        .bind(any)
        .bind(base)
        .bind(intents[0])
        .bind(intents[1])
        .bind(&draft.origin)
        .fetch_optional(self.write(by).statement())
        .await?;
        sqlx::query(
            "DELETE FROM drafts WHERE updated_at < $2 OR (user_id = $1 AND (project, subject) NOT IN (
                 SELECT project, subject FROM drafts WHERE user_id = $1
                 ORDER BY updated_at DESC, project, subject LIMIT $3))",
        )
        .bind(of.user_id)
        .bind(now.as_millis() - RETENTION_MILLIS)
        .bind(DRAFTS_MAX)
        .execute(self.write(by).statement())
        .await?;
        stored.map(|row| instant(&row, "updated_at")).transpose()
    }

    pub async fn draft(&self, of: DraftKey<'_>) -> Result<Option<DraftVersion>, StoreError> {
        let row = sqlx::query(
            "SELECT text, paths, template_id, updated_at, origin FROM drafts WHERE user_id = $1 AND project = $2 AND subject = $3",
        )
        .bind(of.user_id)
        .bind(of.project.as_str())
        .bind(of.subject)
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(version).transpose()
    }

    /// The draft of a form for a new job, and those of the other forms, newest first.
    pub async fn new_job_drafts(
        &self,
        of: DraftKey<'_>,
    ) -> Result<(Option<DraftVersion>, Vec<OtherDraft>), StoreError> {
        // The subjects of prefilled forms: '0' follows '/'. A list has the first 200 characters of a text.
        let rows = sqlx::query(
            "SELECT subject, CASE WHEN subject = $3 THEN text ELSE SUBSTR(text, 1, 200) END AS text, paths, template_id,
                 updated_at, origin
             FROM drafts WHERE user_id = $1 AND project = $2
                 AND (subject = '' OR subject = $3 OR (subject > 'new/' AND subject < 'new0'))
             ORDER BY updated_at DESC, subject LIMIT $4",
        )
        .bind(of.user_id)
        .bind(of.project.as_str())
        .bind(of.subject)
        .bind(DRAFTS_MAX)
        .fetch_all(&self.pool)
        .await?;
        let (mut own, mut others) = (None, Vec::new());
        for row in &rows {
            let (subject, version) = (row.try_get::<String, _>("subject")?, version(row)?);
            if subject == of.subject {
                own = Some(version);
                continue;
            }
            let DraftVersion { text: excerpt, paths, template, saved_at, .. } = version;
            let form = subject.strip_prefix(PREFILLED).and_then(|form| form.parse().ok());
            others.push(OtherDraft { form, excerpt, paths, template, saved_at });
        }
        Ok((own, others))
    }

    /// Removes the draft if `replaces` allows it or its text equals `sent`.
    pub async fn drop_draft(
        &self,
        by: Authority<'_>,
        of: DraftKey<'_>,
        replaces: Replaces<'_>,
        sent: Option<&str>,
    ) -> Result<(), StoreError> {
        let (any, base, intents) = replaces.bound();
        sqlx::query(
            "DELETE FROM drafts WHERE user_id = $1 AND project = $2 AND subject = $3
                 AND ($4 = 1 OR updated_at = $5 OR intent = $6 OR intent = $7 OR text = $8)",
        )
        .bind(of.user_id)
        .bind(of.project.as_str())
        .bind(of.subject)
        .bind(any)
        .bind(base)
        .bind(intents[0])
        .bind(intents[1])
        .bind(sent)
        .execute(self.write(by).statement())
        .await?;
        Ok(())
    }
}

fn version(row: &AnyRow) -> Result<DraftVersion, StoreError> {
    let (text, paths) = (row.try_get("text")?, row.try_get("paths")?);
    let (template, saved_at) = (row.try_get("template_id")?, instant(row, "updated_at")?);
    Ok(DraftVersion { text, paths, template, saved_at, origin: row.try_get("origin")? })
}
