//! The stored state of the clock: the last heartbeat, and whether the clock jumped ahead since. `process::clock_check` decides what is
//! allowed meanwhile.

use crate::{Authority, Change, Store, StoreError, audit};
use model::audit::{Action, AuditEvent};
use model::time::Timestamp;

/// A clock further ahead of the last heartbeat has jumped, or Docket was not running. Regular heartbeats over this time prove that the clock is
/// right.
const JUMP_MILLIS: i64 = 24 * 3_600_000;

/// Heartbeats that are further apart are not regular.
const REGULAR_MILLIS: i64 = 15 * 60_000;

/// The tolerance for differences between the clocks of processes, and for small corrections backward.
const SLACK_MILLIS: i64 = 60_000;

impl Store {
    /// Records a heartbeat. While the clock is not trusted, returns the last heartbeat before it jumped ahead.
    ///
    /// A clock is trusted again when it is set back to a plausible time, or after a day of regular heartbeats.
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

    /// The result of [`Self::record_clock`] at `now`, without a change.
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

    /// Trusts the clock. If that changes something, records it and returns `true`.
    pub async fn trust_clock(&self, by: Authority<'_>) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
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
        audit::commit(tx, &by, &AuditEvent::new(Action::ClockConfirm).with_detail(jump), now).await?;
        Ok(true)
    }
}
