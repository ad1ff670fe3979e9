//! People's decisions about deliveries with an unknown outcome. Each decision counts once: it names its attempt, and
//! only sending again starts another one.

use sqlx::{Any, AssertSqlSafe, Transaction};

use super::{Store, StoreError, audit, intents, jobs, parsed, queue, webhook_events};
use crate::model::audit::{Action, Actor, AuditEvent};
use crate::model::id::{JobId, ProjectId};
use crate::model::job::{DeliveryState, RemoteJob};
use crate::model::time::Timestamp;
use crate::server::store::intents::Intent;

/// A delivery with an unknown outcome, and who resolves it.
pub struct UnresolvedDelivery<'a> {
    pub by: &'a Actor,
    pub project: &'a ProjectId,
    pub job: &'a JobId,
    pub position: i64,
    /// The attempt when the form was rendered.
    pub attempt: i64,
}

/// What an accepted delivery is: a job, with the upstream's job object, or a follow-up.
pub enum AcceptedAs<'a> {
    Job(&'a RemoteJob),
    FollowUp,
}

impl Store {
    /// The message of a job at a position.
    pub async fn message_at(
        &self,
        project: &ProjectId,
        job: &JobId,
        position: i64,
    ) -> Result<Option<Intent>, StoreError> {
        let row = sqlx::query(AssertSqlSafe(format!(
            "{} WHERE j.project = $1 AND m.job_id = $2 AND m.position = $3",
            intents::SELECT_INTENT
        )))
        .bind(project.as_str())
        .bind(job.as_str())
        .bind(position)
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(intents::from_row).transpose()
    }

    /// Docket's job with the upstream's id, if any.
    pub async fn job_of_remote(
        &self,
        project: &ProjectId,
        remote_id: &str,
    ) -> Result<Option<JobId>, StoreError> {
        let id: Option<String> =
            sqlx::query_scalar("SELECT id FROM jobs WHERE project = $1 AND remote_id = $2")
                .bind(project.as_str())
                .bind(remote_id)
                .fetch_optional(&self.pool)
                .await?;
        id.map(|id| parsed(&id, "id")).transpose()
    }

    /// Queues a message again that was not accepted; `false` if it was resolved already.
    pub async fn send_again(
        &self,
        delivery: &UnresolvedDelivery<'_>,
        note: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let queued = format!(
            "state = 'queued', reason = NULL, attempt = attempt + 1, in_line = 0, due_at = $4, sent_at = NULL,
             settled_at = NULL, rank = {}",
            queue::LAST_RANK
        );
        if !delivery.end(&mut tx, &queued, now).await? {
            return Ok(false);
        }
        let intent = delivery.decided(DeliveryState::Queued);
        intents::record_state(&mut tx, &intent, DeliveryState::Queued, Some(note), now).await?;
        // The note belongs to the timeline, not to the job.
        sqlx::query("UPDATE jobs SET reason = NULL WHERE id = $1 AND state = 'queued'")
            .bind(delivery.job.as_str())
            .execute(&mut *tx)
            .await?;
        audit::commit(tx, delivery.by, &delivery.event(Action::Resend), now).await?;
        Ok(true)
    }

    /// Records that a message was accepted, and tracks its job; `false` if it was resolved already.
    pub async fn mark_accepted(
        &self,
        delivery: &UnresolvedDelivery<'_>,
        accepted_as: AcceptedAs<'_>,
        note: &str,
        next_poll_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        if !delivery.end(&mut tx, "state = 'accepted', reason = NULL, settled_at = $4", now).await? {
            return Ok(false);
        }
        if let AcceptedAs::Job(remote) = accepted_as {
            jobs::write_remote(&mut tx, delivery.job, remote, now).await?;
        }
        jobs::track_from(&mut tx, delivery.job, next_poll_at, now).await?;
        let intent = delivery.decided(DeliveryState::Accepted);
        intents::record_state(&mut tx, &intent, DeliveryState::Accepted, Some(note), now).await?;
        if let AcceptedAs::Job(remote) = accepted_as
            && !jobs::state(&mut tx, delivery.job).await?.is_moving()
        {
            jobs::record_status(&mut tx, delivery.job, delivery.position, now, remote).await?;
            webhook_events::job_finished(&mut tx, delivery.job, now).await?;
        }
        audit::commit(tx, delivery.by, &delivery.event(Action::Resolve), now).await?;
        Ok(true)
    }
}

impl UnresolvedDelivery<'_> {
    /// Updates the unresolved message with `set`, in which `$4` is now; `false` if it was resolved already.
    async fn end(
        &self,
        tx: &mut Transaction<'static, Any>,
        set: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = format!(
            "UPDATE messages SET {set} WHERE job_id = $1 AND position = $2 AND attempt = $3 AND state = 'unknown'"
        );
        let ended = sqlx::query(AssertSqlSafe(sql))
            .bind(self.job.as_str())
            .bind(self.position)
            .bind(self.attempt)
            .bind(now.as_millis())
            .execute(&mut **tx)
            .await?;
        Ok(ended.rows_affected() == 1)
    }

    fn event(&self, action: Action) -> AuditEvent {
        AuditEvent::new(action).in_project(self.project).on(self.job)
    }

    fn decided(&self, state: DeliveryState) -> Intent {
        Intent {
            message_id: String::new(),
            job: self.job.clone(),
            project: self.project.clone(),
            position: self.position,
            prompt: String::new(),
            state,
            attempt: self.attempt,
            in_queue: false,
        }
    }
}
