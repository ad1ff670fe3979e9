//! Saves drafts while a person types.

use thiserror::Error;

use crate::caller::Caller;
use crate::jobs::Jobs;
use model::draft::SavedDraft;
use model::error::{AppError, BadInput};
use model::id::{FormKey, IntentId, InvalidId, JobId, ProjectId, TemplateId};
use store::Authority;
use store::StoreError;
use store::jobs::drafts::{Draft, DraftKey, Replaces, new_job};

/// The maximum length of the stored pages field, in characters: 50 paths of 500.
const PATHS_MAX_CHARS: usize = 26_000;

/// The current content of a form.
pub struct DraftForm {
    /// The job to follow up; empty for a new job.
    pub job: Option<String>,
    /// The key of a prefilled form for a new job; empty without one.
    pub form: Option<String>,
    pub text: String,
    pub paths: Option<String>,
    /// The id of the template it came from; empty without one.
    pub template: Option<String>,
    /// The form's intent, so that a draft that arrives after its text was sent is not saved.
    pub intent: Option<String>,
    /// When the version that the text is based on was saved, in milliseconds; 0 without one. `None` replaces any
    /// version.
    pub base: Option<i64>,
    /// The intent that the form had before.
    pub before: Option<String>,
}

/// A text that was posted to be sent.
pub(super) struct PostedText<'a> {
    pub(super) by: Authority<'a>,
    pub(super) user_id: &'a str,
    pub(super) project: &'a ProjectId,
    /// The job to follow up.
    pub(super) job: Option<&'a str>,
    pub(super) form: Option<&'a FormKey>,
    pub(super) intent: &'a str,
    /// See [`DraftForm::base`].
    pub(super) base: Option<i64>,
    pub(super) text: String,
    pub(super) paths: &'a str,
    pub(super) template: &'a str,
}

impl PostedText<'_> {
    fn subject(&self) -> String {
        self.job.map_or_else(|| new_job(self.form), str::to_owned)
    }

    /// The draft with this [`Self::subject`].
    fn key<'a>(&'a self, subject: &'a str) -> DraftKey<'a> {
        DraftKey { user_id: self.user_id, project: self.project, subject }
    }

    fn replaces(&self) -> Replaces<'_> {
        replaces(self.base, [Some(self.intent), None])
    }
}

impl Jobs {
    /// Saves the caller's draft for a form; an empty text deletes the draft. With a `base`, a version that another form
    /// saved meanwhile is not replaced but returned.
    pub async fn save_draft(
        &self,
        caller: &Caller,
        project: &ProjectId,
        draft_form: DraftForm,
    ) -> Result<SavedDraft, AppError> {
        let DraftForm { job, form, text, paths, template, intent, base, before } = draft_form;
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let job: Option<JobId> = given(job).as_deref().map(str::parse).transpose()?;
        let intent: Option<IntentId> = given(intent).as_deref().map(str::parse).transpose()?;
        let template: Option<TemplateId> = given(template).as_deref().map(str::parse).transpose()?;
        let (text, paths) = (text.replace("\r\n", "\n"), paths.unwrap_or_default());
        let subject = match &job {
            Some(job) => job.to_string(),
            None => new_job(form_key(form.as_deref())?.as_ref()),
        };
        let of = DraftKey { user_id: &caller.user.id, project, subject: &subject };
        let before: Option<IntentId> = given(before).as_deref().map(str::parse).transpose()?;
        let replaces = replaces(base, [&intent, &before].map(|intent| intent.as_ref().map(IntentId::as_str)));
        if text.trim().is_empty() {
            self.store.drop_draft(caller.authority(), of, replaces, None).await?;
            return self.unsaved(of, replaces).await;
        }
        self.must_be_storable(&text, &paths)?;
        if let Some(job) = &job {
            self.get(project, job.as_str()).await?;
        }
        let (template, by) = (template.map(String::from), intent.clone().map(String::from));
        let (template, by) = (template.unwrap_or_default(), by.unwrap_or_default());
        let draft = Draft { text, paths, template, intent: by };
        match self.store.save_draft(caller.authority(), of, &draft, intent.as_ref(), replaces).await? {
            None => self.unsaved(of, replaces).await,
            saved_at => Ok(SavedDraft { saved_at, changed: None }),
        }
    }

    /// The result if nothing was saved: with another form's version, if there is one.
    async fn unsaved(&self, of: DraftKey<'_>, replaces: Replaces<'_>) -> Result<SavedDraft, AppError> {
        let changed = match replaces {
            Replaces::Any => None,
            Replaces::Known { .. } => self.store.draft(of).await?,
        };
        Ok(SavedDraft { saved_at: None, changed })
    }

    /// Removes the draft whose text was sent, unless another form changed it.
    pub(super) async fn remove_sent_draft(&self, posted: &PostedText<'_>) -> Result<(), StoreError> {
        let subject = posted.subject();
        self.store.drop_draft(posted.by, posted.key(&subject), posted.replaces(), Some(&posted.text)).await
    }

    /// Saves a refused text as the draft of its form. If another form changed that draft, the text of a new job becomes
    /// a separate draft.
    pub(super) async fn save_refused_text(&self, posted: &PostedText<'_>) -> Result<(), StoreError> {
        let [paths, template, intent] = [posted.paths, posted.template, posted.intent].map(str::to_owned);
        let draft = Draft { text: posted.text.clone(), paths, template, intent };
        let subject = posted.subject();
        let saved =
            self.store.save_draft(posted.by, posted.key(&subject), &draft, None, posted.replaces()).await?;
        if saved.is_none() && posted.job.is_none() {
            let apart = new_job(uuid::Uuid::new_v4().to_string().parse().ok().as_ref());
            self.store.save_draft(posted.by, posted.key(&apart), &draft, None, Replaces::Any).await?;
        }
        Ok(())
    }

    fn must_be_storable(&self, text: &str, paths: &str) -> Result<(), DraftError> {
        let most = self.prompt_max() as usize;
        if text.chars().count() > most || paths.chars().count() > PATHS_MAX_CHARS {
            return Err(DraftError::TooLong { most });
        }
        if text.contains('\0') || paths.contains('\0') {
            return Err(DraftError::Nul);
        }
        Ok(())
    }
}

fn replaces(base: Option<i64>, intents: [Option<&str>; 2]) -> Replaces<'_> {
    base.map_or(Replaces::Any, |base| Replaces::Known { base, intents })
}

/// Why a text cannot be saved as a draft.
#[derive(Debug, Error)]
enum DraftError {
    #[error("A draft has at most {most} characters, like a prompt. Shorten it to save it.")]
    TooLong { most: usize },
    #[error("A draft cannot contain a NUL character. Remove it.")]
    Nul,
}

impl BadInput for DraftError {}

/// Parses the key of a prefilled form; empty is none.
pub(super) fn form_key(posted: Option<&str>) -> Result<Option<FormKey>, InvalidId> {
    posted.filter(|key| !key.is_empty()).map(str::parse).transpose()
}
