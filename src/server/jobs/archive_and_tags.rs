//! Archiving, restoring and tagging jobs in Docket. Must not send anything.

use crate::error::AppError;
use crate::model::id::{JobId, ProjectId};
use crate::model::job::BulkResult;
use crate::server::auth::guard::Caller;
use crate::server::jobs::Jobs;
use crate::server::jobs::find::job_ids;

impl Jobs {
    /// Archives the jobs with these comma-separated ids.
    pub async fn archive(
        &self,
        caller: &Caller,
        project: &ProjectId,
        ids: &str,
    ) -> Result<BulkResult, AppError> {
        let jobs = self.store.archive_here(project, &chosen(ids)?, &caller.user, self.clock.now()).await?;
        Ok(BulkResult { jobs })
    }

    /// Restores the jobs with these comma-separated ids.
    pub async fn unarchive(
        &self,
        caller: &Caller,
        project: &ProjectId,
        ids: &str,
    ) -> Result<BulkResult, AppError> {
        let jobs = self.store.unarchive_here(project, &chosen(ids)?, &caller.user, self.clock.now()).await?;
        Ok(BulkResult { jobs })
    }

    pub async fn tag(&self, project: &ProjectId, ids: &str, tag: &str) -> Result<BulkResult, AppError> {
        let tag = tag.parse().map_err(AppError::bad_input)?;
        Ok(BulkResult { jobs: self.store.tag(project, &chosen(ids)?, &tag).await? })
    }

    pub async fn untag(&self, project: &ProjectId, ids: &str, tag: &str) -> Result<BulkResult, AppError> {
        let tag = tag.parse().map_err(AppError::bad_input)?;
        Ok(BulkResult { jobs: self.store.untag(project, &chosen(ids)?, &tag).await? })
    }
}

/// Parses at least one comma-separated id.
fn chosen(ids: &str) -> Result<Vec<JobId>, AppError> {
    let ids = job_ids(ids)?;
    if ids.is_empty() { Err(AppError::bad_input("Choose at least one job.")) } else { Ok(ids) }
}
