//! The pull requests of jobs.

use leptos::prelude::*;

use model::error::AppError;
#[cfg(feature = "ssr")]
use model::job::Job;
use model::pull_request::Reviews;
#[cfg(feature = "ssr")]
use model::pull_request::files::PagesOfFiles;
#[cfg(feature = "ssr")]
use model::similar::ChangedPage;
#[cfg(feature = "ssr")]
use service::response_size::shortened;
#[cfg(feature = "ssr")]
use web::auth::guard;

/// The pull requests of a project that wait for somebody, grouped by who acts next, at most 100 of each group; and the last 50 of those merged in the
/// last 7 days. From Docket's database: code hosts are not requested. `cursor`: `next` of an earlier part.
#[server(name = GetReviews, prefix = "/api", endpoint = "pull-requests/reviews")]
pub async fn get_reviews(project: String, cursor: Option<String>) -> Result<Reviews, AppError> {
    shortened::reviews(reviews(project).await?, cursor.as_deref())
}

/// As [`get_reviews`], all at once for their page.
#[cfg(feature = "ssr")]
pub async fn reviews(project: String) -> Result<Reviews, AppError> {
    let (caller, state) = guard::of::<GetReviews>()?;
    let project = caller.project(&project)?;
    let stale_days = state.settings().review_stale_days();
    state.jobs.reviews(&project, stale_days, state.code_hosts.are_connected()).await
}

/// The pages of the files that the pull request of a job changes. Its state is checked in the background, if it is older than a minute: the page of
/// the job is open.
#[cfg(feature = "ssr")]
pub async fn opened(job: &Job) -> Result<PagesOfFiles, AppError> {
    let (caller, state) = guard::of::<crate::jobs::GetJob>()?;
    let project = caller.project(job.project.as_str())?;
    let files = job.pull_request.as_ref().map(|request| request.files.as_slice()).unwrap_or_default();
    if job.pull_request.is_some() {
        let (code_hosts, job) = (state.code_hosts.clone(), job.id.clone());
        tokio::spawn(async move {
            if let Err(error) = code_hosts.refresh(&job).await {
                tracing::warn!(%job, %error, "a pull request could not be checked");
            }
        });
    }
    state.jobs.pages_of_files(&project, files).await
}

/// Those of `paths` that open pull requests change; none without a connection to a code host.
#[cfg(feature = "ssr")]
pub async fn changed_pages(project: &str, paths: Vec<String>) -> Result<Vec<ChangedPage>, AppError> {
    let (caller, state) = guard::of::<GetReviews>()?;
    let project = caller.project(project)?;
    if !state.code_hosts.are_connected() {
        return Ok(Vec::new());
    }
    let paths = paths.iter().map(String::as_str).collect();
    state.jobs.changed_pages(&project, &paths).await
}
