//! Intents: prompts committed before anything is sent, claimed by exactly one sender, with one recorded outcome.

mod commit;

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::{Store, StoreError, budget, jobs, queue, webhook_events, word};
use crate::model::id::{IntentId, JobId, ProjectId};
use crate::model::job::{DeliveryState, JobState, RemoteJob};
use crate::model::time::Timestamp;

pub use commit::NewIntent;
pub(super) use commit::{Scheduling, insert};

/// A committed intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub message_id: String,
    pub job: JobId,
    pub project: ProjectId,
    /// 0 for the first prompt of the job, n for its n-th follow-up.
    pub position: i64,
    pub prompt: String,
    pub state: DeliveryState,
    /// How often it was sent again.
    pub attempt: i64,
    /// Whether it waits in the queue, or did before it was sent.
    pub in_queue: bool,
}

/// The result of claiming a queued message.
pub enum Claim {
    /// Only the caller sends it now.
    Sending { intent: Intent, remote_id: Option<String> },
    /// The hourly budget is spent; the message stays queued.
    BudgetSpent,
    /// Another sender has it, its outcome is recorded, or it is not its turn.
    NotClaimed,
}

/// The outcome of a delivery.
pub enum DeliveryOutcome<'a> {
    /// The upstream accepted it and returned the job; poll it again at the given time.
    Accepted(&'a RemoteJob, Timestamp),
    /// The upstream definitely did not accept it.
    Rejected(&'a str),
    /// The upstream definitely did not accept it; it stays queued in its place.
    Requeued(&'a str),
    /// The upstream may have accepted it.
    Unknown(&'a str),
}

/// The columns that [`from_row`] reads, and the upstream's job id, from `messages` (as `m`) with its job (as `j`).
pub(super) const SELECT_INTENT: &str =
    "SELECT m.id, m.job_id, m.position, m.prompt, m.state, m.attempt, m.in_line, j.project, j.remote_id
     FROM messages m JOIN jobs j ON j.id = m.job_id";

impl Store {
    /// The intent that this author already committed under this id.
    pub async fn find_intent(
        &self,
        author_id: &str,
        intent: &IntentId,
    ) -> Result<Option<Intent>, StoreError> {
        let row =
            sqlx::query(AssertSqlSafe(format!("{SELECT_INTENT} WHERE m.author_id = $1 AND m.intent = $2")))
                .bind(author_id)
                .bind(intent.as_str())
                .fetch_optional(&self.pool)
                .await?;
        row.as_ref().map(from_row).transpose()
    }

    /// Whether a message is being sent or will be sent at once: it is not in the queue, and no earlier message of its
    /// job is queued or, as the first one, has an unknown outcome.
    pub async fn is_on_its_way(&self, message_id: &str) -> Result<bool, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM messages m WHERE m.id = $1 AND (m.state = 'sending'
             OR (m.state = 'queued' AND m.in_line = 0 AND m.held_at IS NULL AND NOT EXISTS (
                 SELECT 1 FROM messages b WHERE b.job_id = m.job_id AND b.position < m.position
                 AND (b.state = 'queued' OR (b.position = 0 AND b.state = 'unknown')))))",
        )
        .bind(message_id)
        .fetch_one(&self.pool)
        .await?;
        Ok(count == 1)
    }

    /// The project and position of a queued message, which determine its budget.
    pub async fn queued_message(&self, message_id: &str) -> Result<Option<(ProjectId, i64)>, StoreError> {
        let row = sqlx::query(
            "SELECT j.project, m.position FROM messages m JOIN jobs j ON j.id = m.job_id
             WHERE m.id = $1 AND m.state = 'queued'",
        )
        .bind(message_id)
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| Ok((word(&row, "project")?, row.try_get("position")?))).transpose()
    }

    /// Marks a queued message whose turn it is as being sent, and counts the call, in one transaction.
    pub async fn claim(
        &self,
        message_id: &str,
        scope: &str,
        limit: u32,
        now: Timestamp,
    ) -> Result<Claim, StoreError> {
        let mut tx = self.begin().await?;
        let claimed = sqlx::query(AssertSqlSafe(format!(
            "UPDATE messages SET state = 'sending', sent_at = $2, reason = NULL WHERE id = $1 AND state = 'queued' AND held_at IS NULL AND {}",
            queue::NOTHING_BEFORE_IT
        )))
        .bind(message_id)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        if claimed.rows_affected() != 1 {
            return Ok(Claim::NotClaimed);
        }
        if !budget::acquire_in(&mut tx, scope, limit, now).await? {
            return Ok(Claim::BudgetSpent);
        }
        let row = sqlx::query(AssertSqlSafe(format!("{SELECT_INTENT} WHERE m.id = $1")))
            .bind(message_id)
            .fetch_one(&mut *tx)
            .await?;
        let intent = from_row(&row)?;
        if intent.in_queue && !queue::dequeue(&mut tx, &intent, scope, limit, now).await? {
            return Ok(Claim::NotClaimed);
        }
        record_state(&mut tx, &intent, DeliveryState::Sending, None, now).await?;
        tx.commit().await?;
        Ok(Claim::Sending { intent, remote_id: row.try_get("remote_id")? })
    }

    /// Records the outcome of a delivery once, or queues it again. The sender's outcome replaces an `unknown` that
    /// another process recorded at its start.
    pub async fn record_outcome(
        &self,
        intent: &Intent,
        end: &DeliveryOutcome<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (state, reason) = match end {
            DeliveryOutcome::Accepted(..) => (DeliveryState::Accepted, None),
            DeliveryOutcome::Rejected(reason) => (DeliveryState::Rejected, Some(*reason)),
            DeliveryOutcome::Unknown(reason) => (DeliveryState::Unknown, Some(*reason)),
            DeliveryOutcome::Requeued(reason) => (DeliveryState::Queued, Some(*reason)),
        };
        let settled_at = Some(now).filter(|_| state != DeliveryState::Queued);
        let mut tx = self.begin().await?;
        let recorded = sqlx::query(
            "UPDATE messages SET state = $2, reason = $3, settled_at = $4
             WHERE id = $1 AND state IN ('sending', 'unknown') AND attempt = $5",
        )
        .bind(&intent.message_id)
        .bind(state.as_str())
        .bind(reason)
        .bind(settled_at.map(Timestamp::as_millis))
        .bind(intent.attempt)
        .execute(&mut *tx)
        .await?;
        if recorded.rows_affected() != 1 {
            return Ok(());
        }
        let before = jobs::state(&mut tx, &intent.job).await?;
        if let DeliveryOutcome::Accepted(remote, next_poll_at) = end {
            jobs::track(&mut tx, &intent.job, remote, *next_poll_at, now).await?;
        }
        record_state(&mut tx, intent, state, reason, now).await?;
        if intent.position == 0 && state == DeliveryState::Rejected {
            queue::reject_follow_ups(&mut tx, &intent.job, now).await?;
        }
        let after = jobs::state(&mut tx, &intent.job).await?;
        if before.is_moving() && !after.is_moving() {
            if let DeliveryOutcome::Accepted(remote, _) = end {
                jobs::record_status(&mut tx, &intent.job, intent.position, now, remote).await?;
            }
            webhook_events::job_finished(&mut tx, &intent.job, now).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Messages that were being sent when a process ended. Their outcome is unknown.
    pub async fn interrupted(&self) -> Result<Vec<Intent>, StoreError> {
        let rows =
            sqlx::query(AssertSqlSafe(format!("{SELECT_INTENT} WHERE m.state = 'sending' ORDER BY m.id")))
                .fetch_all(&self.pool)
                .await?;
        rows.iter().map(from_row).collect()
    }

    /// Messages to be sent at once that are due, oldest first.
    pub async fn due_messages(&self, now: Timestamp) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT id FROM messages WHERE state = 'queued' AND in_line = 0 AND held_at IS NULL AND due_at <= $1 AND {}
             ORDER BY id LIMIT 100",
            queue::NOTHING_BEFORE_IT
        )))
        .bind(now.as_millis())
        .fetch_all(&self.pool)
        .await?)
    }
}

/// Records the new state of a delivery in the timeline and, for a job's first prompt, in the job.
pub(super) async fn record_state(
    tx: &mut Transaction<'static, Any>,
    intent: &Intent,
    state: DeliveryState,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let job = intent.job.as_str();
    jobs::record_event(tx, job, intent.position, now, state.as_str(), reason).await?;
    sqlx::query("UPDATE jobs SET revision = revision + 1, changed_at = $2 WHERE id = $1")
        .bind(job)
        .bind(now.as_millis())
        .execute(&mut **tx)
        .await?;
    if intent.position == 0 && state != DeliveryState::Accepted {
        sqlx::query("UPDATE jobs SET state = $2, reason = $3 WHERE id = $1")
            .bind(job)
            .bind(JobState::of(state, None).as_str())
            .bind(reason)
            .execute(&mut **tx)
            .await?;
    }
    Ok(())
}

pub(super) fn from_row(row: &AnyRow) -> Result<Intent, StoreError> {
    Ok(Intent {
        message_id: row.try_get("id")?,
        job: word(row, "job_id")?,
        project: word(row, "project")?,
        position: row.try_get("position")?,
        prompt: row.try_get("prompt")?,
        state: word(row, "state")?,
        attempt: row.try_get("attempt")?,
        in_queue: row.try_get::<i64, _>("in_line")? == 1,
    })
}
