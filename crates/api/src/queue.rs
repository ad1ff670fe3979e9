//! The queue: viewing it and changing its order.

use leptos::prelude::*;

use model::error::AppError;
#[cfg(feature = "ssr")]
use model::flash::Confirmation;
#[cfg(feature = "ssr")]
use model::links;
use model::queue::Queue;
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

/// Moves a prompt in its queue: `to` is `first`, `up` or `down`. Returns the new queue.
#[server(prefix = "/api", endpoint = "queue/move")]
pub async fn move_queued(project: String, message: String, to: String) -> Result<Queue, AppError> {
    let (caller, state) = guard::of::<MoveQueued>()?;
    let project = caller.project(&project)?;
    let queue = state.jobs.move_queued(&caller, &project, &message.parse()?, to.parse()?).await?;
    forms::redirect_to(&format!("/p/{project}/queue"));
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

/// Cancels a queued prompt. Returns the new queue.
#[server(prefix = "/api", endpoint = "queue/cancel")]
pub async fn cancel_queued(project: String, message: String) -> Result<Queue, AppError> {
    let (caller, state) = guard::of::<CancelQueued>()?;
    let project = caller.project(&project)?;
    let queue = state.jobs.cancel_queued(&caller, &project, &message.parse()?).await?;
    forms::redirect_to(&format!("/p/{project}/queue"));
    shortened::changed_queue(queue)
}
