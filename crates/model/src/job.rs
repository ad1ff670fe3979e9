//! Jobs, their prompts and states. Pure: no storage or delivery.

mod reason;
mod result;
mod shown_follow_ups;
mod state;
mod timeline;

use serde::{Deserialize, Serialize};

use crate::draft::OtherDraft;
use crate::id::{BatchId, IntentId, JobId, MessageId, ProjectId};
use crate::pull_request::{PullRequest, PullRequestState};
use crate::saved_template::UsedTemplate;
use crate::time::Timestamp;
use crate::title::title;

pub use reason::{Reason, ReasonCode};
pub use result::{PromptOutcome, PromptResult, began_at, results};
pub use shown_follow_ups::{FOLLOW_UPS_SHOWN, ShownFollowUps};
pub use state::{DeliveryState, JobState};
pub use timeline::{ReportedStatus, TimelineEntry, TimelineMark, TimelineState, status_of_upstream};

/// A job as stored in Docket's database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub id: JobId,
    pub project: ProjectId,
    /// As typed; truncated to [`EXCERPT_CHARS`] characters in lists.
    pub prompt: String,
    pub author: String,
    pub state: JobState,
    /// What the upstream reported before it archived the job: completed or failed. `None` in other states, or if Docket saw no outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_outcome: Option<JobState>,
    /// Why the job is in this state, if a reason is known.
    pub reason: Option<String>,
    /// The same for programs; also that of a failure without a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<ReasonCode>,
    pub created_at: Timestamp,
    /// When `state` or `remote` last changed.
    pub changed_at: Timestamp,
    /// Whether Docket still polls the upstream for it.
    #[serde(default)]
    pub tracked: bool,
    /// Whether a follow-up is pending, or the platform accepted one and its status does not show yet that it works on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_follow_up: bool,
    /// Whether the platform publishes the changes of its project without pull requests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_direct: bool,
    /// The upstream's last response; `None` until it accepted the job.
    pub remote: Option<RemoteJob>,
    /// The pull request that it opened.
    #[serde(default)]
    pub pull_request: Option<PullRequest>,
    /// Oldest first; prompts are truncated in lists, which have the last [`FOLLOW_UPS_LISTED`].
    pub follow_ups: Vec<FollowUp>,
    /// How many earlier follow-ups it has: the number of the last one that is not in `follow_ups`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub earlier_follow_ups: u32,
    /// Paths of the documentation pages the job is about.
    pub paths: Vec<String>,
    /// How often the first prompt was sent again.
    #[serde(default)]
    pub attempt: u32,
    /// The batch that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
    /// The template it was created from; omitted in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<UsedTemplate>,
    /// Sorted by name.
    pub tags: Vec<String>,
    /// When and by whom it was archived in Docket. The upstream is not informed.
    pub archived_here: Option<LocalArchive>,
    /// When and by whom it was dismissed while it needed attention; omitted in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dismissed: Option<LocalArchive>,
    /// The job that it runs again; omitted in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<LinkedJob>,
    /// The last jobs that run it again, newest first; omitted in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<LinkedJob>,
    /// How many jobs run it again; omitted in lists.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries_total: u32,
    /// The retry that opened a pull request, so that this job needs no attention; omitted in lists, except that of a
    /// batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<JobId>,
    /// Whether it needs attention; omitted in lists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_attention: bool,
    /// The median time of jobs of its template, or else of the project, in milliseconds; omitted in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_millis: Option<i64>,
    /// The page with the pull requests of the repository, if a delivery has an unknown outcome; omitted in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_requests_url: Option<String>,
    /// The timeline, oldest first; empty in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<TimelineEntry>,
}

/// The upstream's own job object, as last polled. Everything but `id` and `status` may be missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteJob {
    pub id: String,
    /// The raw status of the upstream.
    pub status: String,
    pub model: Option<String>,
    pub repository: Option<String>,
    #[serde(rename = "ref")]
    pub git_ref: Option<String>,
    /// The last pull request that it named.
    pub pr_link: Option<String>,
    /// Whether its last response named no pull request: then `pr_link` is from an earlier one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pr_link_is_earlier: bool,
    pub created_at: Option<Timestamp>,
    pub archived_at: Option<Timestamp>,
    /// Its message about a failure. Most failures have only a status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// When and by whom a job was archived in Docket, which hides it from the list until it is restored, or dismissed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalArchive {
    pub at: Timestamp,
    pub by: String,
}

/// A job that another one is linked with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedJob {
    pub status: JobBadge,
    /// The first line of its prompt.
    pub title: String,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FollowUp {
    pub id: MessageId,
    pub prompt: String,
    pub author: String,
    pub state: DeliveryState,
    pub reason: Option<String>,
    /// The same for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<ReasonCode>,
    pub created_at: Timestamp,
    /// How often it was sent again.
    #[serde(default)]
    pub attempt: u32,
}

/// The fields that a badge needs to stay current.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobBadge {
    pub id: JobId,
    pub state: JobState,
    /// The upstream's raw status, for [`JobState::Other`].
    pub status: Option<String>,
    pub pr_link: Option<String>,
    /// As [`RemoteJob::pr_link_is_earlier`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pr_link_is_earlier: bool,
    /// The state of the pull request; `None` without one.
    #[serde(default)]
    pub pr_state: Option<PullRequestState>,
    pub changed_at: Timestamp,
    /// As [`Job::tracked`].
    #[serde(default)]
    pub tracked: bool,
    /// As [`Job::is_direct`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_direct: bool,
}

/// The result of archiving, restoring, tagging or untagging jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkResult {
    /// The jobs that changed.
    pub jobs: Vec<JobId>,
}

/// The initial values of a prompt's form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobForm {
    /// Submitted with the form, so that posting it twice starts one job.
    pub intent: IntentId,
    /// This person's draft, from any browser; empty without one.
    pub draft: String,
    /// The pages field of the draft.
    pub draft_paths: String,
    /// The id of the draft's template; empty without one.
    pub draft_template: String,
    /// When the server received the draft.
    pub draft_saved_at: Option<Timestamp>,
    /// The intent of the form that began the draft: that of this form without a draft. All forms with the draft start one job.
    pub draft_origin: String,
    /// This person's drafts of other forms for a new job, the newest first; empty for a follow-up.
    pub other_drafts: Vec<OtherDraft>,
    /// The maximum length of a prompt, in characters.
    pub prompt_max: u32,
}

/// The status shown for a job that no longer exists at the upstream.
pub const NOT_FOUND: &str = "not found";

/// How many jobs with an unknown outcome one decision sends again.
pub const SENT_AGAIN_MAX: u64 = 250;

/// The status shown for a job that did not finish within three days of tracking.
pub const NO_END: &str = "no end";

/// The timeline's detail for a prompt that the agent completed without changing a file.
pub const NO_CHANGES: &str = "no changes";

/// The length of a prompt in lists, in characters.
pub const EXCERPT_CHARS: usize = 280;

/// The most follow-ups of a job in lists.
pub const FOLLOW_UPS_LISTED: u32 = 20;

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Job {
    /// See [`title`].
    pub fn title(&self) -> String {
        title(&self.prompt)
    }

    /// The number of all its follow-ups.
    pub fn follow_ups_total(&self) -> u64 {
        u64::from(self.earlier_follow_ups) + self.follow_ups.len() as u64
    }

    /// Whether its state can still change without a person and without another prompt.
    pub fn is_moving(&self) -> bool {
        moves(self.state, self.tracked)
    }

    /// See [`has_ended`].
    pub fn has_ended(&self) -> bool {
        has_ended(self.state, self.tracked, self.awaits_follow_up)
    }

    /// Whether it opened no pull request, but a retry of it did.
    pub fn is_resolved(&self) -> bool {
        self.resolved_by.is_some() && self.remote.as_ref().is_none_or(|remote| remote.pr_link.is_none())
    }

    /// Whether running it again is a retry: it ended without a pull request.
    pub fn is_retryable(&self) -> bool {
        match self.state {
            JobState::Failed | JobState::Rejected | JobState::Cancelled | JobState::Unknown => true,
            JobState::Completed => self.has_no_changes(),
            JobState::Other => !self.is_moving(),
            JobState::Queued | JobState::Sending | JobState::Active | JobState::Archived => false,
        }
    }

    /// The state, or what an archived job was before: archived is neither a success nor a failure.
    pub fn outcome(&self) -> JobState {
        self.earlier_outcome.unwrap_or(self.state)
    }

    /// Whether it was completed without a pull request in a project that uses them.
    pub fn has_no_changes(&self) -> bool {
        self.badge().has_no_changes()
    }

    /// Whether it was completed, also before it was archived, and opened a pull request or its project is published without them. Only then views are
    /// compared before and after it.
    pub fn has_changes(&self) -> bool {
        let opened_one = self.remote.as_ref().is_some_and(|remote| remote.pr_link.is_some());
        self.outcome() == JobState::Completed && (opened_one || self.is_direct)
    }

    /// Whether the outcome of a delivery is unknown.
    pub fn has_unknown_outcome(&self) -> bool {
        let is_unknown = |follow_up: &FollowUp| follow_up.state == DeliveryState::Unknown;
        self.state == JobState::Unknown || self.follow_ups.iter().any(is_unknown)
    }

    /// When the agent's current prompt was sent, as far as lists have it.
    pub fn running_since(&self) -> Timestamp {
        let is_accepted = |follow_up: &&FollowUp| follow_up.state == DeliveryState::Accepted;
        let follow_up = self.follow_ups.iter().rfind(is_accepted).map(|follow_up| follow_up.created_at);
        let created_at = self.remote.as_ref().and_then(|remote| remote.created_at);
        follow_up.or(created_at).unwrap_or(self.created_at)
    }

    pub fn badge(&self) -> JobBadge {
        JobBadge {
            id: self.id.clone(),
            state: self.state,
            status: self.remote.as_ref().map(|remote| remote.status.clone()),
            pr_link: self.remote.as_ref().and_then(|remote| remote.pr_link.clone()),
            pr_link_is_earlier: self.remote.as_ref().is_some_and(|remote| remote.pr_link_is_earlier),
            pr_state: self.pull_request.as_ref().map(|pull_request| pull_request.state),
            changed_at: self.changed_at,
            tracked: self.tracked,
            is_direct: self.is_direct,
        }
    }
}

/// Truncates `text` to [`EXCERPT_CHARS`] characters.
pub fn cut(text: &mut String) {
    if let Some((at, _)) = text.char_indices().nth(EXCERPT_CHARS) {
        text.truncate(at);
        text.push('…');
    }
}

impl JobBadge {
    /// Whether its state can still change without a person.
    pub fn is_moving(&self) -> bool {
        moves(self.state, self.tracked)
    }

    /// Whether the job was completed without a pull request in a project that uses them. Probably it changed no file.
    pub fn has_no_changes(&self) -> bool {
        has_no_request(self.state, self.pr_link.is_some()) && !self.is_direct
    }

    /// Whether the job was completed without a pull request in a project without them: what it changed is published.
    pub fn is_published_directly(&self) -> bool {
        has_no_request(self.state, self.pr_link.is_some()) && self.is_direct
    }
}

/// Whether a job was completed without a pull request. The project decides what that means.
pub const fn has_no_request(state: JobState, has_link: bool) -> bool {
    matches!(state, JobState::Completed) && !has_link
}

/// Whether a state can still change without a person. An unrecognized status can only while the job is tracked.
pub const fn moves(state: JobState, tracked: bool) -> bool {
    match state {
        JobState::Other => tracked,
        state => state.is_moving(),
    }
}

/// Whether nothing happens to a job any more without a person, for all who wait for it: requests, lists, scripts and pages. Its state is final, or
/// Docket stopped tracking it, and no follow-up is pending or was just accepted. Queued follow-ups of a job whose first prompt has an unknown outcome
/// are not sent without a person.
pub const fn has_ended(state: JobState, tracked: bool, awaits_follow_up: bool) -> bool {
    let is_followed_up = awaits_follow_up && state.is_accepted();
    !is_followed_up && !moves(state, tracked)
}

/// `link` if it is an absolute http or https URL that may be rendered as a link.
pub fn safe_link(link: &str) -> Option<&str> {
    let plain = !link.chars().any(|c| c.is_control() || c.is_whitespace());
    let lower = link.get(..8).unwrap_or(link).to_ascii_lowercase();
    (plain && (lower.starts_with("https://") || lower.starts_with("http://"))).then_some(link)
}

/// The page that lists the pull requests of a repository, derived from the link to one of them. Supports GitHub, GitLab,
/// Bitbucket and Gitea.
pub fn pull_requests_of(link: &str) -> Option<String> {
    let link = safe_link(link)?;
    let lists = [
        ("/pull/", "/pulls"),
        ("/-/merge_requests/", "/-/merge_requests"),
        ("/merge_requests/", "/merge_requests"),
        ("/pull-requests/", "/pull-requests"),
        ("/pulls/", "/pulls"),
    ];
    lists.iter().find_map(|(one, all)| {
        let (repository, number) = link.rsplit_once(one)?;
        number.starts_with(|first: char| first.is_ascii_digit()).then(|| [repository, all].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pull_requests_of_a_repository_are_found_from_one_of_them() {
        for (one, all) in [
            ("https://github.com/acme/docs/pull/259", Some("https://github.com/acme/docs/pulls")),
            ("https://github.com/acme/docs/pull/259/files", Some("https://github.com/acme/docs/pulls")),
            ("https://git.example/a/b/-/merge_requests/7", Some("https://git.example/a/b/-/merge_requests")),
            ("https://git.example/a/b/merge_requests/7", Some("https://git.example/a/b/merge_requests")),
            ("https://bitbucket.org/a/b/pull-requests/7", Some("https://bitbucket.org/a/b/pull-requests")),
            ("https://git.example/a/b/pulls/7", Some("https://git.example/a/b/pulls")),
            ("https://git.example/a/b/changes/7", None),
            ("https://git.example/pull/x", None),
            ("javascript:/pull/1", None),
        ] {
            assert_eq!(pull_requests_of(one).as_deref(), all, "{one}");
        }
    }

    /// Every state, tracked or not, with and without a follow-up that is pending or was just accepted.
    #[test]
    fn job_has_ended_if_nothing_happens_without_a_person() {
        for state in JobState::ALL {
            for (tracked, awaits) in [(false, false), (false, true), (true, false), (true, true)] {
                let expected = match state.as_str() {
                    "queued" | "sending" | "active" => false,
                    "rejected" | "cancelled" | "unknown" => true,
                    "completed" | "archived" | "failed" => !awaits,
                    _ => !tracked && !awaits,
                };
                assert_eq!(has_ended(state, tracked, awaits), expected, "{state} {tracked} {awaits}");
            }
        }
    }

    #[test]
    fn only_http_urls_become_links() {
        assert!(safe_link("https://git.example/pull/1").is_some());
        assert!(safe_link("HTTP://git.example").is_some());
        for text in [
            "javascript:alert(1)",
            "data:text/html,x",
            "//evil.example",
            " https://x",
            "https://x\ny",
            "",
            "ftp://x",
            "java\nscript:alert(1)",
            "JAVASCRIPT:alert(1)//https://",
            "\u{1}https://x",
            "https://x/\u{85}",
            "https:/x",
        ] {
            assert_eq!(safe_link(text), None, "{text:?}");
        }
    }
}
