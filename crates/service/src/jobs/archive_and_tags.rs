//! Archiving, restoring, dismissing and tagging jobs in Docket. Nothing is sent to the platform.

use std::str::FromStr;

use crate::caller::Caller;
use crate::jobs::find::{ChoiceError, job_ids};
use crate::jobs::{Jobs, filter};
use model::error::AppError;
use model::id::{JobId, ProjectId};
use model::job::{BulkResult, TimelineMark};
use model::tag::Tag;

/// The maximum number of jobs that one call changes.
const SELECTED_MAX: usize = 1_000;

/// From 1 to 1,000 jobs.
pub struct ChosenIds(pub(super) Vec<JobId>);

impl FromStr for ChosenIds {
    type Err = ChoiceError;

    /// Parses comma-separated ids.
    fn from_str(ids: &str) -> Result<Self, ChoiceError> {
        let ids = job_ids(ids, SELECTED_MAX)?;
        if ids.is_empty() { Err(ChoiceError::None) } else { Ok(Self(ids)) }
    }
}

/// The jobs that an action is for.
pub enum ChosenJobs {
    Ids(ChosenIds),
    /// All that match the query string of a list, and how many it showed, if that must not have changed.
    Matching(String, Option<u64>),
}

impl ChosenJobs {
    /// Takes the query string of a list, or without one parses the comma-separated ids.
    pub fn parse(ids: Option<&str>, matching: Option<&str>, shown: Option<u64>) -> Result<Self, AppError> {
        match matching.filter(|query| !query.is_empty()) {
            Some(query) => Ok(Self::Matching(query.to_owned(), shown)),
            None => Ok(Self::Ids(ids.unwrap_or_default().parse()?)),
        }
    }
}

impl From<JobId> for ChosenJobs {
    fn from(job: JobId) -> Self {
        Self::Ids(ChosenIds(vec![job]))
    }
}

impl Jobs {
    /// Archives, restores or dismisses jobs, or undoes their dismissal. Jobs that this does not apply to stay as they
    /// are.
    pub async fn mark(
        &self,
        mark: TimelineMark,
        caller: &Caller,
        project: &ProjectId,
        jobs: ChosenJobs,
    ) -> Result<BulkResult, AppError> {
        let ChosenIds(ids) = self.chosen(caller, project, jobs).await?;
        Ok(BulkResult { jobs: self.store.mark(caller.authority(), mark, project, &ids).await? })
    }

    pub async fn tag(
        &self,
        caller: &Caller,
        project: &ProjectId,
        jobs: ChosenJobs,
        tag: &Tag,
    ) -> Result<BulkResult, AppError> {
        let ChosenIds(ids) = self.chosen(caller, project, jobs).await?;
        Ok(BulkResult { jobs: self.store.tag(caller.authority(), project, &ids, tag).await? })
    }

    pub async fn untag(
        &self,
        caller: &Caller,
        project: &ProjectId,
        jobs: ChosenJobs,
        tag: &Tag,
    ) -> Result<BulkResult, AppError> {
        let ChosenIds(ids) = self.chosen(caller, project, jobs).await?;
        Ok(BulkResult { jobs: self.store.untag(caller.authority(), project, &ids, tag).await? })
    }

    async fn chosen(
        &self,
        caller: &Caller,
        project: &ProjectId,
        jobs: ChosenJobs,
    ) -> Result<ChosenIds, AppError> {
        let (filter, shown) = match jobs {
            ChosenJobs::Ids(ids) => return Ok(ids),
            ChosenJobs::Matching(query, shown) => {
                let filter = filter::of_selection(&query, self.today())?;
                (self.with_labels_of_pages(project, filter).await?, shown)
            }
        };
        let permit = caller.query_permit().await?;
        let ids = self.store.ids(&permit, project, &filter, SELECTED_MAX + 1).await?;
        let now = ids.len() as u64;
        match shown.filter(|shown| *shown != now) {
            _ if ids.len() > SELECTED_MAX => Err(ChoiceError::TooManyMatch { most: SELECTED_MAX }.into()),
            Some(shown) => Err(ChoiceError::Changed { shown, now }.into()),
            None if ids.is_empty() => Err(ChoiceError::None.into()),
            None => Ok(ChosenIds(ids)),
        }
    }
}
