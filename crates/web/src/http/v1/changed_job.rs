//! The responses of endpoints that change a job. A token without `jobs:read` gets no text from them: prompts and names may come from other people.

use serde::Serialize;
use utoipa::ToSchema;

use super::job_body::JobBody;
use model::job::{DeliveryState, Job, JobState};

/// A job that was changed.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangedJob {
    id: String,
    #[schema(inline)]
    state: JobState,
}

/// A job with a new follow-up.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FollowedUpJob {
    id: String,
    #[schema(inline)]
    state: JobState,
    /// The state of its last follow-up.
    #[schema(inline)]
    follow_up_state: Option<DeliveryState>,
}

/// The job with the scope `jobs:read`, otherwise its id and state.
#[expect(dead_code, reason = "the description has it, and jobs are streamed")]
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum SentJob {
    Readable(Box<JobBody>),
    Changed(ChangedJob),
}

/// The job with the scope `jobs:read`, otherwise its id and states.
#[expect(dead_code, reason = "the description has it, and jobs are streamed")]
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum SentFollowUp {
    Readable(Box<JobBody>),
    FollowedUp(FollowedUpJob),
}

impl From<&Job> for ChangedJob {
    fn from(job: &Job) -> Self {
        Self { id: job.id.to_string(), state: job.state }
    }
}

impl From<&Job> for FollowedUpJob {
    fn from(job: &Job) -> Self {
        let follow_up_state = job.follow_ups.last().map(|follow_up| follow_up.state);
        Self { id: job.id.to_string(), state: job.state, follow_up_state }
    }
}
