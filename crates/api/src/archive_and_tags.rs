//! Archiving, dismissing and tagging jobs. Nothing is sent to the upstream. `jobs` are at most 1,000 ids, comma-separated or in
//! repeated fields; ids that are not in the project are ignored. `matching` selects all jobs that match instead: the query
//! string of a list, after a question mark. With `count`, the number that the list showed, nothing changes if another number matches now.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use base::nfc::nfc;
use model::error::AppError;
use model::job::BulkResult;
#[cfg(feature = "ssr")]
use model::job::TimelineMark;
#[cfg(feature = "ssr")]
use service::jobs::archive_and_tags::ChosenJobs;
#[cfg(feature = "ssr")]
use web::auth::guard;

/// Archives jobs, which hides them from the list until they are restored. Returns the jobs that changed.
#[server(prefix = "/api", endpoint = "jobs/archive")]
pub async fn archive_jobs(
    project: String,
    jobs: Option<String>,
    matching: Option<String>,
    count: Option<u64>,
) -> Result<BulkResult, AppError> {
    let (caller, state) = guard::of::<ArchiveJobs>()?;
    let project = caller.project(&project)?;
    let jobs = ChosenJobs::parse(jobs.as_deref(), matching.as_deref(), count)?;
    state.jobs.mark(TimelineMark::Archived, &caller, &project, jobs).await
}

/// Restores archived jobs. Returns the jobs that changed.
#[server(prefix = "/api", endpoint = "jobs/unarchive")]
pub async fn unarchive_jobs(
    project: String,
    jobs: Option<String>,
    matching: Option<String>,
    count: Option<u64>,
) -> Result<BulkResult, AppError> {
    let (caller, state) = guard::of::<UnarchiveJobs>()?;
    let project = caller.project(&project)?;
    let jobs = ChosenJobs::parse(jobs.as_deref(), matching.as_deref(), count)?;
    state.jobs.mark(TimelineMark::Restored, &caller, &project, jobs).await
}

/// Dismisses jobs that need attention, for everyone, until they change again. Returns the jobs that changed.
#[server(prefix = "/api", endpoint = "jobs/dismiss")]
pub async fn dismiss_jobs(project: String, jobs: Option<String>) -> Result<BulkResult, AppError> {
    let (caller, state) = guard::of::<DismissJobs>()?;
    let project = caller.project(&project)?;
    let jobs = ChosenJobs::parse(jobs.as_deref(), None, None)?;
    state.jobs.mark(TimelineMark::Dismissed, &caller, &project, jobs).await
}

/// Undoes a dismissal. Returns the jobs that changed.
#[server(prefix = "/api", endpoint = "jobs/undismiss")]
pub async fn undismiss_jobs(project: String, jobs: Option<String>) -> Result<BulkResult, AppError> {
    let (caller, state) = guard::of::<UndismissJobs>()?;
    let project = caller.project(&project)?;
    let jobs = ChosenJobs::parse(jobs.as_deref(), None, None)?;
    state.jobs.mark(TimelineMark::DismissalUndone, &caller, &project, jobs).await
}

/// Adds a tag to jobs, ignoring case. Returns the jobs that changed.
#[server(prefix = "/api", endpoint = "jobs/tag")]
pub async fn tag_jobs(
    project: String,
    jobs: Option<String>,
    matching: Option<String>,
    count: Option<u64>,
    tag: String,
) -> Result<BulkResult, AppError> {
    let (caller, state) = guard::of::<TagJobs>()?;
    let project = caller.project(&project)?;
    let jobs = ChosenJobs::parse(jobs.as_deref(), matching.as_deref(), count)?;
    state.jobs.tag(&caller, &project, jobs, &nfc(&tag).parse()?).await
}

/// Removes a tag from jobs. Returns the jobs that changed.
#[server(prefix = "/api", endpoint = "jobs/untag")]
pub async fn untag_jobs(
    project: String,
    jobs: Option<String>,
    matching: Option<String>,
    count: Option<u64>,
    tag: String,
) -> Result<BulkResult, AppError> {
    let (caller, state) = guard::of::<UntagJobs>()?;
    let project = caller.project(&project)?;
    let jobs = ChosenJobs::parse(jobs.as_deref(), matching.as_deref(), count)?;
    state.jobs.untag(&caller, &project, jobs, &nfc(&tag).parse()?).await
}
