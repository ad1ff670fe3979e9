//! The queue: viewing it and changing its order.

use leptos::prelude::*;

use model::error::AppError;
#[cfg(feature = "ssr")]
use model::flash::Confirmation;
#[cfg(feature = "ssr")]
use model::id::{JobId, ProjectId, optional};
#[cfg(feature = "ssr")]
use model::links;
use model::queue::Queue;
#[cfg(feature = "ssr")]
use model::queue::{QueuePlace, QueuedPrompt};
#[cfg(feature = "ssr")]
use service::response_size::shortened;
#[cfg(feature = "ssr")]
use web::auth::guard;
#[cfg(feature = "ssr")]
use web::request::{flash, forms};

/// The queued prompts of a project, in order. `cursor`: `next` of an earlier part.
#[server(name = GetQueue, prefix = "/api", endpoint = "queue/list")]
pub async fn get_queue(project: String, cursor: Option<String>) -> Result<Queue, AppError> {
    shortened::queue(queue(project).await?, cursor.as_deref())
}

/// As [`get_queue`], all at once for its page.
#[cfg(feature = "ssr")]
pub async fn queue(project: String) -> Result<Queue, AppError> {
    let (caller, state) = guard::of::<GetQueue>()?;
    let project = caller.project(&project)?;
    let queue = state.jobs.queue(&project).await?;
    let batches = state.jobs.queued_batches(&queue.waiting).await?;
    Ok(Queue { batches, ..queue })
}

/// The place of a prompt that would be queued now, for its form.
#[cfg(feature = "ssr")]
pub async fn place_of_new(project: &str, is_follow_up: bool) -> Result<QueuePlace, AppError> {
    let (caller, state) = guard::of::<GetQueue>()?;
    let project = caller.project(project)?;
    state.jobs.place_of_new(&project, is_follow_up).await
}

/// The queued prompts of a job, for its page.
#[cfg(feature = "ssr")]
pub async fn queued_prompts(project: &str, job: &JobId) -> Result<Vec<QueuedPrompt>, AppError> {
    let (caller, state) = guard::of::<GetQueue>()?;
    let project = caller.project(project)?;
    state.jobs.queued_prompts(&project, job).await
}

/// Moves a prompt in its queue: `to` is `first`, `up` or `down`. Returns the new queue. `job`: a plain form leads to the page of this job.
#[server(prefix = "/api", endpoint = "queue/move")]
pub async fn move_queued(
    project: String,
    message: String,
    to: String,
    job: Option<String>,
) -> Result<Queue, AppError> {
    let (caller, state) = guard::of::<MoveQueued>()?;
    let (project, job) = (caller.project(&project)?, optional(job.as_deref())?);
    let queue = state.jobs.move_queued(&caller, &project, &message.parse()?, to.parse()?).await?;
    leave(&project, job);
    shortened::changed_queue(queue)
}

/// Sends the next prompt at once to find out whether there are AI credits again.
#[server(prefix = "/api", endpoint = "queue/try")]
pub async fn try_queue(project: String) -> Result<(), AppError> {
    let (caller, state) = guard::of::<TryQueue>()?;
    let project = caller.project(&project)?;
    state.jobs.try_queue_now(&caller, &project).await?;
    let sentence = "Docket sends the next prompt as soon as the budget has room.";
    flash::redirect_with(&links::queue(project.as_str()), Confirmation::new(sentence));
    Ok(())
}

/// Cancels a queued prompt. Returns the new queue. `job` as for [`move_queued`].
#[server(prefix = "/api", endpoint = "queue/cancel")]
pub async fn cancel_queued(project: String, message: String, job: Option<String>) -> Result<Queue, AppError> {
    let (caller, state) = guard::of::<CancelQueued>()?;
    let (project, job) = (caller.project(&project)?, optional(job.as_deref())?);
    let queue = state.jobs.cancel_queued(&caller, &project, &message.parse()?).await?;
    leave(&project, job);
    shortened::changed_queue(queue)
}

/// Redirects a plain form to the page of the job, or to the queue.
#[cfg(feature = "ssr")]
fn leave(project: &ProjectId, job: Option<JobId>) {
    let queue = || links::queue(project.as_str());
    forms::redirect_to(&job.map_or_else(queue, |job| links::job(project.as_str(), job.as_str())));
}
