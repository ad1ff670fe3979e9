//! Starting, tracking and finding jobs.

#![expect(clippy::too_many_arguments, reason = "they are the fields of a public endpoint")]

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::server::auth::guard;
#[cfg(feature = "ssr")]
use crate::server::request::forms;
use model::draft::SavedDraft;
use model::error::AppError;
#[cfg(feature = "ssr")]
use model::headers::{REVISION_HEADER, UNREAD_HEADER};
#[cfg(feature = "ssr")]
use model::job::ShownFollowUps;
use model::job::{BulkResult, Job, JobBadge, JobForm, JobPage, JobsOverview, Notifications};
use model::job_query::JobQuery;
use model::similar::SimilarJob;
#[cfg(feature = "ssr")]
use model::time::Timestamp;
#[cfg(feature = "ssr")]
use service::jobs::drafts::DraftForm;
#[cfg(feature = "ssr")]
use service::jobs::find::{BADGES_MAX, job_ids};
#[cfg(feature = "ssr")]
use service::jobs::intent::Form;
#[cfg(feature = "ssr")]
use service::jobs::resolve::Decision;
#[cfg(feature = "ssr")]
use service::response_size::shortened;

/// Starts a job. The same `intent` returns the first response again and sends nothing. `paths`: the documentation pages it is
/// about, separated by commas or line ends; those mentioned in the prompt are added. `template_id`: the template it came from.
/// `retry_of`: the id of the job that it runs again. `queue` (`on`): if the hourly budget is spent, the prompt is queued.
/// `similar` (`ask`): if there are similar jobs, a plain form is returned once, with nothing sent. `unfilled` (`ask`): a prompt
/// with an unfilled `{{…}}` is refused with 409 `unfilled_placeholder`, unless `anyway` is `on`. Without the field it is sent
/// unchanged. `form` and `base` identify the draft, as for [`save_draft`]: it is removed, unless another form saved it since.
#[server(prefix = "/api", endpoint = "jobs/create")]
pub async fn create_job(
    project: String,
    prompt: String,
    intent: String,
    paths: Option<String>,
    template_id: Option<String>,
    retry_of: Option<String>,
    queue: Option<String>,
    similar: Option<String>,
    unfilled: Option<String>,
    anyway: Option<String>,
    form: Option<String>,
    base: Option<i64>,
) -> Result<Job, AppError> {
    let (caller, state) = guard::of::<CreateJob>()?;
    let project = caller.project(&project)?;
    let form = Form::new_job(&caller, project, prompt, intent, paths, template_id)
        .with_draft(form.as_deref(), base)?
        .retrying(retry_of)
        .queued(queue.as_deref())
        .with_similarity_warning(similar.as_deref(), forms::is_plain())
        .with_placeholder_warning(unfilled.as_deref(), anyway.as_deref());
    let job = state.jobs.submit(form).await?;
    leptos_axum::redirect(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(shortened::changed_job(job))
}

/// Sends a follow-up to a job, after earlier ones. The same `intent` returns the first response again and sends nothing.
/// `queue`, `unfilled`, `anyway` and `base` as for a new job.
#[server(prefix = "/api", endpoint = "jobs/message")]
pub async fn send_follow_up(
    project: String,
    job: String,
    prompt: String,
    intent: String,
    queue: Option<String>,
    unfilled: Option<String>,
    anyway: Option<String>,
    base: Option<i64>,
) -> Result<Job, AppError> {
    let (caller, state) = guard::of::<SendFollowUp>()?;
    let project = caller.project(&project)?;
    let form = Form::follow_up(&caller, project, job, prompt, intent)
        .with_draft(None, base)?
        .queued(queue.as_deref())
        .with_placeholder_warning(unfilled.as_deref(), anyway.as_deref());
    let job = state.jobs.submit(form).await?;
    leptos_axum::redirect(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(shortened::changed_job(job))
}

/// Resolves a delivery with an unknown outcome: `outcome` is `not_started` (it is sent again) or `started` (with the
/// upstream's id, for a first prompt). `message` is its position in the job, `attempt` is from the job: each decision
/// counts once.
#[server(name = ResolveDelivery, prefix = "/api", endpoint = "jobs/resolve")]
pub async fn resolve_delivery(
    project: String,
    job: String,
    message: i64,
    attempt: i64,
    outcome: String,
    remote_id: Option<String>,
) -> Result<Job, AppError> {
    let (caller, state) = guard::of::<ResolveDelivery>()?;
    let project = caller.project(&project)?;
    let decision = Decision { project, job, message, attempt, outcome, remote_id };
    let job = state.jobs.resolve(&caller, decision).await?;
    forms::redirect_to(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(shortened::changed_job(job))
}

/// Sends all jobs of the project again whose outcome was unknown at `as_of` (Unix time in milliseconds), at most 250 at once. They join the queue.
/// Returns these jobs.
#[server(prefix = "/api", endpoint = "jobs/send-all-again")]
pub async fn send_all_again(project: String, as_of: i64) -> Result<BulkResult, AppError> {
    let (caller, state) = guard::of::<SendAllAgain>()?;
    let project = caller.project(&project)?;
    state.jobs.send_all_again(&caller, &project, Timestamp::from_millis(as_of)).await
}

/// Imports and tracks a job that was started elsewhere, by the upstream's id. `note` replaces its prompt.
#[server(prefix = "/api", endpoint = "jobs/import")]
pub async fn import_job(project: String, remote_id: String, note: Option<String>) -> Result<Job, AppError> {
    let (caller, state) = guard::of::<ImportJob>()?;
    let project = caller.project(&project)?;
    let job = state.jobs.import(&caller, &project, &remote_id, note.as_deref()).await?;
    leptos_axum::redirect(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(shortened::changed_job(job))
}

/// One job with its last follow-ups and its timeline. `before`: the follow-ups before this number instead, for the `earlier_follow_ups` of a response
/// (the number after them).
#[server(prefix = "/api", endpoint = "jobs/get")]
pub async fn get_job(project: String, job: String, before: Option<u32>) -> Result<Job, AppError> {
    let (caller, state) = guard::of::<GetJob>()?;
    let project = caller.project(&project)?;
    match before {
        Some(before) => state.jobs.get_before(&project, &job, before).await,
        None => state.jobs.get(&project, &job).await,
    }
}

/// As [`get_job`], for the job's page: the texts of follow-ups that are not shown are empty.
#[cfg(feature = "ssr")]
pub async fn shown_job(project: String, job: &str, shown: ShownFollowUps) -> Result<Job, AppError> {
    let (caller, state) = guard::of::<GetJob>()?;
    let project = caller.project(&project)?;
    state.jobs.get_shown(&project, job, shown).await
}

/// A page of jobs that match the filters, at `cursor` from an earlier page, or with the number `page`.
#[server(prefix = "/api", endpoint = "jobs/list")]
pub async fn list_jobs(
    project: String,
    #[server(flatten)] query: JobQuery,
    cursor: Option<String>,
    page: Option<String>,
) -> Result<JobPage, AppError> {
    let (caller, state) = guard::of::<ListJobs>()?;
    let project = caller.project(&project)?;
    let permit = caller.query_permit().await?;
    state.jobs.list(&permit, &project, query, cursor, page).await
}

/// The caller's unread jobs, running jobs, jobs that need attention and recently finished ones, with counts.
#[server(name = GetJobsOverview, prefix = "/api", endpoint = "jobs/overview")]
pub async fn jobs_overview(project: String) -> Result<JobsOverview, AppError> {
    let (caller, state) = guard::of::<GetJobsOverview>()?;
    let project = caller.project(&project)?;
    let permit = caller.query_permit().await?;
    let connected = state.code_hosts.are_connected();
    state.jobs.overview(&permit, &project, caller.reader(), connected).await
}

/// The last 50 changed jobs that are not moving, of the caller or (`who=all`) of everyone, the caller's API tokens that expire
/// soon, and the time of the caller's last visit. Marks them as seen by the caller.
#[server(prefix = "/api", endpoint = "notifications/list")]
pub async fn list_notifications(project: String, who: Option<String>) -> Result<Notifications, AppError> {
    let (caller, state) = guard::of::<ListNotifications>()?;
    let project = caller.project(&project)?;
    let all = who.as_deref() == Some("all");
    let permit = caller.query_permit().await?;
    state.jobs.notifications(&permit, &caller, &project, all).await
}

/// Marks all notifications of the caller's jobs, or (`who=all`) of everyone's, as read.
#[server(prefix = "/api", endpoint = "notifications/read")]
pub async fn read_notifications(project: String, who: Option<String>) -> Result<(), AppError> {
    let (caller, state) = guard::of::<ReadNotifications>()?;
    let project = caller.project(&project)?;
    state.jobs.mark_notifications_read(&caller, &project, who.as_deref() == Some("all")).await
}

/// The badges of many jobs (at most 200 ids, comma-separated), the last changed first; unknown ids, and badges beyond 1 MiB, are omitted. `seen` is the revision that an open
/// page shows. With it, [`REVISION_HEADER`] of the response is the project's current revision, and [`UNREAD_HEADER`] the number
/// at the caller's bell.
#[server(prefix = "/api", endpoint = "jobs/statuses")]
pub async fn job_statuses(
    project: String,
    #[server(default)] jobs: String,
    seen: Option<i64>,
) -> Result<Vec<JobBadge>, AppError> {
    let (caller, state) = guard::of::<JobStatuses>()?;
    let project = caller.project(&project)?;
    // Read before the badges, so that the next call finds changes made in between.
    if seen.is_some() {
        let now = state.clock.now();
        let (revision, unread) = state.store.revision(&project, &caller.reader(), now).await?;
        forms::respond_with_header(REVISION_HEADER, revision);
        forms::respond_with_header(UNREAD_HEADER, unread.total().into());
    }
    let badges = state.store.badges(&project, &job_ids(&jobs, BADGES_MAX)?).await?;
    Ok(shortened::badges(badges))
}

/// Polls a job that is no longer tracked, at most once per poll interval; tracks it again if it is moving.
#[server(prefix = "/api", endpoint = "jobs/check")]
pub async fn check_job(project: String, job: String) -> Result<Job, AppError> {
    let (caller, state) = guard::of::<CheckJob>()?;
    let project = caller.project(&project)?;
    let job = state.jobs.check(&caller, &project, &job).await?;
    forms::redirect_to(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(shortened::changed_job(job))
}

/// The initial values of the form for a new job (or, with `job`, for a follow-up): a new intent and the draft. `form`: the key
/// of a prefilled form, which has its own draft.
#[server(name = GetJobForm, prefix = "/api", endpoint = "jobs/form")]
pub async fn job_form(
    project: String,
    job: Option<String>,
    form: Option<String>,
) -> Result<JobForm, AppError> {
    let (caller, state) = guard::of::<GetJobForm>()?;
    let project = caller.project(&project)?;
    let form = state.jobs.form(&caller, &project, job.as_deref(), form.as_deref()).await?;
    Ok(shortened::job_form(form))
}

/// Saves the caller's draft for a form, replacing the previous one; an empty `text` deletes it. With the form's `intent`,
/// nothing is saved if that intent was sent. `base`: when the version that the form shows was saved, in milliseconds since
/// 1970; 0 for none. With it, a version that another form saved since is returned as `changed` and not replaced. `before` is an
/// earlier intent of this form.
#[server(prefix = "/api", endpoint = "jobs/draft")]
pub async fn save_draft(
    project: String,
    job: Option<String>,
    form: Option<String>,
    text: String,
    paths: Option<String>,
    template_id: Option<String>,
    intent: Option<String>,
    base: Option<i64>,
    before: Option<String>,
) -> Result<SavedDraft, AppError> {
    let (caller, state) = guard::of::<SaveDraft>()?;
    let project = caller.project(&project)?;
    let draft_form = DraftForm { job, form, text, paths, template: template_id, intent, base, before };
    state.jobs.save_draft(&caller, &project, draft_form).await
}

/// At most five jobs similar to `prompt` or about `paths`; without both, similar to the caller's draft.
#[server(prefix = "/api", endpoint = "jobs/similar")]
pub async fn similar_jobs(
    project: String,
    prompt: Option<String>,
    paths: Option<String>,
) -> Result<Vec<SimilarJob>, AppError> {
    let (caller, state) = guard::of::<SimilarJobs>()?;
    let project = caller.project(&project)?;
    let (jobs, permit) = (&state.jobs, caller.query_permit().await?);
    match (prompt, paths) {
        (None, None) => jobs.similar_to_draft(&permit, &caller, &project).await,
        (prompt, paths) => {
            jobs.similar(&permit, &project, &prompt.unwrap_or_default(), &paths.unwrap_or_default()).await
        }
    }
}
