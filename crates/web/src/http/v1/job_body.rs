//! A job as the JSON API sends it. Fields are only ever added.

use serde::Serialize;
use utoipa::ToSchema;

use model::job::{DeliveryState, EXCERPT_CHARS, FollowUp, Job, JobState, ReasonCode, RemoteJob};
use model::links;
use model::pull_request::{Checks, PullRequest, PullRequestState, Review, WaitingFor};
use model::time::Timestamp;

/// A job.
#[derive(Serialize, ToSchema)]
#[schema(as = Job)]
pub(super) struct JobBody {
    id: String,
    project: String,
    #[schema(inline)]
    state: JobState,
    /// Whether nothing happens to it any more without a person: its state is final, or Docket stopped tracking it, and no follow-up is pending or was
    /// just accepted, or may have been.
    ended: bool,
    /// What an archived job was before: `completed` or `failed`; `null` in other states, or if Docket saw no outcome.
    #[schema(inline)]
    earlier_outcome: Option<JobState>,
    /// The status that the platform reports; `null` until it accepted the job.
    platform_status: Option<String>,
    /// Why the job is in this state, if a reason is known.
    reason: Option<String>,
    /// The same for programs; `null` without a cause.
    reason_code: Option<ReasonCode>,
    /// Its first 280 characters in lists.
    prompt: String,
    /// Whether `prompt` is cut, which happens only in lists; then `…` follows.
    truncated: bool,
    /// The name of the person who started it.
    author: String,
    /// When Docket saved it.
    created_at: Timestamp,
    /// When the platform created it, by its own clock.
    platform_created_at: Option<Timestamp>,
    /// When its state last changed.
    changed_at: Timestamp,
    /// The paths of the pages it is about.
    pages: Vec<String>,
    tags: Vec<String>,
    /// How often its prompt was sent again after its outcome was unknown. A decision about an unknown outcome names it.
    attempt: u32,
    /// The id of the job that it runs again; `null` in lists.
    retry_of: Option<String>,
    /// How many follow-ups precede those in `follow_ups`: lists have the last 20, and tools those that fit.
    earlier_follow_ups: u32,
    /// The last 20 in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, value_type = Vec<FollowUpBody>)]
    follow_ups: Option<Vec<FollowUpBody>>,
    /// The id of the template it was started from; `null` in lists.
    template: Option<String>,
    /// The id of the platform.
    platform_id: Option<String>,
    repository: Option<String>,
    branch: Option<String>,
    /// Whether it is archived in Docket.
    archived: bool,
    pull_request: Option<PullRequestBody>,
    /// Whether `pull_request` is from an earlier answer of the platform, which names none now.
    pull_request_is_earlier: bool,
    /// The pull request that the platform names now; `null` if it names none, although an earlier answer did.
    platform_pull_request: Option<String>,
    /// Whether it completed without a pull request in a project whose changes the platform publishes directly.
    published_directly: bool,
    /// The path of its page in Docket.
    path: String,
}

/// A follow-up of a job.
#[derive(Serialize, ToSchema)]
#[schema(as = FollowUp)]
pub(super) struct FollowUpBody {
    id: String,
    /// Its first 280 characters in lists.
    prompt: String,
    /// Whether `prompt` is cut, which happens only in lists; then `…` follows.
    truncated: bool,
    author: String,
    #[schema(inline)]
    state: DeliveryState,
    reason: Option<String>,
    /// The cause of the state for programs; `null` without a cause.
    reason_code: Option<ReasonCode>,
    created_at: Timestamp,
    /// How often it was sent again after its outcome was unknown. A decision about an unknown outcome names it.
    attempt: u32,
}

/// A pull request, as its code host last reported it.
#[derive(Serialize, ToSchema)]
#[schema(as = PullRequest)]
pub(super) struct PullRequestBody {
    url: String,
    number: Option<u64>,
    #[schema(inline)]
    state: PullRequestState,
    #[schema(inline)]
    checks: Checks,
    #[schema(inline)]
    review: Review,
    #[schema(inline)]
    waiting_for: WaitingFor,
    conflict: bool,
    /// The paths of changed files, at most 100.
    files: Vec<String>,
    opened_at: Option<Timestamp>,
    merged_at: Option<Timestamp>,
    closed_at: Option<Timestamp>,
    /// `null` if it was never checked.
    checked_at: Option<Timestamp>,
}

impl From<Job> for JobBody {
    fn from(job: Job) -> Self {
        let ended = job.has_ended();
        let path = links::job(job.project.as_str(), job.id.as_str());
        let published_directly = job.badge().is_published_directly();
        let platform_created_at = job.remote.as_ref().and_then(|remote| remote.created_at);
        let is_earlier = job.remote.as_ref().is_some_and(|remote| remote.pr_link_is_earlier);
        let named = job.remote.as_ref().filter(|remote| !remote.pr_link_is_earlier);
        let platform_pull_request = named.and_then(|remote| remote.pr_link.clone());
        let (platform_id, platform_status, repository, branch) = match job.remote {
            Some(RemoteJob { id, status, repository, git_ref, .. }) => {
                (Some(id), Some(status), repository, git_ref)
            }
            None => (None, None, None, None),
        };
        Self {
            id: job.id.to_string(),
            project: job.project.to_string(),
            state: job.state,
            ended,
            earlier_outcome: job.earlier_outcome,
            platform_status,
            reason: job.reason,
            reason_code: job.reason_code,
            prompt: job.prompt,
            truncated: false,
            author: job.author,
            created_at: job.created_at,
            platform_created_at,
            changed_at: job.changed_at,
            pages: job.paths,
            tags: job.tags,
            attempt: job.attempt,
            retry_of: job.retry_of.map(|origin| origin.status.id.to_string()),
            earlier_follow_ups: job.earlier_follow_ups,
            follow_ups: Some(job.follow_ups.into_iter().map(Into::into).collect()),
            template: job.template.and_then(|template| Some(template.id?.to_string())),
            platform_id,
            repository,
            branch,
            archived: job.archived_here.is_some(),
            pull_request_is_earlier: job.pull_request.is_some() && is_earlier,
            pull_request: job.pull_request.map(Into::into),
            platform_pull_request,
            published_directly,
            path,
        }
    }
}

impl JobBody {
    /// A job of a list, whose texts may be cut.
    pub(super) fn listed(job: Job) -> Self {
        let mut job = Self::from(job);
        job.truncated = is_cut(&job.prompt);
        for follow_up in job.follow_ups.iter_mut().flatten() {
            follow_up.truncated = is_cut(&follow_up.prompt);
        }
        job
    }

    /// Takes the follow-ups out, which are then written apart from the other fields, and how many precede them.
    pub(super) fn take_follow_ups(&mut self) -> (Vec<FollowUpBody>, u32) {
        (self.follow_ups.take().unwrap_or_default(), std::mem::take(&mut self.earlier_follow_ups))
    }

    pub(super) fn set_follow_ups(&mut self, follow_ups: Vec<FollowUpBody>, earlier: u32) {
        (self.follow_ups, self.earlier_follow_ups) = (Some(follow_ups), earlier);
    }
}

/// Whether the text of a list is cut: only then is it longer, by the `…` at its end.
fn is_cut(text: &str) -> bool {
    text.chars().nth(EXCERPT_CHARS).is_some()
}

impl From<FollowUp> for FollowUpBody {
    fn from(follow_up: FollowUp) -> Self {
        let FollowUp { id, prompt, author, state, reason, reason_code, created_at, attempt } = follow_up;
        let id = id.to_string();
        Self { id, prompt, truncated: false, author, state, reason, reason_code, created_at, attempt }
    }
}

impl From<PullRequest> for PullRequestBody {
    fn from(request: PullRequest) -> Self {
        Self {
            url: request.url,
            number: request.number,
            state: request.state,
            checks: request.checks,
            review: request.review,
            waiting_for: request.waiting_for,
            conflict: request.conflict,
            files: request.files,
            opened_at: request.opened_at,
            merged_at: request.merged_at,
            closed_at: request.closed_at,
            checked_at: request.checked_at,
        }
    }
}
