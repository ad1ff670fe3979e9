//! People's decisions about deliveries with an unknown outcome. Each decision applies once: it names its attempt, and only sending again starts
//! another one.

use sqlx::{AnyConnection, AssertSqlSafe};

use super::intents::CommittedPrompt;
use super::lifecycle::{Acceptance, Transition};
use super::messages::{Intent, SELECT_INTENT};
use super::{details, imports, lifecycle, messages};
use crate::{Authority, Change, Store, StoreError, parsed};
use model::id::{JobId, MessageId, ProjectId};
use model::job::{RemoteJob, SENT_AGAIN_MAX};
use model::lifecycle::DeliveryStep;
use model::time::Timestamp;

/// A delivery with an unknown outcome.
pub struct UnresolvedDelivery<'a> {
    pub project: &'a ProjectId,
    pub job: &'a JobId,
    pub position: i64,
    /// The attempt when the form was rendered.
    pub attempt: i64,
}

/// An accepted delivery: a job, with the upstream's job object, or a follow-up.
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
        find(&mut *self.pool.acquire().await?, project, job, position).await
    }

    /// The follow-up of a job with this id.
    pub async fn follow_up(
        &self,
        project: &ProjectId,
        job: &JobId,
        id: &MessageId,
    ) -> Result<Option<Intent>, StoreError> {
        let row = sqlx::query(AssertSqlSafe(format!(
            "{SELECT_INTENT} WHERE j.project = $1 AND m.job_id = $2 AND m.id = $3 AND m.position > 0"
        )))
        .bind(project.as_str())
        .bind(job.as_str())
        .bind(id.as_str())
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(messages::intent).transpose()
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

    /// Queues a message with an unknown outcome again, and returns it with its job; `None` if it was resolved already.
    pub async fn send_again(
        &self,
        by: Authority<'_>,
        delivery: &UnresolvedDelivery<'_>,
        note: &str,
    ) -> Result<Option<CommittedPrompt>, StoreError> {
        self.resolve(by, delivery, Transition::new(DeliveryStep::SendAgain).noted(note), None).await
    }

    /// Queues the first prompts of all jobs again that are not archived and whose outcome is unknown since `as_of` or earlier, the oldest first, up to
    /// [`SENT_AGAIN_MAX`]. Returns the jobs.
    pub async fn send_all_again(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        as_of: Timestamp,
        note: &str,
    ) -> Result<Vec<JobId>, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let rows = sqlx::query(AssertSqlSafe(format!(
            "{SELECT_INTENT} WHERE j.project = $1 AND m.position = 0 AND m.state = 'unknown' AND m.outcome_at <= $2
             AND j.archived_here_at IS NULL
             ORDER BY m.id LIMIT {SENT_AGAIN_MAX}"
        )))
        .bind(project.as_str())
        .bind(as_of.as_millis())
        .fetch_all(&mut *tx)
        .await?;
        let transition = Transition::new(DeliveryStep::SendAgain).noted(note).by(&by).in_queue();
        let mut jobs = Vec::new();
        for row in &rows {
            let intent = messages::intent(row)?;
            if lifecycle::apply(&mut tx, &intent, &transition, now).await? {
                jobs.push(intent.job);
            }
        }
        tx.commit().await?;
        Ok(jobs)
    }

    /// Records that a message was accepted, tracks its job, and returns both; `None` if it was resolved already. Fails as [`Store::import`] does.
    pub async fn mark_accepted(
        &self,
        by: Authority<'_>,
        delivery: &UnresolvedDelivery<'_>,
        accepted_as: AcceptedAs<'_>,
        note: &str,
        next_poll_at: Timestamp,
    ) -> Result<Option<CommittedPrompt>, StoreError> {
        let remote = match accepted_as {
            AcceptedAs::Job(remote) => Some(remote),
            AcceptedAs::FollowUp => None,
        };
        let transition = Transition::new(DeliveryStep::MarkAccepted).noted(note);
        self.resolve(by, delivery, transition.with(Acceptance { remote, next_poll_at }), remote).await
    }

    async fn resolve(
        &self,
        by: Authority<'_>,
        delivery: &UnresolvedDelivery<'_>,
        transition: Transition<'_>,
        named: Option<&RemoteJob>,
    ) -> Result<Option<CommittedPrompt>, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let found = find(&mut tx, delivery.project, delivery.job, delivery.position).await?;
        let Some(intent) = found.filter(|intent| intent.attempt == delivery.attempt) else {
            return Ok(None);
        };
        if let Some(remote) = named {
            imports::must_be_of_no_other_project(&mut tx, delivery.project, &remote.id).await?;
        }
        if !lifecycle::apply(&mut tx, &intent, &transition.by(&by), now).await? {
            return Ok(None);
        }
        let job = details::job_in(&mut tx, self.dialect, delivery.project, delivery.job).await?;
        tx.commit().await?;
        Ok(Some(CommittedPrompt { message_id: intent.message_id, job }))
    }
}

async fn find(
    connection: &mut AnyConnection,
    project: &ProjectId,
    job: &JobId,
    position: i64,
) -> Result<Option<Intent>, StoreError> {
    let row = sqlx::query(AssertSqlSafe(format!(
        "{SELECT_INTENT} WHERE j.project = $1 AND m.job_id = $2 AND m.position = $3"
    )))
    .bind(project.as_str())
    .bind(job.as_str())
    .bind(position)
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(messages::intent).transpose()
}
