//! What the database remembers of the clock: the last heartbeat, and whether the clock jumped ahead since. Must not decide what may be done
//! meanwhile: `server::process::clock_check` does.

use crate::model::audit::{Action, Actor, AuditEvent};
use crate::model::time::Timestamp;
use crate::server::store::{Store, StoreError, audit};

/// A clock that is further ahead of the last heartbeat has jumped, or Docket was not running. Heartbeats that are regular for so long prove
/// that the clock is right.
const JUMP_MILLIS: i64 = 24 * 3_600_000;

/// Heartbeats that are further apart are not regular.
const REGULAR_MILLIS: i64 = 15 * 60_000;

/// How far the clocks of processes are apart, and a clock that is corrected a little goes back.
const SLACK_MILLIS: i64 = 60_000;

impl Store {
    /// Records a heartbeat. Returns the last one before the clock jumped ahead, while the clock is not trusted.
    ///
    /// A clock is trusted again when it is set back to what it can be, or after a day of regular heartbeats.
    pub async fn record_clock(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let jumped_from: Option<i64> = sqlx::query_scalar(
            "INSERT INTO clock_state (id, seen_at, regular_since, jumped_from) VALUES (1, $1, $1, NULL)
             ON CONFLICT (id) DO UPDATE SET
                 jumped_from = CASE
                     WHEN excluded.seen_at > clock_state.seen_at + $2 THEN COALESCE(clock_state.jumped_from, clock_state.seen_at)
                     WHEN excluded.seen_at <= clock_state.jumped_from + $2 THEN NULL
                     WHEN excluded.seen_at BETWEEN clock_state.seen_at - $4 AND clock_state.seen_at + $3
                         AND excluded.seen_at >= clock_state.regular_since + $2 THEN NULL
                     ELSE clock_state.jumped_from END,
                 regular_since = CASE WHEN excluded.seen_at BETWEEN clock_state.seen_at - $4 AND clock_state.seen_at + $3
                     THEN clock_state.regular_since ELSE excluded.seen_at END,
                 seen_at = excluded.seen_at
             RETURNING jumped_from",
        )
        .bind(now.as_millis())
        .bind(JUMP_MILLIS)
        .bind(REGULAR_MILLIS)
        .bind(SLACK_MILLIS)
        .fetch_one(self.apart())
        .await?;
        Ok(jumped_from.map(Timestamp::from_millis))
    }

    /// What [`Self::record_clock`] would return at `now`. Changes nothing.
    pub async fn clock_jump(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let jumped_from: Option<Option<i64>> = sqlx::query_scalar(
            "SELECT CASE WHEN $1 > seen_at + $2 THEN COALESCE(jumped_from, seen_at) WHEN $1 <= jumped_from + $2 THEN NULL
                 ELSE jumped_from END FROM clock_state",
        )
        .bind(now.as_millis())
        .bind(JUMP_MILLIS)
        .fetch_optional(&self.pool)
        .await?;
        Ok(jumped_from.flatten().map(Timestamp::from_millis))
    }

    /// Trusts the clock. Returns whether that changed something, and records it then.
    pub async fn trust_clock(&self, by: &Actor, now: Timestamp) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let jumped_from: Option<i64> =
            sqlx::query_scalar("SELECT COALESCE(jumped_from, seen_at) FROM clock_state WHERE jumped_from IS NOT NULL OR seen_at < $1")
                .bind(now.as_millis() - JUMP_MILLIS)
                .fetch_optional(&mut *tx)
                .await?;
        let Some(jumped_from) = jumped_from else { return Ok(false) };
        sqlx::query("UPDATE clock_state SET jumped_from = NULL, seen_at = $1, regular_since = $1")
            .bind(now.as_millis())
            .execute(&mut *tx)
            .await?;
        let jump = format!("from {} to {now}", Timestamp::from_millis(jumped_from));
        audit::commit(tx, by, &AuditEvent::new(Action::ClockConfirm).with_detail(jump), now).await?;
        Ok(true)
    }
}
