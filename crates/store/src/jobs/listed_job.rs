//! A job as lists show it: with its last follow-ups, pages and tags, truncated prompts, and without its timeline.

use serde::Deserialize;

use super::job::{awaits_follow_up, earlier_outcome};
use crate::dialect::Dialect;
use crate::platform::direct_projects::is_direct;
use crate::pull_requests::{StoredPullRequest, pull_request_of};
use model::id::{BatchId, JobId, MessageId, ProjectId};
use model::job::{
    DeliveryState, EXCERPT_CHARS, FOLLOW_UPS_LISTED, FollowUp, Job, JobState, LocalArchive, ReasonCode,
    RemoteJob, cut,
};
use model::pull_request::PullRequest;
use model::time::Timestamp;

/// A job as parsed from JSON; [`Dialect::json_rows`] of [`columns`] gives a list of these.
#[derive(Deserialize)]
pub(crate) struct ListedJob {
    id: JobId,
    project: ProjectId,
    prompt: String,
    author: String,
    state: JobState,
    outcome: Option<JobState>,
    reason: Option<String>,
    reason_code: Option<String>,
    created_at: i64,
    changed_at: i64,
    next_poll_at: Option<i64>,
    awaits_follow_up: i64,
    attempt: u32,
    batch: Option<BatchId>,
    archived_at: Option<i64>,
    archived_by: Option<String>,
    remote_id: Option<String>,
    remote_status: Option<String>,
    model: Option<String>,
    repository: Option<String>,
    git_ref: Option<String>,
    pr_link: Option<String>,
    pr_is_earlier: i64,
    is_direct: i64,
    remote_created_at: Option<i64>,
    remote_archived_at: Option<i64>,
    follow_ups: Vec<ListedFollowUp>,
    paths: Vec<String>,
    tags: Vec<String>,
    pull_request: Option<StoredPullRequest>,
}

#[derive(Deserialize)]
struct ListedFollowUp {
    id: MessageId,
    position: i64,
    prompt: String,
    author: String,
    state: DeliveryState,
    reason: Option<String>,
    reason_code: Option<String>,
    created_at: i64,
    attempt: u32,
}

/// The columns of [`ListedJob`], of a job `j` and its first message `m`.
pub(crate) fn columns(dialect: Dialect) -> String {
    // One character more than is displayed, to detect truncation.
    let chars = EXCERPT_CHARS + 1;
    let follow_ups = dialect.json_rows(
        &format!(
            "f.id, f.position, SUBSTR(f.prompt, 1, {chars}), (SELECT name FROM users WHERE id = f.author_id), f.state, f.reason, \
             f.reason_code, f.created_at, f.attempt"
        ),
        &format!(
            "messages f WHERE f.job_id = j.id AND f.position > 0
             AND f.position > (SELECT MAX(n.position) FROM messages n WHERE n.job_id = j.id) - {FOLLOW_UPS_LISTED}"
        ),
    );
    let paths = dialect.json_values("p.path", "job_paths p WHERE p.job_id = j.id");
    let tags = dialect.json_values("t.tag", "job_tags t WHERE t.job_id = j.id");
    let pull_request = pull_request_of(dialect, "j.id");
    format!(
        "j.id, j.project, SUBSTR(m.prompt, 1, {chars}), (SELECT name FROM users WHERE id = m.author_id), j.state, j.outcome, j.reason, \
         m.reason_code, j.created_at, j.changed_at, j.next_poll_at, {}, m.attempt, j.batch_id, j.archived_here_at, \
         (SELECT name FROM users WHERE id = j.archived_by), j.remote_id, j.remote_status, j.model, j.repository, j.git_ref, \
         j.pr_link, j.pr_is_earlier, {}, j.remote_created_at, j.remote_archived_at, {follow_ups}, {paths}, {tags}, {pull_request}",
        awaits_follow_up("j"),
        is_direct("j.project")
    )
}

impl From<ListedJob> for Job {
    fn from(mut listed: ListedJob) -> Self {
        let instant = |millis: Option<i64>| millis.map(Timestamp::from_millis);
        cut(&mut listed.prompt);
        listed.follow_ups.sort_unstable_by_key(|follow_up| follow_up.position);
        let earlier_outcome = earlier_outcome(listed.state, listed.outcome);
        let code = ReasonCode::stored(listed.reason_code.as_deref(), listed.reason.as_deref());
        let reason_code =
            ReasonCode::of_job(listed.state, earlier_outcome, listed.remote_status.as_deref(), code);
        let first = listed.follow_ups.first().map_or(1, |follow_up| follow_up.position);
        listed.paths.sort_unstable();
        listed.tags.sort_unstable();
        Self {
            id: listed.id,
            project: listed.project,
            prompt: listed.prompt,
            author: listed.author,
            state: listed.state,
            earlier_outcome,
            reason_code,
            reason: listed.reason,
            created_at: Timestamp::from_millis(listed.created_at),
            changed_at: Timestamp::from_millis(listed.changed_at),
            tracked: listed.next_poll_at.is_some(),
            awaits_follow_up: listed.awaits_follow_up == 1,
            is_direct: listed.is_direct > 0,
            remote: listed.remote_id.map(|id| RemoteJob {
                id,
                status: listed.remote_status.unwrap_or_default(),
                model: listed.model,
                repository: listed.repository,
                git_ref: listed.git_ref,
                pr_link: listed.pr_link,
                pr_link_is_earlier: listed.pr_is_earlier == 1,
                created_at: instant(listed.remote_created_at),
                archived_at: instant(listed.remote_archived_at),
                error: None,
            }),
            pull_request: listed.pull_request.map(PullRequest::from),
            follow_ups: listed.follow_ups.into_iter().map(FollowUp::from).collect(),
            earlier_follow_ups: u32::try_from(first - 1).unwrap_or_default(),
            paths: listed.paths,
            attempt: listed.attempt,
            batch: listed.batch,
            template: None,
            tags: listed.tags,
            archived_here: instant(listed.archived_at)
                .map(|at| LocalArchive { at, by: listed.archived_by.unwrap_or_default() }),
            dismissed: None,
            retry_of: None,
            retries: Vec::new(),
            retries_total: 0,
            resolved_by: None,
            needs_attention: false,
            usual_millis: None,
            pull_requests_url: None,
            history: Vec::new(),
        }
    }
}

impl From<ListedFollowUp> for FollowUp {
    fn from(mut listed: ListedFollowUp) -> Self {
        cut(&mut listed.prompt);
        let reason_code = ReasonCode::stored(listed.reason_code.as_deref(), listed.reason.as_deref());
        Self {
            id: listed.id,
            prompt: listed.prompt,
            author: listed.author,
            state: listed.state,
            reason_code,
            reason: listed.reason,
            created_at: Timestamp::from_millis(listed.created_at),
            attempt: listed.attempt,
        }
    }
}
