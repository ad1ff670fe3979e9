//! Finding jobs. Reads the ledger only; never asks the upstream.

use crate::error::AppError;
use crate::model::id::{IntentId, JobId, ProjectId};
use crate::model::job::{Job, JobBadge, JobForm, JobPage};
use crate::server::auth::guard::Caller;
use crate::server::jobs::Jobs;
use crate::server::store::drafts::{Draft, DraftOf};
use crate::server::store::job_list::JobFilter;

/// The most badges one call may ask for.
const BADGES_MAX: usize = 200;

impl Jobs {
    pub async fn get(&self, project: &ProjectId, job: &str) -> Result<Job, AppError> {
        let missing = || AppError::not_found("That job does not exist in this project.");
        let id: JobId = job.parse().map_err(AppError::bad_input)?;
        self.store.job(project, &id).await?.ok_or_else(missing)
    }

    /// A page of jobs; a filter that is left out or empty does not filter.
    pub async fn list(
        &self,
        project: &ProjectId,
        status: Option<String>,
        text: Option<String>,
        author: Option<String>,
        cursor: Option<String>,
    ) -> Result<JobPage, AppError> {
        let given =
            |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let filter = JobFilter {
            state: given(status).as_deref().map(str::parse).transpose().map_err(AppError::bad_input)?,
            text: given(text),
            author: given(author),
            before: given(cursor).as_deref().map(str::parse).transpose().map_err(AppError::bad_input)?,
        };
        Ok(self.store.jobs(project, &filter).await?)
    }

    /// The badges of comma-separated ids; those of no job of the project are left out.
    pub async fn badges(&self, project: &ProjectId, ids: &str) -> Result<Vec<JobBadge>, AppError> {
        let ids = ids.split(',').map(str::trim).filter(|id| !id.is_empty());
        let ids: Vec<JobId> = ids.map(str::parse).collect::<Result<_, _>>().map_err(AppError::bad_input)?;
        if ids.len() > BADGES_MAX {
            return Err(AppError::bad_input(format!(
                "At most {BADGES_MAX} jobs can be asked about at once."
            )));
        }
        Ok(self.store.badges(project, &ids).await?)
    }

    /// What a form starts from: a fresh intent, and the text that an earlier attempt could not deliver.
    pub async fn form(
        &self,
        caller: &Caller,
        project: &ProjectId,
        job: Option<&str>,
    ) -> Result<JobForm, AppError> {
        let of = DraftOf { user_id: &caller.user.id, project, subject: job.unwrap_or_default() };
        let draft = self.store.draft(of).await?;
        let (draft, draft_saved_at) = draft.map(|(draft, at)| (draft, Some(at))).unwrap_or_default();
        let Draft { text: draft, paths: draft_paths, template: draft_template } = draft;
        let intent: IntentId = uuid::Uuid::new_v4().to_string().parse().map_err(AppError::bad_input)?;
        let prompt_max = self.prompt_max;
        Ok(JobForm { intent, draft, draft_paths, draft_template, draft_saved_at, prompt_max })
    }
}
