//! The pages that jobs are about. `jobs` are ids as for tags; ids that are not in the project are ignored.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use base::nfc::nfc;
use model::error::AppError;
use model::job::BulkResult;
#[cfg(feature = "ssr")]
use model::page_path::PageChange;
#[cfg(feature = "ssr")]
use web::auth::guard;

/// The pages of the project that `prompt` mentions, at most 50: its daily history has them.
#[server(prefix = "/api", endpoint = "jobs/mentioned-pages")]
pub async fn mentioned_pages(project: String, prompt: String) -> Result<Vec<String>, AppError> {
    let (caller, state) = guard::of::<MentionedPages>()?;
    let project = caller.project(&project)?;
    Ok(state.jobs.mentioned_pages(&project, &prompt).await?.into())
}

/// Those of `paths`, separated by commas or line ends, that are no page of the project's daily history: they may be misspelled. None without a history.
#[server(prefix = "/api", endpoint = "jobs/unknown-pages")]
pub async fn unknown_pages(
    project: String,
    #[server(default)] paths: String,
) -> Result<Vec<String>, AppError> {
    let (caller, state) = guard::of::<UnknownPages>()?;
    let project = caller.project(&project)?;
    let written = state.jobs.typed_so_far(&project, &paths);
    Ok(state.jobs.unknown_pages(&project, &written).await?)
}

/// At most ten pages of the project whose path contains `q`, ignoring the case of ASCII letters: those that begin with it first, then the
/// shortest.
#[server(prefix = "/api", endpoint = "jobs/suggest-pages")]
pub async fn suggest_pages(project: String, #[server(default)] q: String) -> Result<Vec<String>, AppError> {
    let (caller, state) = guard::of::<SuggestPages>()?;
    let project = caller.project(&project)?;
    let permit = caller.query_permit().await?;
    state.jobs.suggest_pages(&permit, &project, &q).await
}

/// Adds a page to jobs. Returns the jobs that changed.
#[server(prefix = "/api", endpoint = "jobs/add-page")]
pub async fn add_page(project: String, jobs: String, path: String) -> Result<BulkResult, AppError> {
    let (caller, state) = guard::of::<AddPage>()?;
    let project = caller.project(&project)?;
    let path = state.jobs.written_page(&project, &path)?;
    let path = path.ok_or_else(|| AppError::bad_input("The page is empty. Write its path."))?;
    state.jobs.change_page(PageChange::Add, &caller, &project, &jobs.parse()?, &path).await
}

/// Removes a page from jobs. Returns the jobs that changed.
#[server(prefix = "/api", endpoint = "jobs/remove-page")]
pub async fn remove_page(project: String, jobs: String, path: String) -> Result<BulkResult, AppError> {
    let (caller, state) = guard::of::<RemovePage>()?;
    let project = caller.project(&project)?;
    state.jobs.change_page(PageChange::Remove, &caller, &project, &jobs.parse()?, &nfc(&path)).await
}
