//! Archiving, restoring, dismissing and tagging jobs in Docket. Nothing is sent to the platform.

use crate::caller::Caller;
use crate::jobs::find::{ChoiceError, job_ids};
use crate::jobs::{Jobs, filter};
use base::nfc::nfc;
use model::error::AppError;
use model::id::{JobId, ProjectId};
use model::job::{BulkResult, TimelineMark};

/// The maximum number of jobs that one call changes.
const SELECTED_MAX: usize = 1_000;

impl Jobs {
    /// The ids of the jobs that match the filters of a query string, comma-separated. Without filters, returns `ids`.
    pub async fn selected(
        &self,
        caller: &Caller,
        project: &ProjectId,
        ids: Option<String>,
        matching: Option<String>,
    ) -> Result<String, AppError> {
        let Some(query) = matching.filter(|query| !query.is_empty()) else {
            return Ok(ids.unwrap_or_default());
        };
        let filter = self.with_labels_of_pages(project, filter::of_selection(&query)?).await?;
        let permit = caller.query_permit().await?;
        let ids = self.store.ids(&permit, project, &filter, SELECTED_MAX + 1).await?;
        if ids.len() > SELECTED_MAX {
            return Err(ChoiceError::TooManyMatch { most: SELECTED_MAX }.into());
        }
        Ok(ids.join(","))
    }

    /// Archives, restores or dismisses the jobs with these comma-separated ids, or undoes their dismissal. Jobs that this
    /// does not apply to stay as they are.
    pub async fn mark(
        &self,
        mark: TimelineMark,
        caller: &Caller,
        project: &ProjectId,
        ids: &str,
    ) -> Result<BulkResult, AppError> {
        Ok(BulkResult { jobs: self.store.mark(caller.authority(), mark, project, &chosen(ids)?).await? })
    }

    pub async fn tag(
        &self,
        caller: &Caller,
        project: &ProjectId,
        ids: &str,
        tag: &str,
    ) -> Result<BulkResult, AppError> {
        let tag = nfc(tag).parse()?;
        Ok(BulkResult { jobs: self.store.tag(caller.authority(), project, &chosen(ids)?, &tag).await? })
    }

    pub async fn untag(
        &self,
        caller: &Caller,
        project: &ProjectId,
        ids: &str,
        tag: &str,
    ) -> Result<BulkResult, AppError> {
        let tag = nfc(tag).parse()?;
        Ok(BulkResult { jobs: self.store.untag(caller.authority(), project, &chosen(ids)?, &tag).await? })
    }
}

/// Parses at least one comma-separated id.
pub(super) fn chosen(ids: &str) -> Result<Vec<JobId>, ChoiceError> {
    let ids = job_ids(ids, SELECTED_MAX)?;
    if ids.is_empty() { Err(ChoiceError::None) } else { Ok(ids) }
}
