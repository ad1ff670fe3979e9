//! The pages that jobs are about. `jobs` are ids as for tags; ids that are not in the project are ignored.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::job::BulkResult;
#[cfg(feature = "ssr")]
use crate::server::auth::guard;

/// Which of `paths`, separated by commas, are pages of the project: its daily history has them.
#[server(prefix = "/api", endpoint = "jobs/known-pages")]
pub async fn known_pages(project: String, paths: String) -> Result<Vec<String>, AppError> {
    let caller = guard::of::<KnownPages>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.known_pages(&project, &paths).await
}

/// Adds a page to jobs. Returns the jobs that changed.
#[server(prefix = "/api", endpoint = "jobs/add-page")]
pub async fn add_page(project: String, jobs: String, path: String) -> Result<BulkResult, AppError> {
    let caller = guard::of::<AddPage>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.add_page(&caller, &project, &jobs, &path).await
}

/// Removes a page from jobs. Returns the jobs that changed.
#[server(prefix = "/api", endpoint = "jobs/remove-page")]
pub async fn remove_page(project: String, jobs: String, path: String) -> Result<BulkResult, AppError> {
    let caller = guard::of::<RemovePage>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.remove_page(&caller, &project, &jobs, &path).await
}
