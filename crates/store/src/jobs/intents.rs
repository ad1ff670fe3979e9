//! Intents: prompts that are committed before they are sent, claimed by exactly one sender, with one recorded outcome.

mod author;
mod commit;

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::lifecycle::{Acceptance, Transition};
use super::messages::{DueMessage, SELECT_INTENT, nothing_before_it};
use super::{lifecycle, messages, queue};
use crate::dialect::select::{bind_projects, sql_placeholders};
use crate::platform::budget::{self, ScopeLimit};
use crate::platform::circuits::{Probe, give_probe_back, take_probe_or_pass};
use crate::{Store, StoreError, instant, word};
use base::work::Work;
use model::id::{IntentId, JobId};
use model::job::{DeliveryState, Reason, RemoteJob};
use model::lifecycle::DeliveryStep;
use model::time::Timestamp;
use model::user::Project;

pub use super::lifecycle::{NewIntent, Subject};
pub use super::messages::Intent;
#[cfg(test)]
pub(crate) use commit::QUEUED;
pub use commit::{CommittedPrompt, Scheduling};
pub(crate) use commit::{Insertion, insert};

/// The result of claiming a queued message.
pub enum Claim {
    /// Only the caller may send it.
    Sending { intent: Box<Intent>, remote_id: Option<String> },
    /// The hourly budget is spent, or another prompt is the probe; the message stays queued.
    Later,
    /// Another sender claimed it, its outcome is recorded, earlier messages block it, or it is on hold.
    NotClaimed,
}

/// The outcome of a delivery.
pub enum DeliveryOutcome<'a> {
    /// The upstream accepted it and returned the job; poll it again at the given time.
    Accepted(&'a RemoteJob, Timestamp),
    /// The upstream definitely did not accept it.
    Rejected(Reason<'a>),
    /// The upstream definitely did not accept it; it stays at its position in the queue.
    Requeued(Reason<'a>),
    /// The upstream has no AI credits; it stays at its position in the queue.
    NoCredits(Reason<'a>),
    /// The upstream refused it with status 403; it moves to the end of the queue, and waits until `again_at`.
    Refused { reason: Reason<'a>, again_at: Timestamp },
    /// No request was sent. It stays at its position in the queue, or is rejected.
    Unsent { reason: Reason<'a>, is_queued: bool },
    /// The upstream may have accepted it.
    Unknown(Reason<'a>),
}

impl<'a> DeliveryOutcome<'a> {
    fn transition(&self) -> Transition<'a> {
        match *self {
            Self::Accepted(remote, next_poll_at) => {
                Transition::new(DeliveryStep::Accept).with(Acceptance { remote: Some(remote), next_poll_at })
            }
            Self::Rejected(reason) => Transition::new(DeliveryStep::Reject).because(reason),
            Self::Unknown(reason) => Transition::new(DeliveryStep::LoseOutcome).because(reason),
            Self::Requeued(reason) | Self::NoCredits(reason) => {
                Transition::new(DeliveryStep::Requeue).because(reason)
            }
            Self::Unsent { reason, is_queued: true } => {
                Transition::new(DeliveryStep::Requeue).because(reason)
            }
            Self::Unsent { reason, is_queued: false } => {
                Transition::new(DeliveryStep::Reject).because(reason)
            }
            Self::Refused { reason, again_at } => {
                Transition::new(DeliveryStep::Requeue).because(reason).refused(again_at)
            }
        }
    }
}

/// Ends a claim. If no request was sent, its call is no longer counted, and it was no probe.
async fn end_in(
    tx: &mut Transaction<'static, Any>,
    claimed: &Intent,
    end: &DeliveryOutcome<'_>,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let has_ended = lifecycle::apply(tx, claimed, &end.transition(), now).await?;
    if has_ended && matches!(end, DeliveryOutcome::Unsent { .. }) {
        budget::uncount(&mut **tx, &counted_call(&claimed.message_id, claimed.claim)).await?;
        give_probe_back(tx, &claimed.project, &claimed.message_id, now).await?;
    }
    if has_ended && matches!(end, DeliveryOutcome::NoCredits(_)) {
        lifecycle::forget_repeated_try(tx, claimed).await?;
    }
    Ok(has_ended)
}

/// The id of the counted call of a claim. It follows from the claim, so that a process without the claim's reply can remove it.
fn counted_call(message_id: &str, claim: i64) -> String {
    format!("{message_id}.{claim}")
}

/// A prompt that was sent from a draft.
pub struct SentFromDraft {
    pub intent: IntentId,
    pub job: JobId,
    pub at: Timestamp,
}

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
        row.as_ref().map(messages::intent).transpose()
    }

    /// The prompt of this author that was sent from the draft which the form with the intent `draft` began.
    pub async fn sent_from(
        &self,
        author_id: &str,
        draft: &IntentId,
    ) -> Result<Option<SentFromDraft>, StoreError> {
        let row = sqlx::query(
            "SELECT intent, job_id, created_at FROM messages WHERE author_id = $1 AND draft = $2",
        )
        .bind(author_id)
        .bind(draft.as_str())
        .fetch_optional(&self.pool)
        .await?;
        let sent = |row: &AnyRow| {
            let (intent, job) = (word(row, "intent")?, word(row, "job_id")?);
            Ok(SentFromDraft { intent, job, at: instant(row, "created_at")? })
        };
        row.as_ref().map(sent).transpose()
    }

    /// Whether a message is being sent or will be sent at once: it is not in the queue, and no earlier message of its job is queued or, as the first
    /// one, has an unknown outcome.
    pub async fn is_on_its_way(&self, message_id: &str) -> Result<bool, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.id = $1 AND (m.state = 'sending'
             OR (m.state = 'queued' AND m.in_queue = 0 AND m.on_hold_since IS NULL AND NOT EXISTS (
                 SELECT 1 FROM messages b WHERE b.job_id = m.job_id AND b.position < m.position
                 AND (b.state = 'queued' OR (b.position = 0 AND b.state = 'unknown')))))",
        )
        .bind(message_id)
        .fetch_one(&self.pool)
        .await?;
        Ok(count == 1)
    }

    /// Marks the next queued message as being sent, and counts the call, in one transaction. Puts it on hold instead if its author may not start
    /// jobs in its project now. `probe`: the message is claimed only as this probe of a circuit.
    pub async fn claim(
        &self,
        work: &Work,
        message_id: &str,
        limited: &ScopeLimit,
        probe: Option<&Probe>,
        now: Timestamp,
    ) -> Result<Claim, StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        let row = sqlx::query(AssertSqlSafe(format!(
            "{SELECT_INTENT} WHERE m.id = $1 AND m.state = 'queued' AND m.on_hold_since IS NULL
             AND (m.in_queue = 0 OR m.due_at <= $2) AND {}",
            nothing_before_it()
        )))
        .bind(message_id)
        .bind(now.as_millis())
        .fetch_optional(&mut *tx)
        .await?;
        let Some(row) = row else { return Ok(Claim::NotClaimed) };
        let intent = messages::intent(&row)?;
        if author::hold_if_refused(&mut tx, &intent, now).await? {
            tx.commit().await?;
            tracing::info!(job = %intent.job, "prompt put on hold, because its author may not start jobs");
            return Ok(Claim::NotClaimed);
        }
        let call = counted_call(&intent.message_id, intent.claim + 1);
        if !budget::acquire_in(&mut *tx, &call, limited, now).await? {
            return Ok(Claim::Later);
        }
        if let Some(probe) = probe
            && !take_probe_or_pass(&mut tx, probe, now).await?
        {
            return Ok(Claim::Later);
        }
        if intent.in_queue && !queue::dequeue(&mut tx, &intent, limited, now).await? {
            return Ok(Claim::NotClaimed);
        }
        let claimed = Transition::new(DeliveryStep::Claim).sent_by(self.instance());
        if !lifecycle::apply(&mut tx, &intent, &claimed, now).await? {
            return Ok(Claim::NotClaimed);
        }
        tx.commit().await?;
        let intent = Intent { state: DeliveryState::Sending, claim: intent.claim + 1, ..intent };
        Ok(Claim::Sending { intent: Box::new(intent), remote_id: row.try_get("remote_id")? })
    }

    /// Records the outcome of a delivery once, or queues it again. The sender's outcome replaces an `unknown` recorded by another process that
    /// considered this one ended.
    pub async fn record_outcome(
        &self,
        work: &Work,
        intent: &Intent,
        end: &DeliveryOutcome<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        if self.state_of_last_claim(&mut tx, intent).await?.is_some() {
            end_in(&mut tx, intent, end, now).await?;
        }
        Ok(tx.commit().await?)
    }

    /// The state of the prompt if this process claimed it last. A process of version 0.1.0 does not count its claims, but stores that it is the sender.
    async fn state_of_last_claim(
        &self,
        tx: &mut Transaction<'static, Any>,
        claimed: &Intent,
    ) -> Result<Option<DeliveryState>, StoreError> {
        let row = sqlx::query("SELECT state FROM messages WHERE id = $1 AND claim = $2 AND sender = $3")
            .bind(&claimed.message_id)
            .bind(claimed.claim)
            .bind(self.instance())
            .fetch_optional(&mut **tx)
            .await?;
        row.map(|row| word(&row, "state")).transpose()
    }

    /// As [`Self::record_outcome`], but only while the claim has no outcome; `false` if it has one.
    pub async fn end_claim(
        &self,
        work: &Work,
        claimed: &Intent,
        end: &DeliveryOutcome<'_>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        let is_open = self.state_of_last_claim(&mut tx, claimed).await? == Some(DeliveryState::Sending);
        let has_ended = is_open && end_in(&mut tx, claimed, end, now).await?;
        tx.commit().await?;
        Ok(has_ended)
    }

    /// Messages of `projects` to be sent at once that are due, oldest first.
    pub async fn due_messages(
        &self,
        projects: &[Project],
        now: Timestamp,
    ) -> Result<Vec<DueMessage>, StoreError> {
        let statement = format!(
            "SELECT m.id, j.project, m.position FROM messages m JOIN jobs j ON j.id = m.job_id
             WHERE m.state = 'queued' AND m.in_queue = 0 AND m.on_hold_since IS NULL AND m.due_at <= $1
                 AND j.project IN ({}) AND {} ORDER BY m.id LIMIT 100",
            sql_placeholders(2, projects.len()),
            nothing_before_it()
        );
        let due = sqlx::query(AssertSqlSafe(statement)).bind(now.as_millis());
        bind_projects(due, projects).fetch_all(&self.pool).await?.iter().map(messages::due).collect()
    }
}
