//! Saves drafts while a person types. Must not send anything.

use crate::error::AppError;
use crate::model::id::{IntentId, JobId, ProjectId, TemplateId};
use crate::model::job::DraftKept;
use crate::server::auth::guard::Caller;
use crate::server::jobs::Jobs;
use crate::server::store::drafts::{Draft, DraftKey};

/// The maximum length of the stored pages field, in characters: 50 paths of 500.
const PATHS_MAX_CHARS: usize = 26_000;

/// The current content of a form.
pub struct DraftForm {
    /// The job to follow up; empty for a new job.
    pub job: Option<String>,
    pub text: String,
    pub paths: Option<String>,
    /// The id of the template it came from; empty without one.
    pub template: Option<String>,
    /// The form's intent, so that a draft that arrives after its text was sent is not saved.
    pub intent: Option<String>,
}

impl Jobs {
    /// Saves the caller's draft for a form, replacing the previous one; an empty text deletes the draft.
    pub async fn save_draft(
        &self,
        caller: &Caller,
        project: &ProjectId,
        draft_form: DraftForm,
    ) -> Result<DraftKept, AppError> {
        let DraftForm { job, text, paths, template, intent } = draft_form;
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let job: Option<JobId> =
            given(job).as_deref().map(str::parse).transpose().map_err(AppError::bad_input)?;
        let intent: Option<IntentId> =
            given(intent).as_deref().map(str::parse).transpose().map_err(AppError::bad_input)?;
        let template: Option<TemplateId> =
            given(template).as_deref().map(str::parse).transpose().map_err(AppError::bad_input)?;
        let (text, paths) = (text.replace("\r\n", "\n"), paths.unwrap_or_default());
        let of = DraftKey {
            user_id: &caller.user.id,
            project,
            subject: job.as_ref().map(JobId::as_str).unwrap_or_default(),
        };
        if text.trim().is_empty() {
            self.store.drop_draft(of).await?;
            return Ok(DraftKept { saved_at: None });
        }
        self.must_be_keepable(&text, &paths)?;
        if let Some(job) = &job {
            self.get(project, job.as_str()).await?;
        }
        let now = self.clock.now();
        let draft = Draft { text, paths, template: template.map(String::from).unwrap_or_default() };
        let kept = self.store.keep_draft(of, &draft, intent.as_ref(), now).await?;
        Ok(DraftKept { saved_at: kept.then_some(now) })
    }

    fn must_be_keepable(&self, text: &str, paths: &str) -> Result<(), AppError> {
        let most = self.prompt_max() as usize;
        if text.chars().count() > most || paths.chars().count() > PATHS_MAX_CHARS {
            return Err(AppError::bad_input(format!(
                "A draft has at most {most} characters, like a prompt. Shorten it to save it."
            )));
        }
        if text.contains('\0') || paths.contains('\0') {
            return Err(AppError::bad_input("A draft cannot contain a NUL character. Remove it."));
        }
        Ok(())
    }
}
