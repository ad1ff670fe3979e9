//! What the page of the notifications shows beside the jobs: their batches, which ones are archived, and how much is unread in each project.

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::archive_and_tags::ChosenIds;
use model::error::AppError;
use model::id::{BatchId, JobId, ProjectId};
use model::job::Job;
use model::job_list::{BatchSummary, Notifications};

impl Jobs {
    /// The batches of `jobs`, in no particular order.
    pub async fn batches_of(&self, jobs: &[Job]) -> Result<Vec<BatchSummary>, AppError> {
        let mut batches: Vec<BatchId> = jobs.iter().filter_map(|job| job.batch.clone()).collect();
        batches.sort();
        batches.dedup();
        Ok(self.store.batch_summaries(&batches).await?)
    }

    /// Removes the jobs that the caller archived after their last change.
    pub async fn without_archived(
        &self,
        caller: &Caller,
        listed: &mut Notifications,
    ) -> Result<(), AppError> {
        let jobs: Vec<JobId> = listed.new.iter().chain(&listed.earlier).map(|job| job.id.clone()).collect();
        let archived = self.store.archived_notifications(&caller.user.id, &jobs).await?;
        let is_listed = |job: &Job| archived.get(&job.id).is_none_or(|at| *at < job.changed_at);
        listed.new.retain(is_listed);
        listed.earlier.retain(is_listed);
        Ok(())
    }

    /// Archives the caller's notifications of `jobs` until these change again.
    pub async fn archive_notifications(
        &self,
        caller: &Caller,
        project: &ProjectId,
        ChosenIds(jobs): ChosenIds,
    ) -> Result<(), AppError> {
        Ok(self.store.archive_notifications(caller.authority(), &caller.user.id, project, &jobs).await?)
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
