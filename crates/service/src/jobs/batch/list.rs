//! Started batches: listing them, naming them, and retrying their failed jobs.

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::batch::BatchError;
use crate::jobs::find::page_number;
use crate::jobs::intent::new_intent;
use base::nfc::nfc;
use base::prompt::Prompt;
use model::batch::{Batch, BatchPage, NAME_MAX_CHARS};
use model::error::AppError;
use model::id::{BatchId, JobId, ProjectId};
use model::name::is_plain;
use store::jobs::batches::FailedJob;

/// Batches on a page of the list.
const PAGE_BATCHES: usize = 20;
/// The last page of the list.
const PAGES_MAX: u64 = 1_000;

impl Jobs {
    /// A page of the project's started batches, from 1.
    pub async fn batches(&self, project: &ProjectId, page: Option<&str>) -> Result<BatchPage, AppError> {
        let page = page.filter(|page| !page.is_empty());
        let number = page.map_or(Ok(1), |page| page_number(page, PAGES_MAX))?;
        let before = (number - 1) as i64 * PAGE_BATCHES as i64;
        Ok(self.store.batches(project, before, PAGE_BATCHES).await?)
    }

    /// Names a batch. With an empty name, the first line of its template is shown.
    pub async fn rename_batch(
        &self,
        caller: &Caller,
        project: &ProjectId,
        batch: &BatchId,
        name: &str,
    ) -> Result<Batch, AppError> {
        let prepared = self.prepared(project, batch).await?;
        let name = nfc(name.trim());
        if name.chars().count() > NAME_MAX_CHARS || !is_plain(&name) {
            return Err(BatchError::Name.into());
        }
        let given = Some(name.as_ref()).filter(|name| !name.is_empty());
        self.store.rename_batch(caller.authority(), &prepared, given).await?;
        self.batch(project, batch).await
    }

    /// Queues a retry of each of `chosen` that failed or was not accepted and has no retry yet.
    /// Calling it again with the same jobs changes nothing.
    pub async fn retry_failed(
        &self,
        caller: &Caller,
        project: &ProjectId,
        batch: &BatchId,
        chosen: &[JobId],
    ) -> Result<Batch, AppError> {
        let before = self.batch(project, batch).await?;
        let prepared = self.prepared(project, batch).await?;
        let mut failed = self.store.failed_jobs(&prepared.id).await?;
        failed.retain(|job| chosen.contains(&job.id));
        let retry = |job: FailedJob| {
            let (intent, prompt) = (new_intent()?, Prompt::parse(&job.prompt, self.prompt_max())?);
            Ok(prepared.job(intent, prompt, job.pages, Some(job.id)))
        };
        let retries = failed.into_iter().map(retry).collect::<Result<Vec<_>, AppError>>()?;
        self.store.retry_jobs(caller.authority(), &prepared, &retries, self.queue_max()).await?;
        Ok(self.shown(prepared).await.unwrap_or_else(|error| {
            tracing::warn!(%batch, %error, "a batch could not be read after its retries were queued");
            before
        }))
    }
}
