//! Starting, tracking and finding jobs.

#![expect(clippy::too_many_arguments, reason = "they are the fields of a public endpoint")]

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use base::prompt::Prompt;
use model::draft::SavedDraft;
use model::error::AppError;
#[cfg(feature = "ssr")]
use model::headers::{REVISION_HEADER, UNREAD_HEADER};
#[cfg(feature = "ssr")]
use model::id::{IntentId, InvalidId, JobId, TemplateId, optional};
#[cfg(feature = "ssr")]
use model::job::ShownFollowUps;
use model::job::{BulkResult, Job, JobBadge, JobForm};
#[cfg(feature = "ssr")]
use model::job_list::FilteredJobs;
use model::job_list::{JobPage, JobsOverview, Notifications};
use model::job_query::JobQuery;
#[cfg(feature = "ssr")]
use model::page_path::Pages;
use model::similar::SimilarJob;
#[cfg(feature = "ssr")]
use model::time::Timestamp;
#[cfg(feature = "ssr")]
use service::jobs::drafts::TypedForm;
#[cfg(feature = "ssr")]
use service::jobs::find::{BADGES_MAX, job_ids};
#[cfg(feature = "ssr")]
use service::jobs::intent::{SimilarWarning, Submission};
#[cfg(feature = "ssr")]
use service::jobs::resolve::{DecidedPrompt, Decision, Outcome};
#[cfg(feature = "ssr")]
use service::jobs::submitted::Submitted;
#[cfg(feature = "ssr")]
use service::response_size::shortened;
#[cfg(feature = "ssr")]
use store::jobs::{
    drafts::{Draft, FormOf},
    intents::{NewIntent, Subject},
    list::PageJobs,
};
#[cfg(feature = "ssr")]
use web::auth::guard;
#[cfg(feature = "ssr")]
use web::request::forms;

/// The maximum number of jobs in the report of a page.
pub const JOBS_ABOUT_A_PAGE: usize = 50;

/// Starts a job. The same `intent` returns the first response again and sends nothing. `paths`: the documentation pages it is
/// about, separated by commas or line ends; those mentioned in the prompt are added. `template_id`: the template it came from.
/// `retry_of`: the id of the job that it runs again. `queue` (`on`): if the hourly budget is spent, the prompt is queued; with `first` (`on`), before
/// all others.
/// `similar` (`ask`): a prompt with nearly the same text as one in progress is refused with 409 `similar_job`, and a plain form is returned once if there
/// are any similar jobs. The same if a job was started from `draft`: the intent of the form that began the draft. `unfilled` (`ask`): a prompt
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
    first: Option<String>,
    similar: Option<String>,
    unfilled: Option<String>,
    anyway: Option<String>,
    form: Option<String>,
    base: Option<i64>,
    draft: Option<String>,
) -> Result<Job, AppError> {
    let (caller, state) = guard::of::<CreateJob>()?;
    let project = caller.project(&project)?;
    let of = form_of(None, form.as_deref())?;
    let text = Prompt::parse(&prompt, state.jobs.prompt_max());
    let (paths, template) = (paths.unwrap_or_default(), template_id.unwrap_or_default());
    let origin = draft.unwrap_or_default();
    let form = TypedForm::new(project, of, Draft { text: prompt, paths, template, intent, origin }, base);
    let asks = similar.as_deref() == Some("ask");
    let parsed = text.map_err(AppError::from).and_then(|text| {
        let pages = state.jobs.written_pages(&form.project, &form.draft.paths)?;
        new_job(&form, text, pages, retry_of.as_deref(), asks)
    });
    let parsed = parsed.map(|intent| Submission {
        intent,
        queue: is_on(queue.as_deref()),
        first: is_on(first.as_deref()),
        similar: match asks {
            false => SimilarWarning::None,
            true if forms::is_plain() => SimilarWarning::All,
            true => SimilarWarning::InProgress,
        },
        warns_if_unfilled: warns_if_unfilled(unfilled.as_deref(), anyway.as_deref()),
    });
    Ok(answer(state.jobs.submit_form(&caller, &form, parsed).await?))
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
    let job: JobId = job.parse()?;
    let parsed = Prompt::parse(&prompt, state.jobs.prompt_max()).map_err(AppError::from).and_then(|text| {
        Ok(Submission {
            intent: NewIntent::follow_up(project.clone(), job.clone(), intent.parse()?, text),
            queue: is_on(queue.as_deref()),
            first: false,
            similar: SimilarWarning::None,
            warns_if_unfilled: warns_if_unfilled(unfilled.as_deref(), anyway.as_deref()),
        })
    });
    let draft = Draft { text: prompt, intent, ..Draft::default() };
    let form = TypedForm::new(project, FormOf::FollowUp(job), draft, base);
    Ok(answer(state.jobs.submit_form(&caller, &form, parsed).await?))
}

/// The job of a submitted prompt. A plain form leads to its page.
#[cfg(feature = "ssr")]
fn answer(Submitted { job, is_replay, .. }: Submitted) -> Job {
    if is_replay {
        forms::respond_as_replay();
    }
    leptos_axum::redirect(&format!("/p/{}/jobs/{}", job.project, job.id));
    shortened::changed_job(job)
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
    let outcome = Outcome::parse(&outcome, message, remote_id.as_deref())?;
    let prompt = DecidedPrompt::At(message);
    let decision = Decision { project, job: job.parse()?, prompt, attempt, outcome };
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
    let note = note.filter(|note| !note.trim().is_empty());
    let note = note.map(|note| Prompt::parse(&note, state.jobs.prompt_max())).transpose()?;
    let job = state.jobs.import(&caller, &project, &remote_id.trim().parse()?, note).await?;
    leptos_axum::redirect(&format!("/p/{}/jobs/{}", job.project, job.id));
    Ok(shortened::changed_job(job))
}

/// One job with its last follow-ups and its timeline. `before`: the follow-ups before this number instead, for the `earlier_follow_ups` of a response
/// (the number after them).
#[server(prefix = "/api", endpoint = "jobs/get")]
pub async fn get_job(project: String, job: String, before: Option<u32>) -> Result<Job, AppError> {
    let (caller, state) = guard::of::<GetJob>()?;
    let (project, job) = (caller.project(&project)?, job.parse()?);
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
    state.jobs.get_shown(&project, &job.parse()?, shown).await
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

/// The same for the list's page, with the values to filter by.
#[cfg(feature = "ssr")]
pub async fn filtered_jobs(
    project: &str,
    query: JobQuery,
    cursor: Option<String>,
    page: Option<String>,
) -> Result<FilteredJobs, AppError> {
    let (caller, state) = guard::of::<ListJobs>()?;
    let project = caller.project(project)?;
    let permit = caller.query_permit().await?;
    let archived = JobQuery { archived: "yes".to_owned(), ..query.clone() };
    let is_search = !query.q.is_empty() && query.archived.is_empty();
    let page = state.jobs.list(&permit, &project, query, cursor, page).await?;
    let facets = state.jobs.facets(&permit, &project, page.revision).await?;
    let archived_matches = match is_search && facets.archived > 0 {
        true => state.jobs.count(&permit, &project, archived).await?,
        false => 0,
    };
    Ok(FilteredJobs { page, facets, archived_matches })
}

/// The newest jobs about a page, archived ones too, at most [`JOBS_ABOUT_A_PAGE`], and the number of all. For the page's report.
#[cfg(feature = "ssr")]
pub async fn jobs_about_page(project: &str, path: &str) -> Result<(Vec<Job>, u64), AppError> {
    let (caller, state) = guard::of::<ListJobs>()?;
    let project = caller.project(project)?;
    let permit = caller.query_permit().await?;
    let most = PageJobs::new(JOBS_ABOUT_A_PAGE).unwrap_or_default();
    state.jobs.about_page(&permit, &project, path, most).await
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
    let job = state.jobs.check(&caller, &project, &job.parse()?).await?;
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
    let of = form_of(job.as_deref(), form.as_deref())?;
    let form = state.jobs.form(&caller, &project, &of).await?;
    Ok(shortened::job_form(form))
}

/// Saves the caller's draft for a form, replacing the previous one; an empty `text` deletes it. With the form's `intent`,
/// nothing is saved if that intent was sent. `base`: when the version that the form shows was saved, in milliseconds since
/// 1970; 0 for none. With it, a version that another form saved since is returned as `changed` and not replaced. `before` is an
/// earlier intent of this form, `draft` that of the form that began the draft.
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
    draft: Option<String>,
) -> Result<SavedDraft, AppError> {
    let (caller, state) = guard::of::<SaveDraft>()?;
    let project = caller.project(&project)?;
    let of = form_of(job.as_deref(), form.as_deref())?;
    let (by, before) = (optional(intent.as_deref())?, optional(before.as_deref())?);
    let origin: Option<IntentId> = optional(draft.as_deref())?;
    let template: Option<TemplateId> = optional(template_id.as_deref())?;
    let (paths, template) = (paths.unwrap_or_default(), template.map(String::from).unwrap_or_default());
    let origin = origin.map(String::from).unwrap_or_default();
    let draft = Draft { text, paths, template, intent: intent.unwrap_or_default(), origin };
    let form = TypedForm::new(project, of, draft, base);
    state.jobs.save_draft(&caller, &form, by.as_ref(), before.as_ref()).await
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
            let pages = jobs.typed_so_far(&project, &paths.unwrap_or_default());
            jobs.similar(&permit, &project, &prompt.unwrap_or_default(), pages).await
        }
    }
}

/// The prompt of a form for a new job. `retry_of` may be empty. `is_of_draft`: whether it is the only one of the form's draft.
#[cfg(feature = "ssr")]
fn new_job(
    form: &TypedForm,
    prompt: Prompt,
    pages: Pages,
    retry_of: Option<&str>,
    is_of_draft: bool,
) -> Result<NewIntent, AppError> {
    let Draft { intent, template, origin, .. } = &form.draft;
    let new = NewIntent::new_job(form.project.clone(), intent.parse()?, prompt);
    let (template, retry_of) = (optional(Some(template))?, optional(retry_of)?);
    let subject = Subject::NewJob { template, retry_of, tags: Vec::new() };
    let draft = if is_of_draft { optional(Some(origin))? } else { None };
    Ok(NewIntent { pages, subject, draft, ..new })
}

/// What a form is for: the job to follow up, or else a new job, with the key of a prefilled form. Both may be empty.
#[cfg(feature = "ssr")]
fn form_of(job: Option<&str>, key: Option<&str>) -> Result<FormOf, InvalidId> {
    match optional(job)? {
        Some(job) => Ok(FormOf::FollowUp(job)),
        None => Ok(FormOf::NewJob(optional(key)?)),
    }
}

/// Whether the form requests a warning about unfilled placeholders, and the person has not chosen to send it anyway.
#[cfg(feature = "ssr")]
fn warns_if_unfilled(unfilled: Option<&str>, anyway: Option<&str>) -> bool {
    unfilled == Some("ask") && anyway != Some("on")
}

/// Whether a checkbox is on.
#[cfg(feature = "ssr")]
fn is_on(checkbox: Option<&str>) -> bool {
    matches!(checkbox, Some("on" | "true"))
}
