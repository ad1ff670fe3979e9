//! Prompts on hold: their author was disabled after queueing them, or may no longer start jobs in their project. They wait until an administrator
//! releases or cancels them. A prompt that is being sent meanwhile is on hold if it returns to the queue. Open invitations of such a person are put on hold, too.

use std::collections::HashMap;

use sqlx::{Any, AnyConnection, AssertSqlSafe, Row, Transaction};

use super::lifecycle::Transition;
use super::{lifecycle, messages};
use crate::jobs::states::delivery_states;
use crate::{Authority, Change, Store, StoreError, audit};
use model::audit::{Action, Actor, AuditEvent};
use model::id::ProjectId;
use model::job::{DeliveryState, ReasonCode};
use model::lifecycle::DeliveryStep;
use model::time::Timestamp;

impl Store {
    /// The number of prompts on hold of each person, by id.
    pub async fn prompts_on_hold(&self) -> Result<HashMap<String, u32>, StoreError> {
        let rows = sqlx::query(
            "SELECT author_id, COUNT(*) AS on_hold FROM messages
             WHERE state = 'queued' AND on_hold_since IS NOT NULL GROUP BY author_id",
        )
        .fetch_all(&self.pool)
        .await?;
        let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
        rows.iter().map(|row| Ok((row.try_get("author_id")?, count(row.try_get("on_hold")?)))).collect()
    }

    /// Returns a person's prompts on hold to the queue; returns how many there were.
    pub async fn release_on_hold(&self, by: Authority<'_>, person: &str) -> Result<u64, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let released = sqlx::query(
            "UPDATE messages SET on_hold_since = NULL, released_at = $2
             WHERE author_id = $1 AND state = 'queued' AND on_hold_since IS NOT NULL",
        )
        .bind(person)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?
        .rows_affected();
        if released > 0 {
            record(tx, Action::HeldRelease, person, released, &by, now).await?;
        }
        Ok(released)
    }

    /// Cancels a person's prompts on hold; returns how many there were.
    pub async fn cancel_on_hold(
        &self,
        by: Authority<'_>,
        person: &str,
        reason: &str,
    ) -> Result<u64, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let rows = sqlx::query(AssertSqlSafe(format!(
            "{} WHERE m.author_id = $1 AND m.state = 'queued' AND m.on_hold_since IS NOT NULL ORDER BY m.id",
            messages::SELECT_INTENT
        )))
        .bind(person)
        .fetch_all(&mut *tx)
        .await?;
        let mut cancelled = 0;
        for row in &rows {
            let transition =
                Transition::new(DeliveryStep::Cancel).because(ReasonCode::Cancelled.with(reason));
            cancelled +=
                u64::from(lifecycle::apply(&mut tx, &messages::intent(row)?, &transition, now).await?);
        }
        if cancelled > 0 {
            record(tx, Action::HeldCancel, person, cancelled, &by, now).await?;
        }
        Ok(cancelled)
    }
}

/// Puts all prompts and links of a person on hold who was disabled or got a lower role.
pub(crate) async fn put_everything_on_hold(
    tx: &mut Transaction<'static, Any>,
    person: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    put_links_on_hold(&mut *tx, person, now).await?;
    put_prompts_on_hold(tx, person, &[], now).await
}

/// Puts a person's prompts outside of the `visible` projects on hold that are queued, or may be queued again. Revokes their release.
pub(crate) async fn put_prompts_on_hold(
    tx: &mut Transaction<'static, Any>,
    person: &str,
    visible: &[ProjectId],
    now: Timestamp,
) -> Result<(), StoreError> {
    let placeholders: String = (3..3 + visible.len()).map(|index| format!(", ${index}")).collect();
    let states = delivery_states(DeliveryState::may_be_queued_again);
    let update = format!(
        "UPDATE messages SET on_hold_since = $2, released_at = NULL
         WHERE author_id = $1 AND state IN ({states}) AND on_hold_since IS NULL
         AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = messages.job_id AND j.project IN (''{placeholders}))"
    );
    let update = sqlx::query(AssertSqlSafe(update)).bind(person).bind(now.as_millis());
    visible.iter().fold(update, |update, project| update.bind(project.as_str())).execute(&mut **tx).await?;
    Ok(())
}

/// Puts one queued prompt on hold.
pub(crate) async fn put_prompt_on_hold(
    connection: &mut AnyConnection,
    message_id: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE messages SET on_hold_since = $2 WHERE id = $1 AND on_hold_since IS NULL")
        .bind(message_id)
        .bind(now.as_millis())
        .execute(connection)
        .await?;
    Ok(())
}

/// Puts the open invitations of a person on hold who was disabled or is no longer an administrator. Deletes the links for new passwords that they
/// created or received.
pub(crate) async fn put_links_on_hold(
    connection: &mut AnyConnection,
    inviter: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE invitations SET on_hold_since = $2 WHERE invited_by = $1 AND on_hold_since IS NULL")
        .bind(inviter)
        .bind(now.as_millis())
        .execute(&mut *connection)
        .await?;
    sqlx::query("DELETE FROM password_links WHERE user_id = $1 OR made_by = $1")
        .bind(inviter)
        .execute(connection)
        .await?;
    Ok(())
}

async fn record(
    mut tx: Transaction<'static, Any>,
    action: Action,
    person: &str,
    prompts: u64,
    by: &Actor,
    now: Timestamp,
) -> Result<(), StoreError> {
    let name: String =
        sqlx::query_scalar("SELECT name FROM users WHERE id = $1").bind(person).fetch_one(&mut *tx).await?;
    let event = AuditEvent::new(action).on(name).with_detail(format!("{prompts} prompts"));
    audit::commit(tx, by, &event, now).await
}
