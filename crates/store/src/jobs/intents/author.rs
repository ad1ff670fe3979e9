//! The author of a prompt, checked when it is claimed: the account may have changed since the prompt was queued, and also while it was being sent.

use sqlx::{Any, Row, Transaction};

use crate::StoreError;
use crate::accounts::users;
use crate::jobs::messages::Intent;
use crate::jobs::on_hold;
use model::time::Timestamp;

/// Puts a queued prompt on hold if its author may not start jobs in its project now, unless an administrator released it since. Returns whether
/// it is on hold.
pub(super) async fn hold_if_refused(
    tx: &mut Transaction<'static, Any>,
    intent: &Intent,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let row = sqlx::query(
        "SELECT u.*, m.released_at AS prompt_released_at FROM messages m JOIN users u ON u.id = m.author_id WHERE m.id = $1",
    )
    .bind(&intent.message_id)
    .fetch_one(&mut **tx)
    .await?;
    let is_released = row.try_get::<Option<i64>, _>("prompt_released_at")?.is_some();
    if is_released || users::user(&row)?.may_start_jobs_in(&intent.project) {
        return Ok(false);
    }
    on_hold::put_prompt_on_hold(tx, &intent.message_id, now).await?;
    Ok(true)
}
