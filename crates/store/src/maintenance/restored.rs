//! Prepares a backup that replaces a database. Changes since the backup are missing from it. Therefore no prompt is sent without a decision by a
//! person, all sessions and links end, and API tokens are revoked. Does not touch files.

use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use crate::dialect::CountedCall;
use crate::jobs::lifecycle::{self, Transition};
use crate::jobs::messages::{self, SELECT_INTENT};
use crate::{Store, StoreError, audit};
use base::work::Work;
use model::audit::{Action, Actor, AuditEvent};
use model::job::ReasonCode;
use model::lifecycle::DeliveryStep;
use model::time::Timestamp;

const REASON: &str = "This was being sent when the backup was made that Docket runs on since. The platform may or may not have accepted it.";

/// When something was last written: heartbeats, use by people, jobs, records.
const LAST_WRITTEN: &str =
    "SELECT CAST(COALESCE(MAX(at), 0) AS BIGINT) FROM (SELECT MAX(seen_at) AS at FROM instances
     UNION ALL SELECT MAX(last_used_at) FROM sessions UNION ALL SELECT MAX(changed_at) FROM jobs
     UNION ALL SELECT MAX(at) FROM audit) moments";

/// The contents of a backup, and what was done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// When the backup was made, approximately; `None` if it was never used.
    pub made_at: Option<Timestamp>,
    pub jobs: u64,
    /// Prompts that are not sent before an administrator releases them.
    pub on_hold: u64,
    /// Prompts that were being sent.
    pub unknown: u64,
    pub sessions: u64,
    pub invitations: u64,
    /// API tokens that were revoked.
    pub tokens: u64,
    /// Webhook events to deliver, perhaps for the second time.
    pub events: u64,
}

impl Store {
    /// Prepares a copy of a backup for use, in one transaction, and records it. `calls` are the calls of the last hour, which the platform counted.
    pub async fn prepare_restored(
        &self,
        work: &Work,
        calls: &[CountedCall],
        from: &str,
        now: Timestamp,
    ) -> Result<Restored, StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        let made_at = count(&mut tx, LAST_WRITTEN).await?;
        let unknown = lose_outcomes(&mut tx, now).await?;
        sqlx::query(
            "UPDATE messages SET on_hold_since = $1, released_at = NULL WHERE state = 'queued' AND on_hold_since IS NULL",
        )
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        sqlx::query("UPDATE project_changes SET restored_at = $1")
            .bind(now.as_millis())
            .execute(&mut *tx)
            .await?;
        let sessions = count(&mut tx, "SELECT COUNT(*) FROM sessions WHERE user_id IS NOT NULL").await?;
        for ended in [
            "DELETE FROM sessions",
            "DELETE FROM sign_in_steps",
            "DELETE FROM passkey_challenges",
            "DELETE FROM setup_links",
            "DELETE FROM password_links",
            "DELETE FROM instances",
            "DELETE FROM history_lease",
        ] {
            sqlx::query(ended).execute(&mut *tx).await?;
        }
        // An administrator renews or withdraws them. The clock may be wrong, so the link itself is replaced by one that nobody has. The end stays
        // near: retention removes an account long after its invitation has ended.
        let invitations = sqlx::query(
            "UPDATE invitations SET token_hash = 'restored ' || user_id,
                 expires_at = CASE WHEN expires_at > $1 THEN $1 ELSE expires_at END",
        )
        .bind(now.as_millis().max(made_at))
        .execute(&mut *tx)
        .await?
        .rows_affected();
        // Some may have been revoked since the backup.
        let tokens = sqlx::query("UPDATE api_tokens SET revoked_at = $1 WHERE revoked_at IS NULL")
            .bind(now.as_millis())
            .execute(&mut *tx)
            .await?
            .rows_affected();
        for (id, scope, at) in calls {
            // Another id, because a prompt that is claimed again has the id of its claim after the backup.
            let call = "INSERT INTO upstream_calls (id, scope, at) SELECT 'restored ' || $1, $2, $3
                 WHERE NOT EXISTS (SELECT 1 FROM upstream_calls WHERE id = $1)";
            sqlx::query(call).bind(id).bind(scope).bind(*at).execute(&mut *tx).await?;
        }
        let restored = Restored {
            made_at: Some(made_at).filter(|at| *at > 0).map(Timestamp::from_millis),
            jobs: number(count(&mut tx, "SELECT COUNT(*) FROM jobs").await?),
            on_hold: number(count(&mut tx, "SELECT COUNT(*) FROM messages WHERE state = 'queued'").await?),
            unknown,
            sessions: number(sessions),
            invitations,
            tokens,
            events: number(
                count(&mut tx, "SELECT COUNT(*) FROM webhook_deliveries WHERE outcome = 'waiting'").await?,
            ),
        };
        let event = AuditEvent::new(Action::DataRestore)
            .on(from)
            .with_detail(format!("{} prompts on hold, {} unknown", restored.on_hold, restored.unknown));
        audit::commit(tx, &Actor::command_line(), &event, now).await?;
        Ok(restored)
    }
}

/// Marks prompts in delivery as unknown: no process sends them any more.
async fn lose_outcomes(tx: &mut Transaction<'static, Any>, now: Timestamp) -> Result<u64, StoreError> {
    let rows = sqlx::query(AssertSqlSafe(format!("{SELECT_INTENT} WHERE m.state = 'sending' ORDER BY m.id")))
        .fetch_all(&mut **tx)
        .await?;
    let mut lost = 0;
    for row in &rows {
        let transition =
            Transition::new(DeliveryStep::LoseOutcome).because(ReasonCode::DocketStopped.with(REASON));
        lost += u64::from(lifecycle::apply(tx, &messages::intent(row)?, &transition, now).await?);
    }
    Ok(lost)
}

async fn count(tx: &mut Transaction<'static, Any>, statement: &'static str) -> Result<i64, StoreError> {
    Ok(sqlx::query(statement).fetch_one(&mut **tx).await?.try_get(0)?)
}

fn number(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}
