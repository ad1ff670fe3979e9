//! The endpoints of batches.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use axum::extract::Path;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::errors::{BatchErrors, ChangeErrors, ReadErrors};
use super::input::{Body, Fields, IdempotencyKey, NoBody, object};
use super::job_body::JobBody;
use super::jobs::{TemplateOfJob, in_field, readable, replayed};
use super::long_list::{LongBody, loaded};
use super::values::{Seconds, TemplateName, text};
use crate::auth::bearer::TokenCaller;
use crate::request::problem::Problem;
use model::api_token::Scope;
use model::batch::{BatchPrompt, Item, Progress};
use model::error::AppError;
use model::id::{BatchId, IntentId, ProjectId};
use model::job::JobState;
use model::links;
use model::time::Timestamp;
use service::jobs::batch::results::{BatchResults, ItemResult};
use service::jobs::batch::script::{RefusedBatch, ScriptBatch, SubmittedBatch, TemplateOfScript};

const TAG: &str = "Batches";

/// The path of a batch.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OfBatch {
    project: String,
    #[param(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    batch: String,
}

/// A new batch: one job for each item of `values`.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewBatch {
    /// What the agent should do, with placeholders such as `{{page}}`. Without it, the text of the template is the prompt.
    #[schema(min_length = 1)]
    prompt: Option<String>,
    #[serde(default, deserialize_with = "object")]
    template: Option<TemplateOfBatch>,
    /// The values of each job: at most 200 items, and as text at most 128 KiB. No two jobs have the same prompt.
    #[serde(default)]
    #[schema(inline, required = true, value_type = Vec<BatchValues>, min_items = 1, max_items = 201)]
    values: Vec<BatchValues>,
}

/// The template of a new batch: its id or its name.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TemplateOfBatch {
    id: Option<String>,
    #[serde(default, deserialize_with = "text::<TemplateName, _>")]
    #[schema(inline, value_type = Option<TemplateName>)]
    name: Option<String>,
}

/// An item of a new batch.
struct BatchValues(Item);

/// How long to wait.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WaitForBatch {
    /// Respond when all jobs have ended (`ended`), or after this time in seconds. Choose less than the limit of your load balancer: `docket batch` waits for at
    /// most 25 seconds.
    #[param(inline)]
    wait: Option<Seconds>,
}

/// A started batch.
#[derive(Serialize, ToSchema)]
#[schema(as = Batch)]
pub(super) struct BatchBody {
    id: String,
    project: String,
    /// The name that a person gave it, or one that is made of its prompt and the number of its jobs, such as `Refresh a page · 12 pages`.
    name: String,
    /// The prompt with its placeholders.
    prompt: String,
    /// The id of its template, if it still exists.
    template: Option<String>,
    /// The name of the person who started it.
    author: String,
    started_at: Timestamp,
    /// Whether all its jobs have ended.
    ended: bool,
    progress: BatchProgress,
    /// When the last queued prompt is expected to be sent; `null` if none is queued, or if the time is not known.
    expected_end: Option<Timestamp>,
    /// The path of its page in Docket.
    path: String,
    /// One for each job, in the order of `values`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, value_type = Vec<BatchItem>)]
    items: Option<Vec<BatchItem>>,
}

/// Numbers of jobs. A job and its retry in the batch count once. Each job is in `jobs`, and in one of the fields from `queued` to `resolved`.
#[derive(Clone, Copy, Serialize, ToSchema)]
struct BatchProgress {
    jobs: u64,
    /// Those with `ended`.
    ended: u64,
    queued: u64,
    /// Being sent, or active.
    running: u64,
    /// With or without changes, also if archived later.
    completed: u64,
    failed: u64,
    /// The platform did not accept the prompt.
    rejected: u64,
    /// It is not known whether the platform accepted the prompt.
    unknown: u64,
    cancelled: u64,
    /// Archived on the platform, without an outcome that Docket saw.
    archived: u64,
    /// With a status that Docket does not know, or that Docket stopped tracking.
    other: u64,
    /// Jobs without a pull request that were run again outside the batch, which opened one.
    resolved: u64,
    /// Jobs that opened a pull request.
    pull_requests: u64,
    /// The part of `completed` that changed nothing.
    no_changes: u64,
}

/// An item of a batch, with its result.
#[derive(Serialize, ToSchema)]
struct BatchItem {
    /// The values by the names of their placeholders.
    values: BTreeMap<String, String>,
    /// Its job as in lists. If it was retried in the batch, the last retry; `null` if it was removed because of its age.
    job: Option<JobBody>,
    /// The ids of the jobs that `job` replaces, the first one first.
    replaced: Vec<String>,
    /// The id of the job outside the batch that ran it again and opened a pull request.
    resolved_by: Option<String>,
}

/// A batch that was changed.
#[derive(Serialize, ToSchema)]
pub(super) struct ChangedBatch {
    id: String,
    /// As that of a whole batch.
    ended: bool,
    progress: BatchProgress,
}

/// The batch with the scope `jobs:read`, otherwise its id and its progress.
#[expect(dead_code, reason = "the description has it, and batches are streamed")]
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum SentBatch {
    Readable(Box<BatchBody>),
    Changed(ChangedBatch),
}

/// Starts a batch: the same prompt for many pages or other values, one job for each item of `values`. All its prompts are queued, or none, and sent
/// within the hourly budget.
///
/// An item is an object with a value for each placeholder. It may also be a text as on the page of Docket: the values in the order of the placeholders,
/// separated by commas, with quotes around a value that contains a comma. A first text with the names of the placeholders is no item. A placeholder with
/// a default value, such as `{{tone=calm}}`, may be left out. The value of `{{page}}` is a page of the job.
///
/// With the same `Idempotency-Key` and body, the batch is started once: the response to a repeated request has its present state. A request with another
/// body is refused (422), whatever differs. A key belongs to the owner of the token; keys of batches and of jobs are independent. Without the scope `jobs:read`, or if a long batch
/// cannot be sent now, the response has only the id and the progress.
#[utoipa::path(post, path = "/api/v1/projects/{project}/batches", tag = TAG, security(("token" = ["jobs:write"])),
    params(("project" = String, Path), IdempotencyKey),
    request_body = NewBatch,
    responses((status = CREATED, body = inline(SentBatch), description = "The batch is recorded, and each prompt of it has an outcome: look at the jobs. It is usually the status of a repeated request only."),
        (status = ACCEPTED, body = inline(SentBatch), description = "The batch is recorded, and prompts of it are queued or being sent."),
        BatchErrors))]
pub(super) async fn start_batch(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
    IdempotencyKey(key): IdempotencyKey,
    Body(new): Body<NewBatch>,
) -> Result<Response, Problem> {
    let (project, SubmittedBatch { id, jobs, is_replay }) = start(&caller, &project, &key, new).await?;
    let location: [(HeaderName, String); 1] =
        [(header::LOCATION, format!("/api/v1/projects/{project}/batches/{id}"))];
    let response = match caller.state().jobs.batch_results(&project, &id).await {
        Ok(results) => {
            let status = if results.is_pending() { StatusCode::ACCEPTED } else { StatusCode::CREATED };
            respond_to_change(&caller, status, results).await
        }
        Err(error) if is_replay => return Err(error.into()),
        // It is started, so that an error would be wrong.
        Err(error) => {
            tracing::warn!(%id, %error, "a started batch could not be read");
            (StatusCode::ACCEPTED, Json(ChangedBatch::unread(&id, jobs))).into_response()
        }
    };
    Ok((location, replayed(is_replay), response).into_response())
}

/// A batch with the result of each item. With `wait`, the response is sent when all jobs have ended, or after that time; earlier if the server restarts.
#[utoipa::path(get, path = "/api/v1/projects/{project}/batches/{batch}", tag = TAG, security(("token" = ["jobs:read"])),
    params(OfBatch, WaitForBatch),
    responses((status = OK, body = BatchBody, description = "The batch."), ReadErrors))]
pub(super) async fn get_batch(
    Extension(caller): Extension<TokenCaller>,
    Path(OfBatch { project, batch }): Path<OfBatch>,
    Fields(WaitForBatch { wait }): Fields<WaitForBatch>,
) -> Result<Response, Problem> {
    let (project, batch) = (readable(&caller, &project)?, id_of(&batch)?);
    let wait = Duration::from_secs(wait.unwrap_or_default().get().into());
    let jobs = &caller.state().jobs;
    jobs.wait_for_end_of_batch(&project, &batch, &caller.caller().user.id, wait).await?;
    respond(&caller, StatusCode::OK, jobs.batch_results(&project, &batch).await?).await
}

/// Cancels the queued prompts of a batch. What was sent cannot be cancelled.
///
/// Does nothing if no prompt is queued: the request may be repeated. Without the scope `jobs:read`, or if a long batch cannot be sent now, the response has
/// only the id and the progress.
#[utoipa::path(post, path = "/api/v1/projects/{project}/batches/{batch}/cancel", tag = TAG, security(("token" = ["jobs:write"])),
    params(OfBatch),
    responses((status = OK, body = inline(SentBatch), description = "The batch, without a queued prompt."), ChangeErrors))]
pub(super) async fn cancel_batch(
    Extension(caller): Extension<TokenCaller>,
    Path(OfBatch { project, batch }): Path<OfBatch>,
    _: NoBody,
) -> Result<Response, Problem> {
    caller.needs(Scope::JobsWrite)?;
    let (project, batch) = (caller.project(&project)?, id_of(&batch)?);
    let jobs = &caller.state().jobs;
    jobs.cancel_batch(caller.caller(), &project, &batch).await?;
    let results = jobs.batch_results(&project, &batch).await?;
    Ok(respond_to_change(&caller, StatusCode::OK, results).await)
}

/// Starts a batch, or finds the one of an earlier request.
async fn start(
    caller: &TokenCaller,
    project: &str,
    key: &IntentId,
    new: NewBatch,
) -> Result<(ProjectId, SubmittedBatch), Problem> {
    caller.needs(Scope::JobsWrite)?;
    let project = caller.project(project)?;
    let NewBatch { prompt, template, values } = new;
    let values: Vec<Item> = values.into_iter().map(|BatchValues(item)| item).collect();
    let as_sent = template
        .as_ref()
        .map(|template| TemplateOfScript { id: template.id.as_deref(), name: template.name.as_deref() });
    let request =
        ScriptBatch { project: &project, prompt: prompt.as_deref(), template: as_sent, values: &values };
    let (owner, jobs) = (caller.caller(), &caller.state().jobs);
    if let Some(earlier) = jobs.first_batch(&owner.user.id, key, &request).await? {
        return Ok((project, earlier));
    }
    let text = text_of(caller, &project, prompt.clone(), template.as_ref()).await?;
    let started = jobs.start_scripted_batch(owner, key, &request, text).await?;
    Ok((project, started))
}

/// The prompt with its placeholders, and its template.
async fn text_of(
    caller: &TokenCaller,
    project: &ProjectId,
    prompt: Option<String>,
    template: Option<&TemplateOfBatch>,
) -> Result<BatchPrompt, Problem> {
    let jobs = &caller.state().jobs;
    let template = match template {
        Some(TemplateOfBatch { id, name }) => {
            let template = TemplateOfJob::new(id.clone(), name.clone(), BTreeMap::new());
            Some(template.find(jobs, project).await?)
        }
        None => None,
    };
    let saved = match &template {
        Some(id) => Some(jobs.existing_template(project, id).await?.text),
        None => None,
    };
    match prompt.or(saved) {
        Some(text) => Ok(BatchPrompt { text, template }),
        None => {
            let missing = AppError::bad_input("A batch needs a “prompt” or a “template”.");
            Err(missing.about("prompt").into())
        }
    }
}

/// The id of a batch in a path.
fn id_of(batch: &str) -> Result<BatchId, AppError> {
    batch.parse().map_err(in_field("batch"))
}

/// The response to a change of a batch: the batch, or only its progress without the scope `jobs:read`, or if it cannot be sent. The change took effect, so
/// that an error would be wrong.
async fn respond_to_change(caller: &TokenCaller, status: StatusCode, results: BatchResults) -> Response {
    let short = ChangedBatch::from(&results);
    if caller.may(Scope::JobsRead) {
        match respond(caller, status, results).await {
            Ok(response) => return response,
            Err(problem) => {
                tracing::info!(id = short.id, detail = problem.detail(), "a changed batch is not sent");
            }
        }
    }
    (status, Json(short)).into_response()
}

async fn respond(
    caller: &TokenCaller,
    status: StatusCode,
    results: BatchResults,
) -> Result<Response, Problem> {
    let (body, items) = BatchBody::of(results)?;
    LongBody::object(&body, "items", loaded(items))?.respond(status, caller).await
}

impl BatchBody {
    /// The batch, and its items, which are written apart from the other fields.
    fn of(results: BatchResults) -> Result<(Self, Vec<BatchItem>), AppError> {
        let (ended, progress) = (results.has_ended(), BatchProgress::of(&results));
        let BatchResults { batch, template, items } = results;
        let body = Self {
            path: links::batch(batch.project.as_str(), batch.id.as_str()),
            id: batch.id.to_string(),
            project: batch.project.to_string(),
            name: batch.name,
            prompt: batch.text,
            template: template.map(String::from),
            author: batch.author,
            started_at: batch.started_at.ok_or_else(AppError::internal)?,
            ended,
            progress,
            expected_end: batch.expected_end,
            items: None,
        };
        Ok((body, items.into_iter().map(BatchItem::from).collect()))
    }
}

impl BatchProgress {
    fn of(results: &BatchResults) -> Self {
        Self { ended: results.ended() as u64, ..results.batch.progress.into() }
    }
}

impl From<Progress> for BatchProgress {
    fn from(progress: Progress) -> Self {
        Self {
            jobs: progress.jobs,
            ended: 0,
            queued: progress.queued,
            running: progress.running,
            completed: progress.completed,
            failed: progress.failed,
            rejected: progress.rejected,
            unknown: progress.unknown,
            cancelled: progress.cancelled,
            archived: progress.archived,
            other: progress.other,
            resolved: progress.resolved,
            pull_requests: progress.pull_requests,
            no_changes: progress.no_changes,
        }
    }
}

impl From<ItemResult> for BatchItem {
    fn from(ItemResult { values, job, replaced }: ItemResult) -> Self {
        let resolved_by =
            job.as_ref().filter(|job| job.is_resolved()).and_then(|job| job.resolved_by.clone());
        Self {
            values,
            job: job.map(JobBody::listed),
            replaced: replaced.into_iter().map(String::from).collect(),
            resolved_by: resolved_by.map(String::from),
        }
    }
}

impl From<&BatchResults> for ChangedBatch {
    fn from(results: &BatchResults) -> Self {
        let progress = BatchProgress::of(results);
        Self { id: results.batch.id.to_string(), ended: results.has_ended(), progress }
    }
}

impl ChangedBatch {
    /// A batch that was just started and could not be read.
    fn unread(id: &BatchId, jobs: usize) -> Self {
        let mut progress = Progress::default();
        progress.add(JobState::Queued, jobs as u64);
        Self { id: id.to_string(), ended: false, progress: progress.into() }
    }
}

impl From<RefusedBatch> for Problem {
    fn from(RefusedBatch { error, field }: RefusedBatch) -> Self {
        let problem = Self::from(error);
        match field {
            Some(field) => problem.about(&field),
            None => problem,
        }
    }
}

impl<'de> Deserialize<'de> for BatchValues {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ItemVisitor).map(Self)
    }
}

/// Decodes a text, or an object of texts.
struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or an object with a text for each placeholder")
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<Item, E> {
        Ok(Item::Line(line.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, values: A) -> Result<Item, A::Error> {
        BTreeMap::deserialize(MapAccessDeserializer::new(values)).map(Item::Values)
    }
}

impl PartialSchema for BatchValues {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let values = AdditionalProperties::RefOr(RefOr::T(Schema::from(text().build())));
        let values = ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(values));
        let line = text().min_length(Some(1));
        OneOfBuilder::new()
            .item(values.description(Some("The values by the names of the placeholders.")))
            .item(line.description(Some("The values in the order of the placeholders, separated by commas.")))
            .into()
    }
}

impl ToSchema for BatchValues {}
