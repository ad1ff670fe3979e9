//! Which jobs need a person's attention.

use crate::job::{JobState, NO_END, NOT_FOUND};

/// When a job in a state needs attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    Always,
    Never,
    /// If its agent opened no pull request in a project that uses them, or because of its follow-ups.
    WithoutPullRequest,
    /// If Docket stopped tracking it, or because of its follow-ups.
    WhenLost,
    /// If the outcome of a follow-up is unknown, or the last follow-up was not accepted. A later follow-up replaces a rejected
    /// one.
    ForFollowUps,
}

/// The facts that decide whether a job needs attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub state: JobState,
    pub is_archived: bool,
    pub is_dismissed: bool,
    /// A retry opened a pull request.
    pub is_resolved: bool,
    pub has_pull_request: bool,
    /// The platform publishes the changes of its project without pull requests.
    pub is_direct: bool,
    pub is_lost: bool,
    /// The outcome of one of its prompts is unknown.
    pub has_unknown_delivery: bool,
    /// Its last prompt was rejected.
    pub last_was_rejected: bool,
}

impl JobState {
    pub const fn attention(self) -> Attention {
        match self {
            Self::Unknown | Self::Failed | Self::Rejected => Attention::Always,
            Self::Cancelled => Attention::Never,
            Self::Completed => Attention::WithoutPullRequest,
            Self::Other => Attention::WhenLost,
            Self::Queued | Self::Sending | Self::Active | Self::Archived => Attention::ForFollowUps,
        }
    }
}

impl Standing {
    pub const fn needs_attention(self) -> bool {
        let for_follow_ups = self.has_unknown_delivery || self.last_was_rejected;
        !self.is_archived
            && !self.is_dismissed
            && !self.is_resolved
            && match self.state.attention() {
                Attention::Always => true,
                Attention::Never => false,
                Attention::WithoutPullRequest => !(self.has_pull_request || self.is_direct) || for_follow_ups,
                Attention::WhenLost => self.is_lost || for_follow_ups,
                Attention::ForFollowUps => for_follow_ups,
            }
    }

    /// Whether the job's status means that Docket stopped tracking it.
    pub fn is_lost(status: Option<&str>) -> bool {
        matches!(status, Some(NOT_FOUND | NO_END))
    }
}
