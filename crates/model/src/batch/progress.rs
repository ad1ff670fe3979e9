//! How far the jobs of a batch are. Pure.

use serde::{Deserialize, Serialize};

use crate::job::JobState;

/// Numbers of jobs. Each job is in `jobs`, and in one of `queued`, `running`, `completed`, `failed`, `rejected`, `unknown`,
/// `cancelled`, `archived`, `other` and `resolved`. A job without a pull request that was run again counts with the outcome of its last retry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub jobs: u64,
    pub queued: u64,
    /// Being sent, or active.
    pub running: u64,
    /// With or without changes, even if archived later.
    pub completed: u64,
    /// Archived on the platform, and Docket saw no outcome before.
    #[serde(default)]
    pub archived: u64,
    pub failed: u64,
    pub rejected: u64,
    pub unknown: u64,
    pub cancelled: u64,
    /// With a status that Docket does not recognize, or that Docket stopped tracking.
    pub other: u64,
    /// The part of `other` that has ended, because Docket stopped tracking it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Jobs without a pull request whose retry outside the batch opened one.
    pub resolved: u64,
    /// Jobs that opened a pull request.
    pub pull_requests: u64,
    /// The part of `completed` that changed nothing.
    pub no_changes: u64,
}

impl Progress {
    /// Adds `jobs` jobs in this state, or with this outcome of an archived job.
    pub fn add(&mut self, state: JobState, jobs: u64) {
        self.jobs += jobs;
        *match state {
            JobState::Queued => &mut self.queued,
            JobState::Sending | JobState::Active => &mut self.running,
            JobState::Completed => &mut self.completed,
            JobState::Archived => &mut self.archived,
            JobState::Failed => &mut self.failed,
            JobState::Rejected => &mut self.rejected,
            JobState::Unknown => &mut self.unknown,
            JobState::Cancelled => &mut self.cancelled,
            JobState::Other => &mut self.other,
        } += jobs;
    }

    /// Adds `jobs` jobs that a retry outside the batch resolved.
    pub fn add_resolved(&mut self, jobs: u64) {
        self.jobs += jobs;
        self.resolved += jobs;
    }

    /// The jobs whose prompt was sent, whatever the outcome.
    pub const fn sent(&self) -> u64 {
        self.jobs - self.queued - self.cancelled
    }

    /// The part of the jobs that changed pages, or whose retry did.
    pub const fn finished(&self) -> u64 {
        self.completed - self.no_changes + self.resolved
    }

    /// The jobs by outcome. Each job is in one part.
    pub const fn parts(&self) -> [(Part, u64); 11] {
        [
            (Part::Running, self.running),
            (Part::Finished, self.finished()),
            (Part::Failed, self.failed),
            (Part::NoChanges, self.no_changes),
            (Part::Rejected, self.rejected),
            (Part::Unknown, self.unknown),
            (Part::Queued, self.queued),
            (Part::Cancelled, self.cancelled),
            (Part::Archived, self.archived),
            (Part::Lost, self.lost),
            (Part::Other, self.other - self.lost),
        ]
    }
}

/// A part of the jobs of a batch. Its text is the label after its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
pub enum Part {
    #[strum(serialize = "running")]
    Running,
    #[strum(serialize = "finished")]
    Finished,
    #[strum(serialize = "failed")]
    Failed,
    #[strum(serialize = "no changes")]
    NoChanges,
    #[strum(serialize = "rejected")]
    Rejected,
    #[strum(serialize = "outcome unknown")]
    Unknown,
    #[strum(serialize = "queued")]
    Queued,
    #[strum(serialize = "cancelled")]
    Cancelled,
    #[strum(serialize = "archived")]
    Archived,
    #[strum(serialize = "no longer tracked")]
    Lost,
    #[strum(serialize = "other")]
    Other,
}

impl Part {
    pub fn label(self) -> &'static str {
        self.into()
    }

    /// Whether a person should look at these jobs.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Rejected | Self::Unknown)
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    #[test]
    fn every_job_is_counted_once() {
        let mut progress = Progress::default();
        for state in JobState::VARIANTS {
            progress.add(*state, 1);
        }
        progress.add_resolved(1);
        (progress.no_changes, progress.lost) = (1, 1);
        assert_eq!(progress.parts().iter().map(|(_, jobs)| jobs).sum::<u64>(), progress.jobs);
        assert_eq!((progress.jobs, progress.sent(), progress.finished()), (11, 9, 1));
    }
}
