//! Importing jobs that were started elsewhere, to track them in Docket.

use super::{Store, StoreError, audit, jobs, new_id};
use crate::model::audit::{Action, Actor, AuditEvent};
use crate::model::id::{JobId, ProjectId};
use crate::model::job::{DeliveryState, JobState, RemoteJob};
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
        let id = new_id();
        let job: JobId = id.parse().map_err(|_| StoreError::Corrupt(format!("“{id}” as a new id")))?;
        let mut tx = self.begin().await?;
        sqlx::query(
            "INSERT INTO jobs (id, project, state, created_at, changed_at) VALUES ($1, $2, $3, $4, $4)",
        )
        .bind(&id)
        .bind(import.project.as_str())
        .bind(JobState::Sending.as_str())
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        sqlx::query(
            "INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at, settled_at)
             VALUES ($1, $2, 0, $3, $1, $4, $5, $6, $6, $6)",
        )
        .bind(new_id())
        .bind(&id)
        .bind(&import.author.id)
        .bind(import.text)
        .bind(DeliveryState::Accepted.as_str())
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        jobs::track(&mut tx, &job, import.remote, next_poll_at, now).await?;
        jobs::record_event(&mut tx, &id, 0, now, DeliveryState::Accepted.as_str(), Some(import.note)).await?;
        let event = AuditEvent::new(Action::Import).in_project(import.project).on(&job);
        audit::commit(tx, import.author, &event, now).await?;
        Ok(job)
    }
}
