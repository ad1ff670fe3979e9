//! What the page of the notifications needs beside [`list_notifications`](crate::jobs::list_notifications). No endpoints.

use model::error::AppError;
use model::job::Job;
use model::job_list::BatchSummary;
use model::user::Project;
use web::auth::guard;

use crate::jobs::ListNotifications;

/// The batches of `jobs`.
pub async fn batches_of(jobs: &[Job]) -> Result<Vec<BatchSummary>, AppError> {
    let (_, state) = guard::of::<ListNotifications>()?;
    state.jobs.batches_of(jobs).await
}

/// How many notifications the caller has not read in each of their `projects`.
pub async fn unread_in(projects: &[Project]) -> Result<Vec<u32>, AppError> {
    let (caller, state) = guard::of::<ListNotifications>()?;
    let projects = projects.iter().map(|project| caller.project(project.id.as_str()));
    let projects = projects.collect::<Result<Vec<_>, _>>()?;
    state.jobs.unread_in(&caller, &projects).await
}
