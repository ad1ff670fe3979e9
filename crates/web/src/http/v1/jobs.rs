//! The endpoints of jobs.

use std::collections::BTreeMap;
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, RawQuery};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::{Extension, Json};
use futures::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::changed_job::{Changed, ChangedJob, SentFollowUp, SentJob, SentPrompt};
use super::errors::{ChangeErrors, ChangesErrors, FollowUpErrors, ReadErrors, StartErrors};
use super::input::{Body, Fields, IdempotencyKey, NoBody, object};
use super::job_body::{FollowUpBody, JobBody};
use super::long_list::{LongBody, loaded};
use super::values::{
    CursorText, In, JobLimit, PagePath, PullRequests, Seconds, Status, TagText, TemplateName, Words,
    WrittenPage, text, texts,
};
use super::version::{IfNoneMatch, KnownVersions, NotModified, Version};
use crate::auth::bearer::TokenCaller;
use crate::request::forms::REPLAYED_HEADER;
use crate::request::problem::Problem;
use base::nfc::nfc;
use base::prompt::Prompt;
use base::query_permits::QueryPermit;
use model::api_token::Scope;
use model::error::{AppError, ErrorCode};
use model::id::{IntentId, JobId, ProjectId, TemplateId};
use model::job::{Job, JobState, TimelineMark};
use model::job_query::JobQuery;
use model::page_path::{PATHS_MAX, Pages, PathsError};
use model::tag::Tag;
use model::time::Timestamp;
use service::jobs::Jobs;
use service::jobs::find::{FoundJobs, JobsWanted};
use service::jobs::intent::{SimilarWarning, Submission};
use service::jobs::replay::{ScriptRequest, ScriptTemplate};
use service::jobs::submitted::Submitted;
use service::response_size::{FREE_MAX_BYTES, Room, json_bytes};
use store::jobs::archive_and_tags::TAGS_MAX;
use store::jobs::intents::{NewIntent, Subject};
use store::jobs::list::PageJobs;

pub(super) const TAG: &str = "Jobs";

/// The path of a job.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OfJob {
    pub(super) project: String,
    #[param(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    pub(super) job: String,
}

/// The filters of the list.
#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListJobs {
    /// A state, or `no-changes`: completed without changes.
    #[param(inline)]
    pub(super) status: Option<Status>,
    /// Words in prompts, follow-ups and names; `#256` finds a pull request.
    #[param(inline)]
    pub(super) q: Option<Words>,
    /// The name of a person.
    #[param(inline)]
    pub(super) author: Option<Words>,
    #[param(inline)]
    pub(super) tag: Option<Words>,
    /// The path of a page, such as `/guides/auth`.
    #[param(inline)]
    pub(super) page: Option<PagePath>,
    /// Whether there is a pull request, or its state; `waiting` is open and waits for a reviewer, `conflict` is open and cannot be merged.
    #[param(inline)]
    pub(super) pr: Option<PullRequests>,
    /// Only jobs created at this time or later, such as `2026-11-01T00:00:00Z`.
    pub(super) created_after: Option<Timestamp>,
    /// Only jobs created before this time.
    pub(super) created_before: Option<Timestamp>,
    /// Only jobs whose states changed at this time or later. They are in the order of their changes, and the cursor goes on with later changes.
    pub(super) changed_after: Option<Timestamp>,
    /// Whether jobs that are archived in Docket are listed; `no` by default.
    #[param(inline)]
    pub(super) archived: Option<Archived>,
    /// How many jobs.
    #[param(inline)]
    pub(super) limit: Option<JobLimit>,
    /// `next_cursor` of the page before, with the same filters.
    #[param(inline)]
    pub(super) cursor: Option<CursorText>,
}

/// Whether a list has the jobs that are archived in Docket.
#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Archived {
    #[default]
    No,
    Yes,
    Any,
}

impl Archived {
    fn filter(self) -> Option<bool> {
        match self {
            Self::No => Some(false),
            Self::Yes => Some(true),
            Self::Any => None,
        }
    }
}

/// A page of jobs, the newest first; with `changed_after`, in the order of their changes.
#[derive(Serialize, ToSchema)]
pub(super) struct JobsPage {
    jobs: Vec<JobBody>,
    /// `null` on the last page. With `changed_after`, never `null`: later changes follow.
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
    #[serde(default, deserialize_with = "texts::<WrittenPage, _>")]
    #[schema(inline, value_type = Vec<WrittenPage>, max_items = 50)]
    pub(super) pages: Vec<String>,
    /// Letters, digits, hyphens, underscores, dots and spaces.
    #[serde(default, deserialize_with = "texts::<TagText, _>")]
    #[schema(inline, value_type = Vec<TagText>, max_items = 50)]
    pub(super) tags: Vec<String>,
    #[serde(default, deserialize_with = "object")]
    pub(super) template: Option<TemplateOfJob>,
    /// The id of the job that this one runs again. It ended without a pull request, and is resolved if this one opens one.
    pub(super) retry_of: Option<String>,
    /// Whether the prompt is queued if it cannot be sent at once, because the hourly budget is spent, requests are paused or there are no AI credits.
    /// Otherwise it is refused, or rejected, and nothing is sent later.
    #[serde(default)]
    pub(super) queue: bool,
}

/// The template of a new job: its id or its name.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TemplateOfJob {
    id: Option<String>,
    #[serde(default, deserialize_with = "text::<TemplateName, _>")]
    #[schema(inline, value_type = Option<TemplateName>)]
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
    /// Whether the prompt is queued if it cannot be sent at once, because the hourly budget is spent, requests are paused or there are no AI credits.
    /// Otherwise it is refused, or rejected, and nothing is sent later.
    #[serde(default)]
    pub(super) queue: bool,
}

/// How long to wait.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Wait {
    /// Respond when the job has ended (`ended`), or after this time in seconds. Pending follow-ups are awaited, and so is the work on a follow-up that the
    /// platform has just accepted. Choose less than the limit of your load balancer: `docket job` waits for at most 25 seconds.
    #[param(inline)]
    wait: Option<Seconds>,
}

/// The jobs of a project, the newest first. Jobs archived in Docket are omitted by default.
///
/// To follow all changes, send `changed_after` and `archived=any`, and keep `next_cursor` when a page is empty: a later request with it and the same
/// fields has each job that changed since, at least once, with its state, follow-ups, tags and pull request. A job that retention removed is not
/// reported. After a backup was restored, the cursor is refused (409): start again without one.
#[utoipa::path(get, path = "/api/v1/projects/{project}/jobs", tag = TAG, security(("token" = ["jobs:read"])),
    params(("project" = String, Path), ListJobs, IfNoneMatch),
    responses((status = OK, body = JobsPage, description = "A page of jobs.", headers(("ETag" = String, description = "Changes whenever the response may have changed."))), NotModified, ChangesErrors))]
pub(super) async fn list_jobs(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
    known: KnownVersions,
    RawQuery(query): RawQuery,
    Fields(wanted): Fields<ListJobs>,
) -> Result<Response, Problem> {
    let readable = readable(&caller, &project)?;
    let version = caller.state().jobs.version_of_list(&readable).await?;
    let version = Version::of(&[readable.as_str(), &version, query.as_deref().unwrap_or_default()])?;
    if known.has(&version) {
        return Ok(version.not_modified());
    }
    let Found { jobs, permit } = found(&caller, &project, wanted).await?;
    let ids = jobs.ids();
    let next = NextPage { next_cursor: jobs.cursor_after(ids.len()) };
    let (service, under) = (caller.state().jobs.clone(), permit.clone());
    let ids: Vec<Vec<JobId>> = ids.chunks(JOBS_AT_ONCE).map(<[JobId]>::to_vec).collect();
    let items = stream::iter(ids).then(move |ids| {
        let (service, permit) = (service.clone(), permit.clone());
        async move {
            let jobs = service.listed(&permit, &ids).await?;
            Ok::<Vec<JobBody>, AppError>(jobs.into_iter().map(JobBody::listed).collect())
        }
    });
    let body = LongBody::object(&next, "jobs", items.boxed())?.under(under);
    Ok(version.mark(body.respond(StatusCode::OK, &caller).await?))
}

/// Starts a job. With the same `Idempotency-Key`, the first response is sent again and nothing is started.
///
/// A repeated request changes nothing, and its template may have been changed or deleted since. A key belongs to the owner of the
/// token: all tokens of a person share it, and any other request with it is refused (422), whatever differs: the project, the prompt, the
/// pages, the tags, the template, its values, `retry_of` or `queue`. A template and the text that it is filled in to are different requests. Without the scope `jobs:read`, or if a long job cannot be sent
/// now, the response has only the id and the state.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs", tag = TAG, security(("token" = ["jobs:write"])),
    params(("project" = String, Path), IdempotencyKey),
    request_body = NewJob,
    responses((status = CREATED, body = inline(SentJob), description = "The job is recorded, and its prompt has an outcome: look at `state`. It is also the status if the platform rejected the prompt, or if the outcome is unknown."),
        (status = ACCEPTED, body = inline(SentJob), description = "The job is recorded, and its prompt is queued or is still being sent."),
        StartErrors))]
pub(super) async fn start_job(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
    IdempotencyKey(intent): IdempotencyKey,
    Body(new): Body<NewJob>,
) -> Result<Response, Problem> {
    let Submitted { job, is_replay, .. } = start(&caller, &project, intent, new).await?;
    let is_pending = matches!(job.state, JobState::Queued | JobState::Sending);
    let (status, location) = head(is_pending, &job);
    let response = respond_to_change(&caller, status, job, None).await;
    Ok((location, replayed(is_replay), response).into_response())
}

/// A job. With `wait`, the response is sent when the job has ended, or after that time; earlier if the server restarts.
#[utoipa::path(get, path = "/api/v1/projects/{project}/jobs/{job}", tag = TAG, security(("token" = ["jobs:read"])),
    params(OfJob, Wait, IfNoneMatch),
    responses((status = OK, body = JobBody, description = "The job.", headers(("ETag" = String, description = "Changes whenever the response may have changed."))), NotModified, ReadErrors))]
pub(super) async fn get_job(
    Extension(caller): Extension<TokenCaller>,
    Path(OfJob { project, job }): Path<OfJob>,
    known: KnownVersions,
    Fields(Wait { wait }): Fields<Wait>,
) -> Result<Response, Problem> {
    let (project, id) = (readable(&caller, &project)?, id_of(&job)?);
    let jobs = &caller.state().jobs;
    jobs.wait_for_end(
        &project,
        &id,
        &caller.caller().user.id,
        Duration::from_secs(wait.unwrap_or_default().get().into()),
    )
    .await?;
    // Before the job is read: a version that is older than the job costs a request, and one that is newer would hide a change.
    let version = jobs.version_of(&project, &id).await?;
    let version = Version::of(&[project.as_str(), &job, &version])?;
    if known.has(&version) {
        return Ok(version.not_modified());
    }
    let response = respond(&caller, StatusCode::OK, jobs.get(&project, &id).await?, None).await?;
    Ok(version.mark(response))
}

/// Sends a follow-up to a job. With the same `Idempotency-Key`, the first response is sent again and nothing is sent.
///
/// A key belongs to the owner of the token, and any other request with it is refused, as for jobs. Without the scope `jobs:read`, or if a long job cannot be sent now, the
/// response has only the id and the states.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs/{job}/messages", tag = TAG, security(("token" = ["jobs:write"])),
    params(OfJob, IdempotencyKey),
    request_body = NewFollowUp,
    responses((status = CREATED, body = inline(SentFollowUp), description = "The follow-up is recorded and has an outcome: look at `follow_up_state`. It is also the status if the platform rejected it, or if the outcome is unknown."),
        (status = ACCEPTED, body = inline(SentFollowUp), description = "The follow-up is recorded, and is queued or still being sent, whatever the state of others."),
        FollowUpErrors))]
pub(super) async fn send_follow_up(
    Extension(caller): Extension<TokenCaller>,
    Path(OfJob { project, job }): Path<OfJob>,
    IdempotencyKey(intent): IdempotencyKey,
    Body(new): Body<NewFollowUp>,
) -> Result<Response, Problem> {
    let (Submitted { job, is_replay, .. }, sent) = follow_up(&caller, &project, job, intent, new).await?;
    let (status, location) = head(sent.is_pending(), &job);
    let response = respond_to_change(&caller, status, job, Some(sent)).await;
    Ok((location, replayed(is_replay), response).into_response())
}

/// Archives a job in Docket: lists omit it. The platform is not informed.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs/{job}/archive", tag = TAG, security(("token" = ["jobs:write"])),
    params(OfJob),
    responses((status = OK, body = ChangedJob, description = "The job is archived."), ChangeErrors))]
pub(super) async fn archive_job(
    Extension(caller): Extension<TokenCaller>,
    Path(of): Path<OfJob>,
    _: NoBody,
) -> Result<Json<ChangedJob>, Problem> {
    mark(&caller, of, TimelineMark::Archived).await
}

/// Restores a job that is archived in Docket.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs/{job}/restore", tag = TAG, security(("token" = ["jobs:write"])),
    params(OfJob),
    responses((status = OK, body = ChangedJob, description = "The job is not archived."), ChangeErrors))]
pub(super) async fn restore_job(
    Extension(caller): Extension<TokenCaller>,
    Path(of): Path<OfJob>,
    _: NoBody,
) -> Result<Json<ChangedJob>, Problem> {
    mark(&caller, of, TimelineMark::Restored).await
}

/// Cancels the queued prompts of a job. What was sent cannot be cancelled.
///
/// Does nothing if the last prompt is cancelled already: the request may be repeated.
/// Without the scope `jobs:read`, or if a long job cannot be sent now, the response has only the id and the state.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs/{job}/cancel", tag = TAG, security(("token" = ["jobs:write"])),
    params(OfJob),
    responses((status = OK, body = inline(SentJob), description = "The job, whose queued prompts are cancelled."), ChangeErrors))]
pub(super) async fn cancel_job(
    Extension(caller): Extension<TokenCaller>,
    Path(OfJob { project, job }): Path<OfJob>,
    _: NoBody,
) -> Result<Response, Problem> {
    let job = cancel(&caller, &project, &job).await?;
    Ok(respond_to_change(&caller, StatusCode::OK, job, None).await)
}

impl ListJobs {
    fn parse(self) -> Result<JobsWanted, Problem> {
        let text = |text: Option<Words>| text.map_or_else(String::new, String::from);
        let query = JobQuery {
            status: self.status.map_or_else(String::new, In::name),
            q: text(self.q),
            author: text(self.author),
            tag: text(self.tag),
            pr: self.pr.map_or_else(String::new, In::name),
            ..JobQuery::default()
        };
        let page_jobs = PageJobs::new(self.limit.unwrap_or_default().get() as usize);
        Ok(JobsWanted {
            query,
            page: self.page.map(String::from),
            created_from: self.created_after,
            created_before: self.created_before,
            changed_from: self.changed_after,
            archived: self.archived.unwrap_or_default().filter(),
            page_jobs: page_jobs.ok_or_else(AppError::internal)?,
            cursor: self.cursor.map(String::from),
        })
    }
}

/// Starts a job.
pub(super) async fn start(
    caller: &TokenCaller,
    project: &str,
    intent: IntentId,
    new: NewJob,
) -> Result<Submitted, Problem> {
    caller.needs(Scope::JobsWrite)?;
    let project = caller.project(project)?;
    let (owner, jobs) = (caller.caller(), &caller.state().jobs);
    let template = new.template.as_ref().map(TemplateOfJob::as_sent);
    let request = ScriptRequest {
        project: &project,
        job: None,
        prompt: new.prompt.as_deref(),
        template,
        pages: &new.pages,
        tags: &new.tags,
        retry_of: new.retry_of.as_deref(),
        queue: new.queue,
    };
    if let Some(earlier) = jobs.first_answer(&owner.user.id, &intent, &request).await? {
        return Ok(earlier);
    }
    let tags = tags(&new.tags)?;
    let (text, template) = match (new.prompt.clone(), &new.template) {
        (Some(prompt), None) => (prompt, None),
        (prompt, Some(template)) => {
            let id = template.find(jobs, &project).await?;
            let filled = jobs.filled(&project, &id, prompt, &template.values).await;
            (filled.map_err(in_field("template.values"))?, Some(id))
        }
        (None, None) => {
            let missing = AppError::bad_input("A job needs a “prompt” or a “template”.");
            return Err(missing.about("prompt").into());
        }
    };
    let prompt = Prompt::parse(&text, jobs.prompt_max()).map_err(in_field("prompt"))?;
    let pages = pages(jobs, &project, &new.pages)?;
    let retry_of = new.retry_of.as_deref().map(str::parse).transpose().map_err(in_field("retry_of"))?;
    let subject = Subject::NewJob { template, retry_of, tags };
    let intent = NewIntent { pages, subject, ..NewIntent::new_job(project.clone(), intent, prompt) };
    submit(caller, hashed(intent, &request), new.queue).await
}

impl TemplateOfJob {
    pub(super) fn new(id: Option<String>, name: Option<String>, values: BTreeMap<String, String>) -> Self {
        Self { id, name, values }
    }

    fn as_sent(&self) -> ScriptTemplate<'_> {
        ScriptTemplate { id: self.id.as_deref(), name: self.name.as_deref(), values: &self.values }
    }

    /// Its id.
    pub(super) async fn find(&self, jobs: &Jobs, project: &ProjectId) -> Result<TemplateId, AppError> {
        match (&self.id, &self.name) {
            (Some(id), None) => id.parse().map_err(in_field("template.id")),
            (None, Some(name)) => jobs.template_named(project, name).await,
            _ => {
                let wrong = AppError::bad_input("A “template” needs an “id” or a “name”, and not both.");
                Err(wrong.about("template"))
            }
        }
    }
}

/// The tags of a new job.
fn tags(texts: &[String]) -> Result<Vec<Tag>, Problem> {
    if texts.len() > TAGS_MAX as usize {
        let too_many = AppError::bad_input(format!("A job can have at most {TAGS_MAX} tags."));
        return Err(too_many.about("tags").into());
    }
    let tag = |(index, text): (usize, &String)| {
        let tag = nfc(text).parse().map_err(AppError::from);
        tag.map_err(|error| Problem::from(error).about(&format!("tags[{index}]")))
    };
    texts.iter().enumerate().map(tag).collect()
}

/// The pages of a new job.
fn pages(jobs: &Jobs, project: &ProjectId, texts: &[String]) -> Result<Pages, Problem> {
    if texts.len() > PATHS_MAX {
        return Err(AppError::from(PathsError::TooMany).about("pages").into());
    }
    jobs.each_written_page(project, texts).map_err(|error| {
        let is_wrong = |text: &String| jobs.each_written_page(project, from_ref(text)).is_err();
        let wrong = texts.iter().position(is_wrong);
        let field = wrong.map_or_else(|| "pages".to_owned(), |index| format!("pages[{index}]"));
        Problem::from(AppError::from(error)).about(&field)
    })
}

/// The error of a field.
pub(super) fn in_field<E: Into<AppError>>(field: &'static str) -> impl Fn(E) -> AppError {
    move |error| {
        let error = error.into();
        match error.code {
            ErrorCode::BadInput | ErrorCode::UnfilledPlaceholder => error.about(field),
            _ => error,
        }
    }
}

/// The id of a job in a path, or in the arguments of a tool.
pub(super) fn id_of(job: &str) -> Result<JobId, AppError> {
    job.parse().map_err(in_field("job"))
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
                let job = JobBody::listed(job);
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

/// The project, if the token permits reading its jobs.
pub(super) fn readable(caller: &TokenCaller, project: &str) -> Result<ProjectId, Problem> {
    caller.needs(Scope::JobsRead)?;
    caller.project(project)
}

async fn found(caller: &TokenCaller, project: &str, wanted: ListJobs) -> Result<Found, Problem> {
    let project = readable(caller, project)?;
    let wanted = wanted.parse()?;
    let permit = caller.caller().query_permit().await?;
    let jobs = caller.state().jobs.find(&permit, &project, wanted).await?;
    Ok(Found { jobs, permit: Arc::new(permit) })
}

/// A job, at its end or after `wait` seconds, which are bounded by the type of the input.
pub(super) async fn get(caller: &TokenCaller, project: &str, job: &str, wait: u32) -> Result<Job, Problem> {
    let (project, job, jobs) = (readable(caller, project)?, id_of(job)?, &caller.state().jobs);
    let wait = Duration::from_secs(wait.into());
    jobs.wait_for_end(&project, &job, &caller.caller().user.id, wait).await?;
    Ok(jobs.get(&project, &job).await?)
}

/// Sends a follow-up. Returns its job, and which follow-up it is.
pub(super) async fn follow_up(
    caller: &TokenCaller,
    project: &str,
    job: String,
    intent: IntentId,
    new: NewFollowUp,
) -> Result<(Submitted, SentPrompt), Problem> {
    caller.needs(Scope::JobsWrite)?;
    let project = caller.project(project)?;
    let submitted = follow_up_once(caller, &project, job, &intent, new).await?;
    let sent = caller.state().jobs.sent_follow_up(&submitted).await?;
    Ok((submitted, sent.into()))
}

/// The job of the follow-up with this key, sent now or by an earlier request.
async fn follow_up_once(
    caller: &TokenCaller,
    project: &ProjectId,
    job: String,
    key: &IntentId,
    new: NewFollowUp,
) -> Result<Submitted, Problem> {
    let (owner, prompt) = (caller.caller(), Some(new.prompt.as_str()));
    let request = ScriptRequest {
        project,
        job: Some(&job),
        prompt,
        template: None,
        pages: &[],
        tags: &[],
        retry_of: None,
        queue: new.queue,
    };
    let jobs = &caller.state().jobs;
    if let Some(earlier) = jobs.first_answer(&owner.user.id, key, &request).await? {
        return Ok(earlier);
    }
    let prompt = Prompt::parse(&new.prompt, jobs.prompt_max()).map_err(in_field("prompt"))?;
    let id = id_of(&job)?;
    let intent = NewIntent::follow_up(project.clone(), id, key.clone(), prompt);
    submit(caller, hashed(intent, &request), new.queue).await
}

/// The intent of a request, with the hashes that are compared with those of a repeated one.
fn hashed(intent: NewIntent, request: &ScriptRequest<'_>) -> NewIntent {
    let (request_hash, body_hash) = (Some(request.hash()), Some(request.body_hash()));
    NewIntent { may_queue: request.queue, request_hash, body_hash, ..intent }
}

/// Cancels the queued prompts of a job.
pub(super) async fn cancel(caller: &TokenCaller, project: &str, job: &str) -> Result<Job, Problem> {
    caller.needs(Scope::JobsWrite)?;
    let project = caller.project(project)?;
    Ok(caller.state().jobs.cancel_job(caller.caller(), &project, &id_of(job)?).await?)
}

/// Submits a prompt.
async fn submit(caller: &TokenCaller, intent: NewIntent, queue: bool) -> Result<Submitted, Problem> {
    let submission =
        Submission { intent, queue, first: false, similar: SimilarWarning::None, warns_if_unfilled: false };
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
    let (jobs, job) = (&caller.state().jobs, id_of(&job)?);
    // A job of another project is missing.
    jobs.get(&project, &job).await?;
    jobs.mark(mark, caller.caller(), &project, job.clone().into()).await?;
    Ok(Json((&jobs.get(&project, &job).await?).into()))
}

/// The status and the location of a response to a submitted prompt. `is_pending`: it is queued, or is still being sent.
fn head(is_pending: bool, job: &Job) -> (StatusCode, [(HeaderName, String); 1]) {
    let status = if is_pending { StatusCode::ACCEPTED } else { StatusCode::CREATED };
    let location = format!("/api/v1/projects/{}/jobs/{}", job.project, job.id);
    (status, [(header::LOCATION, location)])
}

/// The header of the response to a repeated request.
pub(super) fn replayed(is_replay: bool) -> AppendHeaders<Option<(HeaderName, &'static str)>> {
    AppendHeaders(is_replay.then_some((REPLAYED_HEADER, "true")))
}

/// The response to a change of a job: the job, or only its states without the scope `jobs:read`. The change took effect, so that an error would be wrong:
/// if the job cannot be sent, because slow readers use the permits of its person, the response has only the states, too.
pub(super) async fn respond_to_change(
    caller: &TokenCaller,
    status: StatusCode,
    job: Job,
    follow_up: Option<SentPrompt>,
) -> Response {
    let short = Changed { job: ChangedJob::from(&job), follow_up: follow_up.clone(), replayed: None };
    if caller.may(Scope::JobsRead) {
        let id = job.id.clone();
        match respond(caller, status, job, follow_up).await {
            Ok(response) => return response,
            Err(problem) => tracing::info!(%id, detail = problem.detail(), "a changed job is not sent"),
        }
    }
    (status, Json(short)).into_response()
}

/// The response with a job and all its follow-ups. `follow_up`: the one that the request sent.
async fn respond(
    caller: &TokenCaller,
    status: StatusCode,
    job: Job,
    follow_up: Option<SentPrompt>,
) -> Result<Response, Problem> {
    let id = job.id.clone();
    let mut body = JobBody::from(job);
    let (mut last, mut earlier) = body.take_follow_ups();
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
    let body = Changed { job: body, follow_up, replayed: None };
    LongBody::object(&body, "follow_ups", items)?.respond(status, caller).await
}
