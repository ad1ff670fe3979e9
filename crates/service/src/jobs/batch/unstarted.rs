//! Prepared batches that are not started: listing and discarding one's own.

use crate::caller::Caller;
use crate::jobs::Jobs;
use model::batch::UnstartedBatch;
use model::error::{AppError, ErrorCode};
use model::id::{BatchId, ProjectId};

impl Jobs {
    /// The caller's prepared batches of the project that nobody started, newest first.
    pub async fn unstarted_batches(
        &self,
        caller: &Caller,
        project: &ProjectId,
    ) -> Result<Vec<UnstartedBatch>, AppError> {
        Ok(self.store.unstarted_batches(project, &caller.user.id, self.clock.now()).await?)
    }

    /// Deletes a prepared batch of the caller that nobody started.
    pub async fn discard_batch(
        &self,
        caller: &Caller,
        project: &ProjectId,
        batch: &BatchId,
    ) -> Result<(), AppError> {
        if self.store.discard_batch(caller.authority(), project, batch, &caller.user.id).await? {
            return Ok(());
        }
        match self.prepared(project, batch).await?.started_at {
            Some(_) => Err(AppError::new(
                ErrorCode::Conflict,
                "This batch was started. Open it to cancel its queued jobs.",
            )),
            None => Err(AppError::new(
                ErrorCode::Forbidden,
                "Someone else prepared this batch. Only that person can discard it.",
            )),
        }
    }
}
