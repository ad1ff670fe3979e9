//! Importing jobs that were started elsewhere, to track them in Docket.

use super::{Store, StoreError, lifecycle};
use crate::model::audit::Actor;
use crate::model::id::{JobId, ProjectId};
use crate::model::job::RemoteJob;
use crate::model::time::Timestamp;

/// A job to import.
pub struct NewImport<'a> {
    pub project: &'a ProjectId,
    pub author: &'a Actor,
    /// Replaces the prompt, which is not known.
    pub text: &'a str,
    pub remote: &'a RemoteJob,
    /// An entry for the timeline.
    pub note: &'a str,
}

impl Store {
    /// Stores an imported job and tracks it. Fails with a duplicate if another job has the upstream's id.
    pub async fn import(
        &self,
        import: &NewImport<'_>,
        next_poll_at: Timestamp,
        now: Timestamp,
    ) -> Result<JobId, StoreError> {
        let mut tx = self.begin().await?;
        let what = (import.project, import.author, import.text);
        let job = lifecycle::import(&mut tx, what, import.remote, import.note, next_poll_at, now).await?;
        tx.commit().await?;
        Ok(job)
    }
}
