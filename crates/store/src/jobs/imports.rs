//! Imports jobs that were started elsewhere, to track them in Docket.

use sqlx::{Any, Transaction};

use super::lifecycle;
pub use super::lifecycle::NewImport;
use crate::{Authority, Change, Store, StoreError, word};
use model::id::{JobId, ProjectId};
use model::time::Timestamp;

impl Store {
    /// Stores an imported job and tracks it. Fails with a duplicate error if a job with the upstream's id exists, or with
    /// [`StoreError::OtherProject`] if that job belongs to another project.
    pub async fn import(
        &self,
        by: Authority<'_>,
        import: &NewImport<'_>,
        next_poll_at: Timestamp,
    ) -> Result<JobId, StoreError> {
        let Change { mut tx, now, .. } = self.write(by).begin().await?;
        must_be_of_no_other_project(&mut tx, import.project, &import.remote.id).await?;
        let job = lifecycle::import(&mut tx, import, next_poll_at, now).await?;
        tx.commit().await?;
        Ok(job)
    }
}

/// Fails if the platform's job belongs to another project. Call it in the transaction that tracks a job by an id from a person.
pub(crate) async fn must_be_of_no_other_project(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    remote_id: &str,
) -> Result<(), StoreError> {
    let other = sqlx::query("SELECT project, id FROM jobs WHERE remote_id = $1 AND project <> $2 LIMIT 1")
        .bind(remote_id)
        .bind(project.as_str())
        .fetch_optional(&mut **tx)
        .await?;
    match other {
        Some(row) => Err(StoreError::OtherProject(word(&row, "project")?, word(&row, "id")?)),
        None => Ok(()),
    }
}
