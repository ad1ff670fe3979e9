//! The endpoints of jobs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Path;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::changed_job::{ChangedJob, FollowedUpJob, SentFollowUp, SentJob};
use super::errors::{ChangeErrors, PromptErrors, ReadErrors};
use super::input::{Body, Fields, IdempotencyKey};
use super::job_body::{FollowUpBody, JobBody};
use super::long_list::{LongBody, loaded};
use crate::auth::bearer::TokenCaller;
use crate::request::problem::Problem;
use base::nfc::nfc;
use base::prompt::Prompt;
use base::query_permits::QueryPermit;
use model::api_token::Scope;
use model::error::AppError;
use model::id::{JobId, ProjectId, TemplateId};
use model::job::{DeliveryState, Job, JobState, TimelineMark};
use model::job_query::JobQuery;
use model::tag::Tag;
use model::time::Timestamp;
use service::jobs::Jobs;
use service::jobs::find::{FoundJobs, JobsWanted};
use service::jobs::intent::Submission;
use service::jobs::replay::{ScriptRequest, ScriptTemplate};
use service::jobs::waiting::WAIT_MAX;
use service::response_size::{FREE_MAX_BYTES, Room, json_bytes};
use store::jobs::archive_and_tags::TAGS_MAX;
use store::jobs::intents::{NewIntent, Subject};
use store::jobs::list::PageJobs;

const TAG: &str = "Jobs";

/// The path of a job.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OfJob {
    project: String,
    #[param(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    job: String,
}

/// The filters of the list.
#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListJobs {
    /// A state, or `no-changes`: completed without changes.
    pub(super) status: Option<String>,
    /// Words in prompts, follow-ups and names; `#256` finds a pull request.
    pub(super) q: Option<String>,
    /// The name of a person.
    pub(super) author: Option<String>,
    pub(super) tag: Option<String>,
    /// The path of a page, such as `/guides/auth`.
    pub(super) page: Option<String>,
    /// `yes`, `no`, `open`, `draft`, `merged`, `closed`, `waiting` or `conflict`.
    pub(super) pr: Option<String>,
    /// Only jobs created at this time or later, such as `2026-11-01T00:00:00Z`.
    pub(super) created_after: Option<Timestamp>,
    /// Only jobs created before this time.
    pub(super) created_before: Option<Timestamp>,
    /// 1 to 100 jobs.
    #[param(minimum = 1, maximum = 100, default = 50)]
    pub(super) limit: Option<usize>,
    /// `next_cursor` of the page before, with the same filters.
    pub(super) cursor: Option<String>,
}

/// A page of jobs, the newest first.
#[derive(Serialize, ToSchema)]
pub(super) struct JobsPage {
    jobs: Vec<JobBody>,
    /// `null` on the last page.
    next_cursor: Option<String>,
}

/// The fields of [`JobsPage`] beside the jobs.
#[derive(Serialize)]
struct NextPage {
    next_cursor: Option<String>,
}

/// A page of jobs that are not loaded yet.
struct Found {
    jobs: FoundJobs,
    permit: Arc<QueryPermit>,
}

/// How many jobs of a list are loaded at once.
const JOBS_AT_ONCE: usize = 10;

/// How many follow-ups are loaded at once. Each has a whole prompt.
const FOLLOW_UPS_AT_ONCE: u32 = 4;

/// A new job.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewJob {
    /// What the agent should do. Without it, the text of the template is the prompt.
    #[schema(min_length = 1)]
    pub(super) prompt: Option<String>,
    /// The paths of the pages it is about. Those mentioned in the prompt are added.
    #[serde(default)]
    pub(super) pages: Vec<String>,
    /// At most 50.
    #[serde(default)]
    #[schema(max_items = 50)]
    pub(super) tags: Vec<String>,
    pub(super) template: Option<TemplateOfJob>,
    /// Whether the prompt is queued if the hourly budget is spent.
    #[serde(default)]
    pub(super) queue: bool,
}

/// The template of a new job: its id or its name.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TemplateOfJob {
    id: Option<String>,
    name: Option<String>,
    /// The values of its placeholders, by name.
    #[serde(default)]
    values: BTreeMap<String, String>,
}

/// A follow-up.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewFollowUp {
    #[schema(min_length = 1)]
    pub(super) prompt: String,
    /// Whether the prompt is queued if the hourly budget is spent.
    #[serde(default)]
    pub(super) queue: bool,
}

/// How long to wait.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Wait {
    /// Respond when the job has ended, or after this time in seconds.
    #[param(minimum = 0, maximum = 60, default = 0)]
    wait: Option<u64>,
}

/// The jobs of a project, the newest first. Jobs archived in Docket are omitted.
#[utoipa::path(get, path = "/api/v1/projects/{project}/jobs", tag = TAG, params(("project" = String, Path), ListJobs),
    responses((status = OK, body = JobsPage, description = "A page of jobs."), ReadErrors))]
pub(super) async fn list_jobs(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
    Fields(wanted): Fields<ListJobs>,
) -> Result<Response, Problem> {
    let Found { jobs, permit } = found(&caller, &project, wanted).await?;
    let ids = jobs.ids();
    let next = NextPage { next_cursor: jobs.cursor_after(ids.len()) };
    let (service, under) = (caller.state().jobs.clone(), permit.clone());
    let ids: Vec<Vec<JobId>> = ids.chunks(JOBS_AT_ONCE).map(<[JobId]>::to_vec).collect();
    let items = stream::iter(ids).then(move |ids| {
        let (service, permit) = (service.clone(), permit.clone());
        async move {
            let jobs = service.listed(&permit, &ids).await?;
            Ok::<Vec<JobBody>, AppError>(jobs.into_iter().map(JobBody::from).collect())
        }
    });
    LongBody::object(&next, "jobs", items.boxed())?.under(under).respond(StatusCode::OK, &caller).await
}

/// Starts a job. With the same `Idempotency-Key`, the first response is sent again and nothing is started.
///
/// A repeated request changes nothing, such as tags, and its template may have been changed or deleted since. A key belongs to the owner of the
/// token and to the project: all tokens of a person share it, and another request with it is refused (422). A template and the
/// text that it is filled in to are different requests. Without the scope `jobs:read`, or if a long job cannot be sent
/// now, the response has only the id and the state.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs", tag = TAG,
    params(("project" = String, Path), IdempotencyKey),
    request_body = NewJob,
    responses((status = CREATED, body = inline(SentJob), description = "The prompt has an outcome: the state says whether the platform accepted it."),
        (status = ACCEPTED, body = inline(SentJob), description = "The prompt is queued, or is still being sent."),
        ReadErrors, PromptErrors))]
pub(super) async fn start_job(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
    IdempotencyKey(intent): IdempotencyKey,
    Body(new): Body<NewJob>,
) -> Result<Response, Problem> {
    let job = start(&caller, &project, intent, new).await?;
    let (status, location) = head(StatusCode::CREATED, &job);
    let response = respond_to_change(&caller, status, ChangedJob::from(&job), job).await;
    Ok((location, response).into_response())
}

/// A job. With `wait`, the response is sent when the job has ended, or after that time; earlier if the server restarts.
#[utoipa::path(get, path = "/api/v1/projects/{project}/jobs/{job}", tag = TAG,
    params(OfJob, Wait),
    responses((status = OK, body = JobBody, description = "The job."), ReadErrors))]
pub(super) async fn get_job(
    Extension(caller): Extension<TokenCaller>,
    Path(OfJob { project, job }): Path<OfJob>,
    Fields(Wait { wait }): Fields<Wait>,
) -> Result<Response, Problem> {
    respond(&caller, StatusCode::OK, get(&caller, &project, &job, wait).await?).await
}

/// Sends a follow-up to a job. With the same `Idempotency-Key`, the first response is sent again and nothing is sent.
///
/// A key belongs to the owner of the token and to the project, as for jobs. Without the scope `jobs:read`, or if a long job cannot be sent now, the
/// response has only the id and the states.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs/{job}/messages", tag = TAG,
    params(OfJob, IdempotencyKey),
    request_body = NewFollowUp,
    responses((status = CREATED, body = inline(SentFollowUp), description = "The prompt has an outcome: the state says whether the platform accepted it."),
        (status = ACCEPTED, body = inline(SentFollowUp), description = "The prompt is queued, or is still being sent."),
        ReadErrors, PromptErrors))]
pub(super) async fn send_follow_up(
    Extension(caller): Extension<TokenCaller>,
    Path(OfJob { project, job }): Path<OfJob>,
    IdempotencyKey(intent): IdempotencyKey,
    Body(new): Body<NewFollowUp>,
) -> Result<Response, Problem> {
    let job = follow_up(&caller, &project, job, intent, new).await?;
    let is_pending = |state| matches!(state, DeliveryState::Queued | DeliveryState::Sending);
    let is_pending = job.follow_ups.iter().any(|follow_up| is_pending(follow_up.state));
    let (status, location) = head(if is_pending { StatusCode::ACCEPTED } else { StatusCode::CREATED }, &job);
    let response = respond_to_change(&caller, status, FollowedUpJob::from(&job), job).await;
    Ok((location, response).into_response())
}

/// Archives a job in Docket: lists omit it. The platform is not informed.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs/{job}/archive", tag = TAG,
    params(OfJob),
    responses((status = OK, body = ChangedJob, description = "The job is archived."), ReadErrors, ChangeErrors))]
pub(super) async fn archive_job(
    Extension(caller): Extension<TokenCaller>,
    Path(of): Path<OfJob>,
) -> Result<Json<ChangedJob>, Problem> {
    mark(&caller, of, TimelineMark::Archived).await
}

/// Restores a job that is archived in Docket.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs/{job}/restore", tag = TAG,
    params(OfJob),
    responses((status = OK, body = ChangedJob, description = "The job is not archived."), ReadErrors, ChangeErrors))]
pub(super) async fn restore_job(
    Extension(caller): Extension<TokenCaller>,
    Path(of): Path<OfJob>,
) -> Result<Json<ChangedJob>, Problem> {
    mark(&caller, of, TimelineMark::Restored).await
}

/// Cancels the queued prompts of a job. What was sent cannot be cancelled.
///
/// Without the scope `jobs:read`, or if a long job cannot be sent now, the response has only the id and the state.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs/{job}/cancel", tag = TAG,
    params(OfJob),
    responses((status = OK, body = inline(SentJob), description = "The job."), ReadErrors, ChangeErrors))]
pub(super) async fn cancel_job(
    Extension(caller): Extension<TokenCaller>,
    Path(OfJob { project, job }): Path<OfJob>,
) -> Result<Response, Problem> {
    caller.needs(Scope::JobsWrite)?;
    let project = caller.project(&project)?;
    let job = job.parse().map_err(AppError::from)?;
    let job = caller.state().jobs.cancel_job(caller.caller(), &project, &job).await?;
    Ok(respond_to_change(&caller, StatusCode::OK, ChangedJob::from(&job), job).await)
}

impl ListJobs {
    fn parse(self) -> Result<JobsWanted, Problem> {
        let text = |text: Option<String>| text.unwrap_or_default();
        let query = JobQuery {
            status: text(self.status),
            q: text(self.q),
            author: text(self.author),
            tag: text(self.tag),
            pr: text(self.pr),
            ..JobQuery::default()
        };
        let page_jobs = self.limit.map_or(Some(PageJobs::default()), PageJobs::new);
        let page_jobs = page_jobs.ok_or_else(|| AppError::bad_input("“limit” is 1 to 100."))?;
        Ok(JobsWanted {
            query,
            page: self.page,
            created_from: self.created_after,
            created_before: self.created_before,
            page_jobs,
            cursor: self.cursor,
        })
    }
}

/// Starts a job.
pub(super) async fn start(
    caller: &TokenCaller,
    project: &str,
    intent: String,
    new: NewJob,
) -> Result<Job, Problem> {
    caller.needs(Scope::JobsWrite)?;
    let project = caller.project(project)?;
    let (owner, jobs) = (caller.caller(), &caller.state().jobs);
    let template = new.template.as_ref().map(TemplateOfJob::as_sent);
    let request = ScriptRequest { project: &project, job: None, prompt: new.prompt.as_deref(), template };
    let intent = intent.parse().map_err(AppError::from)?;
    if let Some(job) = jobs.first_answer(&owner.user.id, &intent, &request).await? {
        return Ok(job);
    }
    let tags = tags(&new.tags)?;
    let (text, template) = match (new.prompt.clone(), &new.template) {
        (Some(prompt), None) => (prompt, None),
        (prompt, Some(template)) => {
            let id = template.find(jobs, &project).await?;
            (jobs.filled(&project, &id, prompt, &template.values).await?, Some(id))
        }
        (None, None) => return Err(AppError::bad_input("A job needs a “prompt” or a “template”.").into()),
    };
    let prompt = Prompt::parse(&text, jobs.prompt_max()).map_err(AppError::from)?;
    let pages = jobs.each_written_page(&project, &new.pages).map_err(AppError::from)?;
    let (subject, request_hash) = (Subject::NewJob { template, retry_of: None, tags }, Some(request.hash()));
    let intent = NewIntent { project: project.clone(), intent, prompt, pages, subject, request_hash };
    submit(caller, intent, new.queue).await
}

impl TemplateOfJob {
    fn as_sent(&self) -> ScriptTemplate<'_> {
        ScriptTemplate { id: self.id.as_deref(), name: self.name.as_deref(), values: &self.values }
    }

    /// Its id.
    async fn find(&self, jobs: &Jobs, project: &ProjectId) -> Result<TemplateId, AppError> {
        match (&self.id, &self.name) {
            (Some(id), None) => Ok(id.parse()?),
            (None, Some(name)) => jobs.template_named(project, name).await,
            _ => Err(AppError::bad_input("A “template” needs an “id” or a “name”, and not both.")),
        }
    }
}

/// The tags of a new job.
fn tags(texts: &[String]) -> Result<Vec<Tag>, AppError> {
    if texts.len() > TAGS_MAX as usize {
        return Err(AppError::bad_input(format!("A job can have at most {TAGS_MAX} tags.")));
    }
    texts.iter().map(|text| Ok(nfc(text).parse()?)).collect()
}

/// A page of jobs, which ends early if a further one does not fit into `room`.
pub(super) async fn find(
    caller: &TokenCaller,
    project: &str,
    wanted: ListJobs,
    room: &mut Room,
) -> Result<JobsPage, Problem> {
    let Found { jobs: found, permit } = found(caller, project, wanted).await?;
    let (ids, mut jobs, mut count) = (found.ids(), Vec::new(), 0);
    'page: for ids in ids.chunks(JOBS_AT_ONCE) {
        let listed = caller.state().jobs.listed(&permit, ids).await?;
        let mut listed = listed.into_iter().peekable();
        // A job that was removed meanwhile is skipped.
        for id in ids {
            if let Some(job) = listed.next_if(|job| job.id == *id) {
                let job = JobBody::from(job);
                if !room.takes(&job) && !jobs.is_empty() {
                    break 'page;
                }
                jobs.push(job);
            }
            count += 1;
        }
    }
    Ok(JobsPage { jobs, next_cursor: found.cursor_after(count) })
}

async fn found(caller: &TokenCaller, project: &str, wanted: ListJobs) -> Result<Found, Problem> {
    caller.needs(Scope::JobsRead)?;
    let project = caller.project(project)?;
    let wanted = wanted.parse()?;
    let permit = caller.caller().query_permit().await?;
    let jobs = caller.state().jobs.find(&permit, &project, wanted).await?;
    Ok(Found { jobs, permit: Arc::new(permit) })
}

/// A job, at its end or after `wait` seconds.
pub(super) async fn get(
    caller: &TokenCaller,
    project: &str,
    job: &str,
    wait: Option<u64>,
) -> Result<Job, Problem> {
    caller.needs(Scope::JobsRead)?;
    let project = caller.project(project)?;
    let wait = Duration::from_secs(wait.unwrap_or_default());
    if wait > WAIT_MAX {
        return Err(AppError::bad_input("“wait” is at most 60 seconds.").into());
    }
    let (owner, job) = (caller.caller(), job.parse().map_err(AppError::from)?);
    Ok(caller.state().jobs.get_after_end(&project, &job, &owner.user.id, wait).await?)
}

/// Sends a follow-up.
pub(super) async fn follow_up(
    caller: &TokenCaller,
    project: &str,
    job: String,
    intent: String,
    new: NewFollowUp,
) -> Result<Job, Problem> {
    caller.needs(Scope::JobsWrite)?;
    let project = caller.project(project)?;
    let (owner, prompt) = (caller.caller(), Some(new.prompt.as_str()));
    let request = ScriptRequest { project: &project, job: Some(&job), prompt, template: None };
    let (jobs, intent) = (&caller.state().jobs, intent.parse().map_err(AppError::from)?);
    if let Some(job) = jobs.first_answer(&owner.user.id, &intent, &request).await? {
        return Ok(job);
    }
    let request_hash = Some(request.hash());
    let prompt = Prompt::parse(&new.prompt, jobs.prompt_max()).map_err(AppError::from)?;
    let job = job.parse().map_err(AppError::from)?;
    let intent = NewIntent::follow_up(project.clone(), job, intent, prompt);
    submit(caller, NewIntent { request_hash, ..intent }, new.queue).await
}

/// Submits a prompt.
async fn submit(caller: &TokenCaller, intent: NewIntent, queue: bool) -> Result<Job, Problem> {
    let submission = Submission { intent, queue, warns_if_similar: false, warns_if_unfilled: false };
    Ok(caller.state().jobs.submit(caller.caller(), submission).await?)
}

/// Archives or restores a job. Does nothing if it is done already.
async fn mark(
    caller: &TokenCaller,
    OfJob { project, job }: OfJob,
    mark: TimelineMark,
) -> Result<Json<ChangedJob>, Problem> {
    caller.needs(Scope::JobsWrite)?;
    let project: ProjectId = caller.project(&project)?;
    let (jobs, job): (_, JobId) = (&caller.state().jobs, job.parse().map_err(AppError::from)?);
    // A job of another project is missing.
    jobs.get(&project, &job).await?;
    jobs.mark(mark, caller.caller(), &project, job.clone().into()).await?;
    Ok(Json((&jobs.get(&project, &job).await?).into()))
}

/// The status and the location of a response with a job whose prompt was submitted.
fn head(status: StatusCode, job: &Job) -> (StatusCode, [(HeaderName, String); 1]) {
    let is_pending = matches!(job.state, JobState::Queued | JobState::Sending);
    let status = if is_pending { StatusCode::ACCEPTED } else { status };
    let location = format!("/api/v1/projects/{}/jobs/{}", job.project, job.id);
    (status, [(header::LOCATION, location)])
}

/// The response to a change of a job: the job, or `short` without the scope `jobs:read`. The change took effect, so that an error would be wrong: if
/// the job cannot be sent, because slow readers use the permits of its person, the response is `short` too.
async fn respond_to_change(
    caller: &TokenCaller,
    status: StatusCode,
    short: impl Serialize,
    job: Job,
) -> Response {
    if caller.may(Scope::JobsRead) {
        let id = job.id.clone();
        match respond(caller, status, job).await {
            Ok(response) => return response,
            Err(problem) => tracing::info!(%id, detail = problem.detail(), "a changed job is not sent"),
        }
    }
    (status, Json(short)).into_response()
}

/// The response with a job and all its follow-ups.
async fn respond(caller: &TokenCaller, status: StatusCode, job: Job) -> Result<Response, Problem> {
    let (id, mut earlier) = (job.id.clone(), job.earlier_follow_ups);
    let mut body = JobBody::from(job);
    let mut last = body.take_follow_ups();
    // Long ones are not held while the response waits for its permit: they are loaded again when they are sent.
    if json_bytes(&last) > FREE_MAX_BYTES {
        earlier += last.len() as u32;
        last.clear();
    }
    let service = caller.state().jobs.clone();
    // The numbers before which a part ends.
    let ends = (0..earlier).step_by(FOLLOW_UPS_AT_ONCE as usize);
    let ends = ends.map(move |first| (first, earlier.min(first + FOLLOW_UPS_AT_ONCE)));
    let earlier = stream::iter(ends).then(move |(first, last)| {
        let (service, id) = (service.clone(), id.clone());
        async move {
            let (follow_ups, _) = service.follow_ups_before(&id, last + 1, last - first).await?;
            Ok::<Vec<FollowUpBody>, AppError>(follow_ups.into_iter().map(FollowUpBody::from).collect())
        }
    });
    let items = earlier.chain(loaded(last)).boxed();
    LongBody::object(&body, "follow_ups", items)?.respond(status, caller).await
}
