//! Archiving notifications, and what their page needs beside [`list_notifications`](crate::jobs::list_notifications).

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::jobs::ListNotifications;
use model::error::AppError;
#[cfg(feature = "ssr")]
use model::job::Job;
#[cfg(feature = "ssr")]
use model::job_list::{BatchSummary, Notifications};
#[cfg(feature = "ssr")]
use model::user::Project;
#[cfg(feature = "ssr")]
use web::auth::guard;

/// Archives the caller's notifications of `jobs`, at most 1,000 ids separated by commas: they are not listed until the job changes again.
#[server(prefix = "/api", endpoint = "notifications/archive")]
pub async fn archive_notifications(project: String, jobs: String) -> Result<(), AppError> {
    let (caller, state) = guard::of::<ArchiveNotifications>()?;
    let project = caller.project(&project)?;
    state.jobs.archive_notifications(&caller, &project, jobs.parse()?).await
}

/// Removes what the caller archived.
#[cfg(feature = "ssr")]
pub async fn without_archived(listed: &mut Notifications) -> Result<(), AppError> {
    let (caller, state) = guard::of::<ListNotifications>()?;
    state.jobs.without_archived(&caller, listed).await
}

/// The batches of `jobs`.
#[cfg(feature = "ssr")]
pub async fn batches_of(jobs: &[Job]) -> Result<Vec<BatchSummary>, AppError> {
    let (_, state) = guard::of::<ListNotifications>()?;
    state.jobs.batches_of(jobs).await
}

/// How many notifications the caller has not read in each of their `projects`.
#[cfg(feature = "ssr")]
pub async fn unread_in(projects: &[Project]) -> Result<Vec<u32>, AppError> {
    let (caller, state) = guard::of::<ListNotifications>()?;
    let projects = projects.iter().map(|project| caller.project(project.id.as_str()));
    let projects = projects.collect::<Result<Vec<_>, _>>()?;
    state.jobs.unread_in(&caller, &projects).await
}
