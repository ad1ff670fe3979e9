//! Batches: many jobs from a prompt template and a list of values.

use leptos::prelude::*;

use model::batch::{Batch, BatchForm, BatchPage, BatchPrompt, UnstartedBatch};
use model::error::AppError;
#[cfg(feature = "ssr")]
use model::id::optional;
#[cfg(feature = "ssr")]
use model::limits::JOBS_OF_BATCH;
#[cfg(feature = "ssr")]
use service::jobs::batch::BatchRequest;
#[cfg(feature = "ssr")]
use service::jobs::find::job_ids;
#[cfg(feature = "ssr")]
use service::response_size::shortened;
#[cfg(feature = "ssr")]
use web::auth::guard;
#[cfg(feature = "ssr")]
use web::request::forms;

/// The initial values of the form; with `from`, those of that batch.
#[server(name = GetBatchForm, prefix = "/api", endpoint = "batches/form")]
pub async fn batch_form(project: String, from: Option<String>) -> Result<BatchForm, AppError> {
    let (caller, state) = guard::of::<GetBatchForm>()?;
    let project = caller.project(&project)?;
    let from = from.as_deref().map(str::parse).transpose()?;
    state.jobs.batch_form(&caller, &project, from.as_ref()).await
}

/// Validates and stores a batch for preview. `prompt` is the prompt template, `values` is CSV with one record per job,
/// `template_id` names the saved template it came from. The same `intent` returns the same batch.
#[server(prefix = "/api", endpoint = "batches/prepare")]
pub async fn prepare_batch(
    project: String,
    prompt: String,
    values: String,
    intent: String,
    template_id: Option<String>,
) -> Result<Batch, AppError> {
    let (caller, state) = guard::of::<PrepareBatch>()?;
    let project = caller.project(&project)?;
    let template = optional(template_id.as_deref())?;
    let request = BatchRequest { project, text: prompt, values, template };
    state.jobs.save_batch_draft(&caller, &request).await?;
    let batch = state.jobs.prepare_batch(&caller, &request, &intent.parse()?).await?;
    leptos_axum::redirect(&format!("/p/{}/batches/{}", batch.project, batch.id));
    shortened::changed_batch(batch)
}

/// Puts the text of the template with the id `template` into the `prompt` of the form; an empty id removes the link to the
/// template `template_id`. A plain form is shown again with all its fields.
#[server(prefix = "/api", endpoint = "batches/use-template")]
pub async fn use_template(
    project: String,
    template: String,
    prompt: String,
    values: String,
    template_id: Option<String>,
) -> Result<BatchPrompt, AppError> {
    let (caller, state) = guard::of::<UseTemplate>()?;
    let (jobs, project) = (&state.jobs, caller.project(&project)?);
    let replaced = optional(template_id.as_deref())?;
    let request = BatchRequest { project, text: prompt, values, template: replaced };
    let used = jobs.use_template(&request, optional(Some(&template))?).await?;
    if forms::is_plain() {
        jobs.save_batch_form(&caller, &request, used.clone()).await?;
        forms::redirect_to(&format!("/p/{}/jobs/batch", request.project));
    }
    Ok(used)
}

/// Queues every job of a prepared batch, once.
#[server(prefix = "/api", endpoint = "batches/start")]
pub async fn start_batch(project: String, batch: String) -> Result<Batch, AppError> {
    let (caller, state) = guard::of::<StartBatch>()?;
    let project = caller.project(&project)?;
    let batch = state.jobs.start_batch(&caller, &project, &batch.parse()?).await?;
    forms::redirect_to(&format!("/p/{}/batches/{}", batch.project, batch.id));
    shortened::changed_batch(batch)
}

/// A batch with its preview, or with its jobs once it was started. `cursor`: `next` of an earlier part.
#[server(name = GetBatch, prefix = "/api", endpoint = "batches/get")]
pub async fn get_batch(project: String, batch: String, cursor: Option<String>) -> Result<Batch, AppError> {
    shortened::batch(self::batch(project, batch).await?, cursor.as_deref())
}

/// As [`get_batch`], all at once for its page.
#[cfg(feature = "ssr")]
pub async fn batch(project: String, batch: String) -> Result<Batch, AppError> {
    let (caller, state) = guard::of::<GetBatch>()?;
    let project = caller.project(&project)?;
    state.jobs.batch(&project, &batch.parse()?).await
}

/// Cancels the prompts of a batch that are still queued.
#[server(prefix = "/api", endpoint = "batches/cancel")]
pub async fn cancel_batch(project: String, batch: String) -> Result<Batch, AppError> {
    let (caller, state) = guard::of::<CancelBatch>()?;
    let project = caller.project(&project)?;
    let batch = state.jobs.cancel_batch(&caller, &project, &batch.parse()?).await?;
    forms::redirect_to(&format!("/p/{}/batches/{}", batch.project, batch.id));
    shortened::changed_batch(batch)
}

/// A page of the started batches of the project, the newest first; `page` counts from 1.
#[server(name = ListBatches, prefix = "/api", endpoint = "batches/list")]
pub async fn list_batches(project: String, page: Option<String>) -> Result<BatchPage, AppError> {
    let (caller, state) = guard::of::<ListBatches>()?;
    let project = caller.project(&project)?;
    state.jobs.batches(&project, page.as_deref()).await
}

/// The caller's batches that are prepared but not started, the newest first.
#[server(name = ListUnstarted, prefix = "/api", endpoint = "batches/unstarted")]
pub async fn unstarted_batches(project: String) -> Result<Vec<UnstartedBatch>, AppError> {
    let (caller, state) = guard::of::<ListUnstarted>()?;
    let project = caller.project(&project)?;
    state.jobs.unstarted_batches(&caller, &project).await
}

/// Deletes a batch that the caller prepared and nobody started.
#[server(prefix = "/api", endpoint = "batches/discard")]
pub async fn discard_batch(project: String, batch: String) -> Result<(), AppError> {
    let (caller, state) = guard::of::<DiscardBatch>()?;
    let project = caller.project(&project)?;
    state.jobs.discard_batch(&caller, &project, &batch.parse()?).await
}

/// Names a batch: at most 80 characters. An empty `name` is replaced by the first line of its template.
#[server(prefix = "/api", endpoint = "batches/rename")]
pub async fn rename_batch(project: String, batch: String, name: String) -> Result<Batch, AppError> {
    let (caller, state) = guard::of::<RenameBatch>()?;
    let project = caller.project(&project)?;
    let batch = state.jobs.rename_batch(&caller, &project, &batch.parse()?, &name).await?;
    forms::redirect_to(&format!("/p/{}/batches/{}", batch.project, batch.id));
    shortened::changed_batch(batch)
}

/// Queues a retry of each of the comma-separated `jobs` of a batch that failed or was not accepted, once for each job.
#[server(prefix = "/api", endpoint = "batches/retry")]
pub async fn retry_failed(project: String, batch: String, jobs: String) -> Result<Batch, AppError> {
    let (caller, state) = guard::of::<RetryFailed>()?;
    let project = caller.project(&project)?;
    let jobs = job_ids(&jobs, JOBS_OF_BATCH.most() as usize)?;
    let batch = state.jobs.retry_failed(&caller, &project, &batch.parse()?, &jobs).await?;
    forms::redirect_to(&format!("/p/{}/batches/{}", batch.project, batch.id));
    shortened::changed_batch(batch)
}
