//! Starting, following and finding jobs.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::job::{Job, JobBadge, JobForm, JobPage};
use crate::model::job_query::JobQuery;
#[cfg(feature = "ssr")]
use crate::server::{auth::guard, jobs::intent::Form};

/// Starts a job. The same `intent` again gives the first answer again and sends nothing.
/// `paths`: the documentation pages it is about, separated by commas or line ends.
#[server(prefix = "/api", endpoint = "jobs/create")]
pub async fn create_job(
    project: String,
    prompt: String,
    intent: String,
    paths: Option<String>,
) -> Result<Job, AppError> {
    let caller = guard::operator()?;
    let project = caller.project(&project)?;
    let form = Form::new_job(&caller, project, prompt, intent, paths);
    let job = caller.panel.jobs.submit(form).await?;
    leptos_axum::redirect(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(job)
}

/// Sends a further prompt to a job. The same `intent` again gives the first answer again and sends nothing.
#[server(prefix = "/api", endpoint = "jobs/message")]
pub async fn send_follow_up(
    project: String,
    job: String,
    prompt: String,
    intent: String,
) -> Result<Job, AppError> {
    let caller = guard::operator()?;
    let project = caller.project(&project)?;
    let form = Form::follow_up(&caller, project, job, prompt, intent);
    let job = caller.panel.jobs.submit(form).await?;
    leptos_axum::redirect(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(job)
}

/// One job with its follow-ups and history.
#[server(prefix = "/api", endpoint = "jobs/get")]
pub async fn get_job(project: String, job: String) -> Result<Job, AppError> {
    let caller = guard::viewer()?;
    let project = caller.project(&project)?;
    caller.panel.jobs.get(&project, &job).await
}

/// A page of jobs with those filters, at `cursor`, which an earlier page gave, or the one with the number `page`.
#[server(prefix = "/api", endpoint = "jobs/list")]
pub async fn list_jobs(
    project: String,
    #[server(flatten)] query: JobQuery,
    cursor: Option<String>,
    page: Option<String>,
) -> Result<JobPage, AppError> {
    let caller = guard::viewer()?;
    let project = caller.project(&project)?;
    caller.panel.jobs.list(&project, query, cursor, page).await
}

/// The badges of many jobs (at most 200 ids, comma-separated) in one call; unknown ids are left out.
#[server(prefix = "/api", endpoint = "jobs/statuses")]
pub async fn job_statuses(project: String, jobs: String) -> Result<Vec<JobBadge>, AppError> {
    let caller = guard::viewer()?;
    let project = caller.project(&project)?;
    caller.panel.jobs.badges(&project, &jobs).await
}

/// What a form to start a job (or, with `job`, to send a follow-up) starts from: a fresh intent and a kept draft.
#[server(name = GetJobForm, prefix = "/api", endpoint = "jobs/form")]
pub async fn job_form(project: String, job: Option<String>) -> Result<JobForm, AppError> {
    let caller = guard::viewer()?;
    let project = caller.project(&project)?;
    caller.panel.jobs.form(&caller, &project, job.as_deref()).await
}
