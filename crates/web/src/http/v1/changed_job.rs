//! The responses of endpoints that change a job. A token without `jobs:read` gets no text from them: prompts and names may come from other people.

use serde::Serialize;
use utoipa::ToSchema;

use super::job_body::JobBody;
use model::job::{DeliveryState, Job, JobState, ReasonCode};
use store::jobs::details::SentFollowUp as StoredFollowUp;

/// A job that was changed.
#[derive(Serialize, ToSchema)]
pub(super) struct ChangedJob {
    id: String,
    #[schema(inline)]
    state: JobState,
    /// As that of a whole job.
    ended: bool,
    /// As that of a whole job.
    reason_code: Option<ReasonCode>,
}

/// A job with a new follow-up.
#[derive(Serialize, ToSchema)]
pub(super) struct FollowedUpJob {
    #[serde(flatten)]
    job: ChangedJob,
    #[serde(flatten)]
    follow_up: SentPrompt,
}

/// A job, and the follow-up that the request sent.
#[derive(Serialize)]
pub(super) struct Changed<T> {
    #[serde(flatten)]
    pub(super) job: T,
    #[serde(flatten)]
    pub(super) follow_up: Option<SentPrompt>,
    /// Of a tool that sends a prompt: whether an earlier call with the same key did it. The JSON API has a header for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replayed: Option<bool>,
}

/// The follow-up that a request sent.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct SentPrompt {
    /// The id of the follow-up that the request sent, in `follow_ups`.
    follow_up_id: String,
    #[schema(inline)]
    follow_up_state: DeliveryState,
    /// The cause of its state; `null` without a cause.
    follow_up_reason_code: Option<ReasonCode>,
}

/// The job with the scope `jobs:read`, otherwise its id and state.
#[expect(dead_code, reason = "the description has it, and jobs are streamed")]
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum SentJob {
    Readable(Box<JobBody>),
    Changed(ChangedJob),
}

/// The job with the scope `jobs:read`, otherwise its id and states. Both name the follow-up that the request sent.
#[expect(dead_code, reason = "the description has it, and jobs are streamed")]
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum SentFollowUp {
    Readable(Box<JobWithFollowUp>),
    FollowedUp(FollowedUpJob),
}

/// The job with the scope `jobs:read`, otherwise its id and states, with those of the follow-up that the decision was about.
#[expect(dead_code, reason = "the description has it, and jobs are streamed")]
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum DecidedJob {
    Readable(Box<JobBody>),
    Changed(ChangedJob),
    FollowedUp(FollowedUpJob),
}

/// A job, and the follow-up that the request sent.
#[derive(Serialize, ToSchema)]
pub(super) struct JobWithFollowUp {
    #[serde(flatten)]
    job: JobBody,
    #[serde(flatten)]
    follow_up: SentPrompt,
}

impl From<&Job> for ChangedJob {
    fn from(job: &Job) -> Self {
        Self {
            id: job.id.to_string(),
            state: job.state,
            ended: job.has_ended(),
            reason_code: job.reason_code,
        }
    }
}

impl From<StoredFollowUp> for SentPrompt {
    fn from(StoredFollowUp { id, state, reason_code }: StoredFollowUp) -> Self {
        Self { follow_up_id: id.to_string(), follow_up_state: state, follow_up_reason_code: reason_code }
    }
}

impl SentPrompt {
    /// Whether it is queued, or is being sent.
    pub(super) const fn is_pending(&self) -> bool {
        self.follow_up_state.is_pending()
    }
}
