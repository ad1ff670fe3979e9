//! What the page of the notifications shows beside the jobs: their batches, and how much is unread in each project.

use crate::caller::Caller;
use crate::jobs::Jobs;
use model::error::AppError;
use model::id::{BatchId, ProjectId};
use model::job::Job;
use model::job_list::BatchSummary;

impl Jobs {
    /// The batches of `jobs`, in no particular order.
    pub async fn batches_of(&self, jobs: &[Job]) -> Result<Vec<BatchSummary>, AppError> {
        let mut batches: Vec<BatchId> = jobs.iter().filter_map(|job| job.batch.clone()).collect();
        batches.sort();
        batches.dedup();
        Ok(self.store.batch_summaries(&batches).await?)
    }

    /// How many jobs ended or need attention in each of `projects` since the caller last looked: of everyone for people who start no jobs, else the caller's own.
    pub async fn unread_in(&self, caller: &Caller, projects: &[ProjectId]) -> Result<Vec<u32>, AppError> {
        let (reader, now) = (caller.reader(), self.clock.now());
        let mut unread = Vec::with_capacity(projects.len());
        for project in projects {
            unread.push(self.store.revision(project, &reader, now).await?.1.jobs);
        }
        Ok(unread)
    }
}
