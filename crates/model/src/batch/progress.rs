//! How far the jobs of a batch are. Pure.

use serde::{Deserialize, Serialize};

use crate::job::{Job, JobState};

/// Numbers of jobs. Each job is in `jobs`, and in one of `queued`, `running`, `completed`, `failed`, `rejected`, `unknown`,
/// `cancelled`, `archived`, `other` and `resolved`.
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
    pub fn of<'a>(jobs: impl Iterator<Item = &'a Job>) -> Self {
        let mut progress = Self::default();
        for job in jobs {
            if job.is_resolved() {
                progress.add_resolved(1);
                continue;
            }
            let has_request = job.badge().pr_link.is_some();
            progress.add(job.outcome(), 1);
            progress.lost += u64::from(job.state == JobState::Other && !job.is_moving());
            progress.pull_requests += u64::from(has_request);
            let is_unchanged = job.outcome() == JobState::Completed && !has_request && !job.is_direct;
            progress.no_changes += u64::from(is_unchanged);
        }
        progress
    }

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

    /// The jobs that change only through a person.
    pub const fn finished(&self) -> u64 {
        self.jobs - self.queued - self.running - (self.other - self.lost)
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
        let Progress { queued, running, completed, failed, rejected, unknown, cancelled, .. } = progress;
        let Progress { archived, other, resolved, .. } = progress;
        assert_eq!(
            queued
                + running
                + completed
                + failed
                + rejected
                + unknown
                + cancelled
                + archived
                + other
                + resolved,
            progress.jobs
        );
        assert_eq!((progress.jobs, progress.sent(), progress.finished()), (11, 9, 7));
        progress.lost = 1;
        assert_eq!((progress.jobs, progress.sent(), progress.finished()), (11, 9, 8), "it has ended");
    }
}
