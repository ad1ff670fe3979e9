//! Saves drafts: while a person types, and when a text is refused.

use thiserror::Error;

use crate::caller::Caller;
use crate::jobs::Jobs;
use model::draft::SavedDraft;
use model::error::{AppError, BadInput};
use model::id::{FormKey, IntentId, ProjectId};
use store::StoreError;
use store::jobs::drafts::{Draft, DraftKey, FormOf, Replaces};

/// The maximum length of the stored pages field, in characters: 50 paths of 500.
const PATHS_MAX_CHARS: usize = 26_000;

/// The form of a prompt as it was typed. Nothing in it is checked, except for what identifies the form.
#[derive(Debug)]
pub struct TypedForm {
    pub project: ProjectId,
    pub of: FormOf,
    pub draft: Draft,
    /// When the version that the text is based on was saved, in milliseconds; 0 without one. `None` replaces any
    /// version.
    pub base: Option<i64>,
}

impl TypedForm {
    /// With the text as drafts have it.
    pub fn new(project: ProjectId, of: FormOf, draft: Draft, base: Option<i64>) -> Self {
        let text = draft.text.replace("\r\n", "\n");
        Self { project, of, draft: Draft { text, ..draft }, base }
    }

    /// The draft of `caller` with this subject.
    fn key<'a>(&'a self, caller: &'a Caller, subject: &'a str) -> DraftKey<'a> {
        DraftKey { user_id: &caller.user.id, project: &self.project, subject }
    }

    fn replaces<'a>(&self, intents: [Option<&'a str>; 2]) -> Replaces<'a> {
        self.base.map_or(Replaces::Any, |base| Replaces::Known { base, intents })
    }

    /// Whether the text is worth saving as a draft, and valid in the database.
    fn may_be_saved(&self) -> bool {
        let Draft { text, paths, template, intent, origin } = &self.draft;
        !text.trim().is_empty()
            && ![text, paths, template, intent, origin].iter().any(|text| text.contains('\0'))
    }
}

impl Jobs {
    /// Saves the caller's draft for a form; an empty text deletes the draft. With a `base`, a version that another form
    /// saved meanwhile is not replaced but returned. `intent`: that of the form, so that a draft that arrives after its text was sent is not saved.
    /// `before`: the intent that the form had before.
    pub async fn save_draft(
        &self,
        caller: &Caller,
        form: &TypedForm,
        intent: Option<&IntentId>,
        before: Option<&IntentId>,
    ) -> Result<SavedDraft, AppError> {
        let subject = form.of.subject();
        let of = form.key(caller, &subject);
        let replaces = form.replaces([intent, before].map(|intent| intent.map(IntentId::as_str)));
        let draft = &form.draft;
        if draft.text.trim().is_empty() {
            self.store.drop_draft(caller.authority(), of, replaces, None).await?;
            return self.unsaved(of, replaces).await;
        }
        self.must_be_storable(&draft.text, &draft.paths)?;
        if let FormOf::FollowUp(job) = &form.of {
            self.get(&form.project, job).await?;
        }
        match self.store.save_draft(caller.authority(), of, draft, intent, replaces).await? {
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
    pub(super) async fn remove_sent_draft(
        &self,
        caller: &Caller,
        form: &TypedForm,
    ) -> Result<(), StoreError> {
        let subject = form.of.subject();
        let replaces = form.replaces([Some(&form.draft.intent), None]);
        let of = form.key(caller, &subject);
        self.store.drop_draft(caller.authority(), of, replaces, Some(&form.draft.text)).await
    }

    /// Saves a refused text as the draft of its form. If another form changed that draft, the text of a new job becomes
    /// a separate draft. Saves nothing if the job to follow up does not exist.
    pub(super) async fn save_refused_text(
        &self,
        caller: &Caller,
        form: &TypedForm,
    ) -> Result<(), StoreError> {
        if !form.may_be_saved() || !self.has_subject(form).await? {
            return Ok(());
        }
        let (by, subject) = (caller.authority(), form.of.subject());
        let replaces = form.replaces([Some(&form.draft.intent), None]);
        let saved =
            self.store.save_draft(by, form.key(caller, &subject), &form.draft, None, replaces).await?;
        if saved.is_none() && matches!(form.of, FormOf::NewJob(_)) {
            let apart = FormOf::NewJob(Some(new_key()?)).subject();
            let of = form.key(caller, &apart);
            self.store.save_draft(caller.authority(), of, &form.draft, None, Replaces::Any).await?;
        }
        Ok(())
    }

    /// Whether the form is for a new job, or the job to follow up exists.
    async fn has_subject(&self, form: &TypedForm) -> Result<bool, StoreError> {
        match &form.of {
            FormOf::NewJob(_) => Ok(true),
            FormOf::FollowUp(job) => self.store.has_job(&form.project, job).await,
        }
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

/// The key of a draft beside those of all forms.
fn new_key() -> Result<FormKey, StoreError> {
    let key = uuid::Uuid::new_v4().to_string();
    key.parse().map_err(|_| StoreError::Corrupt(format!("the key “{key}” of a form")))
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
