//! Checks the limits of `model::limits`: the transaction that adds a row checks its limit while no other writer can run.

use sqlx::{Any, AssertSqlSafe, Transaction};

use super::StoreError;
use super::jobs::states::delivery_states;
use model::job::DeliveryState;
use model::limits::{Limit, PROMPTS_NOT_SENT};
use model::time::Timestamp;

const DAY_MILLIS: i64 = 86_400_000;

/// Fails with [`StoreError::Full`] if one more row would exceed the limit.
pub(crate) fn leave_room(limit: &'static Limit, rows: i64) -> Result<(), StoreError> {
    if limit.has_room(rows) { Ok(()) } else { Err(StoreError::Full(limit)) }
}

/// Counts the prompts of the author `$1` after `$2` that were not sent.
pub(crate) fn not_sent_statement() -> String {
    let not_sent = delivery_states(DeliveryState::is_not_sent);
    format!(
        "SELECT COUNT(*) FROM messages WHERE author_id = $1 AND created_at > $2 AND state IN ({not_sent})"
    )
}

/// Fails if too many prompts of this person were not sent.
pub(crate) async fn may_submit(
    tx: &mut Transaction<'static, Any>,
    author_id: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let not_sent = sqlx::query_scalar(AssertSqlSafe(not_sent_statement()));
    let not_sent = not_sent.bind(author_id).bind(now.as_millis() - DAY_MILLIS).fetch_one(&mut **tx).await?;
    leave_room(&PROMPTS_NOT_SENT, not_sent)
}
