//! Starting, following and finding jobs.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::job::{DraftKept, Job, JobBadge, JobForm, JobPage, JobsOverview};
use crate::model::job_query::JobQuery;
use crate::model::similar::SimilarJob;
#[cfg(feature = "ssr")]
use crate::server::{
    auth::guard,
    forms,
    jobs::{drafts::DraftForm, intent::Form, resolve::Decision},
};

/// Starts a job. The same `intent` again gives the first answer again and sends nothing.
/// `paths`: the documentation pages it is about, separated by commas or line ends; those named in the prompt are added.
/// `template_id`: the template the text came from. `queue` (`on`): where the hour's budget has no room, it waits in the queue
/// and is sent by itself. `similar` (`ask`): a plain form comes back once, with nothing sent, if jobs resemble it.
#[server(prefix = "/api", endpoint = "jobs/create")]
pub async fn create_job(
    project: String,
    prompt: String,
    intent: String,
    paths: Option<String>,
    template_id: Option<String>,
    queue: Option<String>,
    similar: Option<String>,
) -> Result<Job, AppError> {
    let caller = guard::of::<CreateJob>()?;
    let project = caller.project(&project)?;
    let form = Form::new_job(&caller, project, prompt, intent, paths, template_id)
        .queued(queue.as_deref())
        .asking(similar.as_deref(), forms::is_plain());
    let job = caller.state.jobs.submit(form).await?;
    leptos_axum::redirect(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(job)
}

/// Sends a further prompt to a job, after those before it. The same `intent` again gives the first answer again and sends
/// nothing. `queue` as for a new job.
#[server(prefix = "/api", endpoint = "jobs/message")]
pub async fn send_follow_up(
    project: String,
    job: String,
    prompt: String,
    intent: String,
    queue: Option<String>,
) -> Result<Job, AppError> {
    let caller = guard::of::<SendFollowUp>()?;
    let project = caller.project(&project)?;
    let form = Form::follow_up(&caller, project, job, prompt, intent).queued(queue.as_deref());
    let job = caller.state.jobs.submit(form).await?;
    leptos_axum::redirect(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(job)
}

/// Decides what became of a delivery whose outcome is not known: `outcome` is `not_started` (it is sent again) or `started`
/// (with the upstream's id, for a first prompt). `message` is its position in the job, `attempt` as the job said it:
/// each decision counts once.
#[server(name = ResolveDelivery, prefix = "/api", endpoint = "jobs/resolve")]
pub async fn resolve_delivery(
    project: String,
    job: String,
    message: i64,
    attempt: i64,
    outcome: String,
    remote_id: Option<String>,
) -> Result<Job, AppError> {
    let caller = guard::of::<ResolveDelivery>()?;
    let project = caller.project(&project)?;
    let decision = Decision { project, job, message, attempt, outcome, remote_id };
    let job = caller.state.jobs.resolve(&caller, decision).await?;
    forms::redirect_to(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(job)
}

/// Follows a job that was started elsewhere, by the upstream's id. `note` stands in place of its prompt.
#[server(prefix = "/api", endpoint = "jobs/adopt")]
pub async fn import_job(project: String, remote_id: String, note: Option<String>) -> Result<Job, AppError> {
    let caller = guard::of::<ImportJob>()?;
    let project = caller.project(&project)?;
    let job = caller.state.jobs.import(&caller, &project, &remote_id, note.as_deref()).await?;
    leptos_axum::redirect(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(job)
}

/// One job with its follow-ups and history.
#[server(prefix = "/api", endpoint = "jobs/get")]
pub async fn get_job(project: String, job: String) -> Result<Job, AppError> {
    let caller = guard::of::<GetJob>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.get(&project, &job).await
}

/// A page of jobs with those filters, at `cursor`, which an earlier page gave, or the one with the number `page`.
#[server(prefix = "/api", endpoint = "jobs/list")]
pub async fn list_jobs(
    project: String,
    #[server(flatten)] query: JobQuery,
    cursor: Option<String>,
    page: Option<String>,
) -> Result<JobPage, AppError> {
    let caller = guard::of::<ListJobs>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.list(&project, query, cursor, page).await
}

/// What runs, what needs a person and what finished last, with counts.
#[server(name = GetJobsOverview, prefix = "/api", endpoint = "jobs/overview")]
pub async fn jobs_overview(project: String) -> Result<JobsOverview, AppError> {
    let caller = guard::of::<GetJobsOverview>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.overview(&project).await
}

/// The badges of many jobs (at most 200 ids, comma-separated) in one call; unknown ids are left out.
#[server(prefix = "/api", endpoint = "jobs/statuses")]
pub async fn job_statuses(project: String, jobs: String) -> Result<Vec<JobBadge>, AppError> {
    let caller = guard::of::<JobStatuses>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.badges(&project, &jobs).await
}

/// Polls a job that is not tracked any more, at most once per poll interval; one that moves is tracked again.
#[server(prefix = "/api", endpoint = "jobs/check")]
pub async fn check_job(project: String, job: String) -> Result<Job, AppError> {
    let caller = guard::of::<CheckJob>()?;
    let project = caller.project(&project)?;
    let job = caller.state.jobs.check(&project, &job).await?;
    forms::redirect_to(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(job)
}

/// What a form to start a job (or, with `job`, to send a follow-up) starts from: a fresh intent and a kept draft.
#[server(name = GetJobForm, prefix = "/api", endpoint = "jobs/form")]
pub async fn job_form(project: String, job: Option<String>) -> Result<JobForm, AppError> {
    let caller = guard::of::<GetJobForm>()?;
    let project = caller.project(&project)?;
    caller.state.jobs.form(&caller, &project, job.as_deref()).await
}

/// Keeps what the caller is writing for a form, in place of what was kept; an empty `text` ends the draft. With the form's
/// `intent`, nothing is kept once that was sent.
#[server(prefix = "/api", endpoint = "jobs/draft")]
pub async fn keep_draft(
    project: String,
    job: Option<String>,
    text: String,
    paths: Option<String>,
    template_id: Option<String>,
    intent: Option<String>,
) -> Result<DraftKept, AppError> {
    let caller = guard::of::<KeepDraft>()?;
    let project = caller.project(&project)?;
    let draft_form = DraftForm { job, text, paths, template: template_id, intent };
    caller.state.jobs.save_draft(&caller, &project, draft_form).await
}

/// At most five jobs that are under way or have an open result, and resemble `prompt` about `paths`; without either,
/// what the caller was writing when it was last kept.
#[server(prefix = "/api", endpoint = "jobs/similar")]
pub async fn similar_jobs(
    project: String,
    prompt: Option<String>,
    paths: Option<String>,
) -> Result<Vec<SimilarJob>, AppError> {
    let caller = guard::of::<SimilarJobs>()?;
    let project = caller.project(&project)?;
    let jobs = &caller.state.jobs;
    match (prompt, paths) {
        (None, None) => jobs.similar_to_draft(&caller, &project).await,
        (prompt, paths) => {
            jobs.similar(&project, &prompt.unwrap_or_default(), &paths.unwrap_or_default()).await
        }
    }
}
