//! The steps of a job. Until the platform accepted it, its state is that of its first prompt. Afterwards its state is derived
//! from the platform's status.

use super::DeliveryStep;
use crate::job::{DeliveryState, JobState};

/// What happens to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobStep {
    /// A step of its first prompt.
    FirstPrompt(DeliveryStep),
    /// The platform accepted a follow-up and responded with the job.
    Response,
    /// A poll returned the job.
    Poll,
    /// Docket stops tracking it: the job no longer exists on the platform, or did not finish in time.
    GiveUp,
}

impl JobStep {
    /// The state after the step, with the platform's status if it has one; `None` if the step is refused.
    pub fn after(self, before: Option<JobState>, status: Option<&str>) -> Option<JobState> {
        match self {
            Self::FirstPrompt(DeliveryStep::RejectFollowUp) => None,
            Self::FirstPrompt(step) => {
                let row = step.row();
                let is_possible = before.map_or(row.from.is_empty(), |before| {
                    row.from.iter().any(|delivery| JobState::of(*delivery, None) == before)
                });
                is_possible.then(|| JobState::of(row.to, status))
            }
            Self::Response | Self::Poll => {
                before.filter(|before| before.is_accepted())?;
                Some(JobState::of(DeliveryState::Accepted, status))
            }
            Self::GiveUp => before.filter(|before| before.is_accepted()).map(|_| JobState::Other),
        }
    }

    /// Whether webhooks report the new state: the step finished the job or found its unknown outcome, or the platform reports another end than before,
    /// except that it archived the job. A sender's late report that the outcome is unknown is not reported, because webhooks reported it before.
    pub const fn is_reported(self, before: JobState, after: JobState) -> bool {
        match self {
            Self::GiveUp => true,
            Self::FirstPrompt(_) => {
                !after.is_moving() && !matches!((before, after), (JobState::Unknown, JobState::Unknown))
            }
            Self::Response | Self::Poll => {
                !after.is_moving() && (before.is_moving() || before.is_other_end(after))
            }
        }
    }
}

impl JobState {
    /// Whether `after` is another end than this one. Archiving changes no outcome.
    const fn is_other_end(self, after: Self) -> bool {
        matches!(
            (self, after),
            (Self::Completed | Self::Archived, Self::Failed)
                | (Self::Failed | Self::Archived, Self::Completed)
        )
    }

    /// Whether the platform accepted a job in this state.
    pub const fn is_accepted(self) -> bool {
        matches!(self, Self::Active | Self::Completed | Self::Archived | Self::Failed | Self::Other)
    }

    /// Whether the change to `after` shows that the platform works on a follow-up: the job had ended before. If it had not, the new state may be the end
    /// of an earlier prompt. Archiving a job is no work.
    pub fn shows_follow_up(self, after: Self) -> bool {
        !self.is_moving() && after != self && after != Self::Archived
    }

    /// Whether a job in this state accepts follow-ups: the platform accepted the job, or may do so without a person. A
    /// follow-up waits while the first prompt is not sent.
    pub const fn accepts_follow_ups(self) -> bool {
        matches!(self, Self::Queued | Self::Sending) || self.is_accepted()
    }
}
