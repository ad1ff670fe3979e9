//! Rows of `messages` as intents, and the conditions for sending them. Reads only.

use sqlx::Row;
use sqlx::any::AnyRow;

use crate::jobs::states::delivery_states;
use crate::{StoreError, word};
use model::id::{JobId, ProjectId};
use model::job::DeliveryState;

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
    /// How often it was claimed by a sender.
    pub claim: i64,
    /// How often the upstream refused it with status 403.
    pub refusals: i64,
    /// Whether it is in the queue, or was before it was sent.
    pub in_queue: bool,
    /// Whether it may be in the queue. Otherwise it is rejected if it cannot be sent at once.
    pub may_queue: bool,
    /// The hash of what a script sent; `None` for the prompt of a form, or of an earlier version.
    pub request_hash: Option<String>,
    /// The hash of all that was submitted; `None` for a prompt of a batch, or of an earlier version.
    pub body_hash: Option<String>,
}

/// A message to send, with what determines its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueMessage {
    pub id: String,
    pub project: ProjectId,
    pub position: i64,
}

/// The columns that [`intent`] reads, and the upstream's job id, from `messages` (as `m`) with its job (as `j`).
pub(crate) const SELECT_INTENT: &str =
    "SELECT m.id, m.job_id, m.position, m.prompt, m.state, m.attempt, m.claim, m.refusals, m.in_queue, m.may_queue, m.request_hash, m.body_hash, j.project, j.remote_id
     FROM messages m JOIN jobs j ON j.id = m.job_id";

/// SQL that is true of a row of `messages` (as `m`) if no earlier message of its job blocks it: a follow-up needs an accepted job, and every earlier
/// message of the job must be sent.
pub(crate) fn nothing_before_it() -> String {
    let pending = delivery_states(DeliveryState::is_pending);
    format!(
        "(m.position = 0 OR (
         EXISTS (SELECT 1 FROM jobs t WHERE t.id = m.job_id AND t.remote_id IS NOT NULL)
         AND NOT EXISTS (SELECT 1 FROM messages b WHERE b.job_id = m.job_id
             AND b.position < m.position AND b.state IN ({pending}))))"
    )
}

/// The rank after all queued messages, and after those that may be queued again.
pub(crate) fn last_rank() -> String {
    let pending = delivery_states(DeliveryState::is_pending);
    format!("(SELECT COALESCE(MAX(rank), 0) + 1 FROM messages WHERE state IN ({pending}))")
}

/// Reads the columns `id` and `position` of `messages`, and `project` of their job.
pub(crate) fn due(row: &AnyRow) -> Result<DueMessage, StoreError> {
    Ok(DueMessage {
        id: row.try_get("id")?,
        project: word(row, "project")?,
        position: row.try_get("position")?,
    })
}

pub(crate) fn intent(row: &AnyRow) -> Result<Intent, StoreError> {
    Ok(Intent {
        message_id: row.try_get("id")?,
        job: word(row, "job_id")?,
        project: word(row, "project")?,
        position: row.try_get("position")?,
        prompt: row.try_get("prompt")?,
        state: word(row, "state")?,
        attempt: row.try_get("attempt")?,
        claim: row.try_get("claim")?,
        refusals: row.try_get("refusals")?,
        in_queue: row.try_get::<i64, _>("in_queue")? == 1,
        may_queue: row.try_get::<i64, _>("may_queue")? == 1,
        request_hash: row.try_get("request_hash")?,
        body_hash: row.try_get("body_hash")?,
    })
}
