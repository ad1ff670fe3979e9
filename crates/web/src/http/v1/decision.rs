//! The endpoint of decisions about prompts whose outcome is unknown.

use axum::Extension;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::changed_job::{DecidedJob, SentPrompt};
use super::errors::DecisionErrors;
use super::input::Body;
use super::jobs::{OfJob, TAG, id_of, in_field, respond_to_change};
use crate::auth::bearer::TokenCaller;
use crate::request::problem::Problem;
use model::api_token::Scope;
use model::error::AppError;
use model::id::MessageId;
use model::job::Job;
use service::jobs::resolve::{DecidedPrompt, Decision, Outcome};
use store::jobs::details::SentFollowUp;

/// A decision about a prompt whose outcome is unknown.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewDecision {
    #[schema(inline)]
    outcome: DecidedOutcome,
    /// `attempt` of the job or of the follow-up when it was read. The decision is about no later attempt.
    attempt: u32,
    /// The id of the follow-up. Without it, the decision is about the first prompt.
    #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    follow_up_id: Option<String>,
    /// The id that the platform gave the job. A first prompt that was started needs it.
    #[schema(min_length = 1, max_length = 200)]
    platform_id: Option<String>,
}

/// What became of the prompt.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum DecidedOutcome {
    /// The platform did not start it: it is sent again.
    NotStarted,
    /// The platform started it: its job is tracked.
    Started,
}

/// Decides about a prompt whose outcome is unknown. Look at the platform first: a prompt that was started and is sent again runs twice.
///
/// `not_started` sends it again, and `started` tracks it. The decision is about one attempt, so that it counts once: the same `not_started` again
/// changes nothing, and any other decision about this attempt is refused (409).
/// Without the scope `jobs:read`, or if a long job cannot be sent now, the response has only the id and the states.
#[utoipa::path(post, path = "/api/v1/projects/{project}/jobs/{job}/resolve", tag = TAG, security(("token" = ["jobs:resolve"])),
    params(OfJob),
    request_body = NewDecision,
    responses((status = OK, body = inline(DecidedJob), description = "The job, as it is after the decision: a prompt that was sent again has an outcome, or is queued."), DecisionErrors))]
pub(super) async fn resolve_job(
    Extension(caller): Extension<TokenCaller>,
    Path(OfJob { project, job }): Path<OfJob>,
    Body(new): Body<NewDecision>,
) -> Result<Response, Problem> {
    caller.needs(Scope::JobsResolve)?;
    let (project, job) = (caller.project(&project)?, id_of(&job)?);
    let (prompt, outcome) = (new.prompt()?, new.outcome()?);
    let decision = Decision { project, job, prompt, attempt: new.attempt.into(), outcome };
    let job = caller.state().jobs.resolve(caller.caller(), decision).await?;
    let follow_up = new.follow_up_id.and_then(|id| follow_up_of(&job, &id));
    Ok(respond_to_change(&caller, StatusCode::OK, job, follow_up).await)
}

impl NewDecision {
    fn prompt(&self) -> Result<DecidedPrompt, AppError> {
        Ok(match &self.follow_up_id {
            Some(id) => DecidedPrompt::FollowUp(id.parse::<MessageId>().map_err(in_field("follow_up_id"))?),
            None => DecidedPrompt::At(0),
        })
    }

    fn outcome(&self) -> Result<Outcome, AppError> {
        let needs_id = matches!(self.outcome, DecidedOutcome::Started) && self.follow_up_id.is_none();
        match (self.outcome, &self.platform_id) {
            (DecidedOutcome::Started, Some(id)) if needs_id => {
                Ok(Outcome::Started(Some(id.trim().parse().map_err(in_field("platform_id"))?)))
            }
            (DecidedOutcome::Started, None) if !needs_id => Ok(Outcome::Started(None)),
            (DecidedOutcome::NotStarted, None) => Ok(Outcome::NotStarted),
            (_, None) => {
                Err(wrong_id("A job that was started needs the “platform_id” that the platform gave it."))
            }
            (_, Some(_)) => Err(wrong_id("A “platform_id” is only for a first prompt that was started.")),
        }
    }
}

fn wrong_id(message: &str) -> AppError {
    AppError::bad_input(message).about("platform_id")
}

/// The follow-up of a job with this id; `None` if it is not among the last ones.
fn follow_up_of(job: &Job, id: &str) -> Option<SentPrompt> {
    let found = job.follow_ups.iter().rfind(|follow_up| follow_up.id.as_str() == id)?;
    let (id, state, reason_code) = (found.id.clone(), found.state, found.reason_code);
    Some(SentFollowUp { id, state, reason_code }.into())
}
