//! Jobs, their conversation and their states. Pure: what a state *is*, never how it is stored or sent.

mod state;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::id::{BatchId, IntentId, JobId, ProjectId};
use crate::model::saved_template::UsedTemplate;
use crate::model::time::Timestamp;

pub use state::{DeliveryState, JobState};

/// A job as the ledger has it: what was asked, by whom, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub id: JobId,
    pub project: ProjectId,
    /// As typed; cut to [`EXCERPT_CHARS`] characters in lists.
    pub prompt: String,
    pub author: String,
    pub state: JobState,
    /// Why the state is what it is, as a sentence, where there is something to say.
    pub reason: Option<String>,
    pub created_at: Timestamp,
    /// When `state` or `remote` last changed.
    pub changed_at: Timestamp,
    /// Whether the upstream is still asked about it.
    #[serde(default)]
    pub followed: bool,
    /// What the upstream last said; nothing until it accepted the job.
    pub remote: Option<RemoteJob>,
    /// Oldest first; prompts are cut in lists like the job's own.
    pub follow_ups: Vec<FollowUp>,
    /// Paths of the documentation pages the job is about.
    pub paths: Vec<String>,
    /// How often a person had the first prompt sent again.
    #[serde(default)]
    pub attempt: u32,
    /// The batch it was made by, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
    /// The template it came from; left out in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<UsedTemplate>,
    /// Free words that people gave it, by name.
    pub tags: Vec<String>,
    /// When and by whom it was put away here; the upstream hears nothing of that.
    pub archived_here: Option<LocalArchive>,
    /// Oldest first; empty in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<TimelineEntry>,
}

/// The upstream's own job object, as last read. Everything but `id` and `status` may be missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteJob {
    pub id: String,
    /// The raw word of the upstream.
    pub status: String,
    pub model: Option<String>,
    pub repository: Option<String>,
    #[serde(rename = "ref")]
    pub git_ref: Option<String>,
    pub pr_link: Option<String>,
    pub created_at: Option<Timestamp>,
    pub archived_at: Option<Timestamp>,
}

/// That a person put a job away, out of the list, until somebody brings it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalArchive {
    pub at: Timestamp,
    pub by: String,
}

/// A further prompt sent to a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FollowUp {
    pub prompt: String,
    pub author: String,
    pub state: DeliveryState,
    pub reason: Option<String>,
    pub created_at: Timestamp,
    /// How often a person had it sent again.
    #[serde(default)]
    pub attempt: u32,
}

/// One line of a job's history: at this instant the state became this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimelineEntry {
    pub at: Timestamp,
    /// 0 for the job itself, n for its n-th follow-up.
    pub message: u32,
    /// A [`JobState`], a [`DeliveryState`] or the upstream's raw status, as a word.
    pub state: String,
    pub detail: Option<String>,
}

/// What a badge needs to stay true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobBadge {
    pub id: JobId,
    pub state: JobState,
    /// The upstream's raw word, for [`JobState::Other`].
    pub status: Option<String>,
    pub pr_link: Option<String>,
    pub changed_at: Timestamp,
    /// As [`Job::followed`].
    #[serde(default)]
    pub followed: bool,
}

/// One page of the list of jobs, in the order that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobPage {
    pub jobs: Vec<Job>,
    /// Pass it as `cursor` to get the page after this one.
    pub next: Option<String>,
    /// Pass it as `cursor` to get the page before this one.
    pub previous: Option<String>,
    /// How many jobs come before this page.
    pub before: u64,
    /// Jobs on all pages together. Those that came after the first page was asked for are not among them.
    pub total: u64,
    /// Jobs per state under the same other filters, whatever the state filter; states without jobs are left out.
    pub counts: BTreeMap<JobState, u64>,
    /// How many of those counted need a person.
    pub attention: u64,
}

/// What the overview shows of a project's jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobsOverview {
    /// The newest that the agent works on.
    pub running: Vec<Job>,
    /// The newest that need a person, however old they are.
    pub needing: Vec<Job>,
    /// With a pull request, what changed last first.
    pub finished: Vec<Job>,
    /// All jobs that are not archived here, per state; states without jobs are left out.
    pub counts: BTreeMap<JobState, u64>,
    /// How many of those counted need a person.
    pub attention: u64,
}

/// What putting away, bringing back, tagging or untagging came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkResult {
    /// The jobs that changed; those that already were as asked are not among them.
    pub jobs: Vec<JobId>,
}

/// What a form starts from when it is rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobForm {
    /// Sent along with the form, so that posting it twice starts one job.
    pub intent: IntentId,
    /// What this person wrote and has not sent, in whatever browser; empty where there is none.
    pub draft: String,
    /// What stood in the field for pages then.
    pub draft_paths: String,
    /// The id of the template the draft came from; empty is none.
    pub draft_template: String,
    /// When the server got the draft, by its clock.
    pub draft_saved_at: Option<Timestamp>,
    /// The longest prompt, in characters.
    pub prompt_max: u32,
}

/// That a draft is kept, or that there is none any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftKept {
    /// By the server's clock.
    pub saved_at: Option<Timestamp>,
}

/// Shown as the status of a job that the upstream no longer knows.
pub const NOT_FOUND: &str = "not found";

/// Shown as the status of a job that was tracked for three days without an end.
pub const NO_END: &str = "no end";

/// How much of a prompt a list shows, in characters.
pub const EXCERPT_CHARS: usize = 280;

impl Job {
    /// The first line of the prompt that says something.
    pub fn title(&self) -> &str {
        title(&self.prompt)
    }

    /// Whether it will still change by itself.
    pub fn is_moving(&self) -> bool {
        moves(self.state, self.followed)
    }

    pub fn badge(&self) -> JobBadge {
        JobBadge {
            id: self.id.clone(),
            state: self.state,
            status: self.remote.as_ref().map(|remote| remote.status.clone()),
            pr_link: self.remote.as_ref().and_then(|remote| remote.pr_link.clone()),
            changed_at: self.changed_at,
            followed: self.followed,
        }
    }
}

/// `text` cut to [`EXCERPT_CHARS`] characters.
pub fn cut(text: &mut String) {
    if let Some((at, _)) = text.char_indices().nth(EXCERPT_CHARS) {
        text.truncate(at);
        text.push('…');
    }
}

impl JobBadge {
    /// Whether it will still change by itself.
    pub fn is_moving(&self) -> bool {
        moves(self.state, self.followed)
    }
}

/// A status that nobody published may end in anything, but only if somebody asks on.
const fn moves(state: JobState, followed: bool) -> bool {
    match state {
        JobState::Other => followed,
        state => state.is_moving(),
    }
}

/// The first line of a prompt that says something.
pub fn title(prompt: &str) -> &str {
    prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(no text)")
}

/// `link` if a browser may follow it: an absolute http or https address. Anything else is text.
pub fn safe_link(link: &str) -> Option<&str> {
    let plain = !link.chars().any(|c| c.is_control() || c.is_whitespace());
    let lower = link.get(..8).unwrap_or(link).to_ascii_lowercase();
    (plain && (lower.starts_with("https://") || lower.starts_with("http://"))).then_some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_become_links() {
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
