//! Putting jobs away and tagging them. Nothing of it is sent to the upstream. `jobs` are at most 200 ids, comma-separated or
//! one a field; ids of no job of the project are left out.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::job::BulkResult;
#[cfg(feature = "ssr")]
use crate::server::auth::guard;

/// Takes jobs out of the list until somebody brings them back. Answers those that were in it.
#[server(prefix = "/api", endpoint = "jobs/archive")]
pub async fn archive_jobs(project: String, jobs: Option<String>) -> Result<BulkResult, AppError> {
    let caller = guard::of::<ArchiveJobs>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.archive(&caller, &project, &jobs.unwrap_or_default()).await
}

/// Brings jobs back into the list. Answers those that were not in it.
#[server(prefix = "/api", endpoint = "jobs/unarchive")]
pub async fn unarchive_jobs(project: String, jobs: Option<String>) -> Result<BulkResult, AppError> {
    let caller = guard::of::<UnarchiveJobs>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.unarchive(&caller, &project, &jobs.unwrap_or_default()).await
}

/// Gives jobs a tag. Answers those that did not have it, whatever the case of its letters.
#[server(prefix = "/api", endpoint = "jobs/tag")]
pub async fn tag_jobs(project: String, jobs: Option<String>, tag: String) -> Result<BulkResult, AppError> {
    let caller = guard::of::<TagJobs>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.tag(&project, &jobs.unwrap_or_default(), &tag).await
}

/// Takes a tag off jobs. Answers those that had it.
#[server(prefix = "/api", endpoint = "jobs/untag")]
pub async fn untag_jobs(project: String, jobs: Option<String>, tag: String) -> Result<BulkResult, AppError> {
    let caller = guard::of::<UntagJobs>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.untag(&project, &jobs.unwrap_or_default(), &tag).await
}
