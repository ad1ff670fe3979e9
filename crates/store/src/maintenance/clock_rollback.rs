//! Handles a clock rollback: clamps timestamps that are further in the future than the application can have planned. Otherwise those rows would wait
//! until the old time is reached again. Idempotent.

use std::time::Duration;

use crate::platform::budget::LONGEST_PAUSE_MILLIS;
use crate::{Store, StoreError};
use base::work::Work;
use model::time::Timestamp;

/// The longest pause that the platform can have requested.
const LONGEST_PAUSE: Duration = Duration::from_millis(LONGEST_PAUSE_MILLIS.unsigned_abs());

/// How far in the future each kind of timestamp can have been planned.
#[derive(Debug, Clone, Copy)]
pub struct PlanningLimits {
    /// The lifetime of a session.
    pub session: Duration,
    /// The longest interval between two polls of a job.
    pub poll: Duration,
}

impl Store {
    /// Clamps timestamps further after `now` than their limits. Calls from the future count as made now: they were made, and leave the rolling hour
    /// within an hour.
    pub async fn clamp_future_timestamps(
        &self,
        work: &Work,
        limits: PlanningLimits,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        for (statement, from) in [
            ("UPDATE upstream_calls SET at = $1 WHERE at > $2", now),
            (
                "UPDATE messages SET due_at = $1 WHERE state = 'queued' AND (due_at > $2 OR created_at > $1)",
                now.after(LONGEST_PAUSE),
            ),
            ("UPDATE jobs SET next_poll_at = $1 WHERE next_poll_at > $2", now.after(limits.poll)),
            ("UPDATE jobs SET tracked_since = $1 WHERE tracked_since > $2", now),
            ("UPDATE users SET platform_notices_seen_at = $1 WHERE platform_notices_seen_at > $2", now),
            ("UPDATE platform_notices SET since = $1 WHERE since > $2", now),
            ("UPDATE upstream_circuits SET tried_at = $1 WHERE tried_at > $2", now),
        ] {
            sqlx::query(statement).bind(now.as_millis()).bind(from.as_millis()).execute(&mut *tx).await?;
        }
        for (statement, latest) in [
            ("DELETE FROM upstream_pauses WHERE ends_at > $1", now.after(LONGEST_PAUSE)),
            ("UPDATE sessions SET expires_at = $1 WHERE expires_at > $1", now.after(limits.session)),
        ] {
            sqlx::query(statement).bind(latest.as_millis()).execute(&mut *tx).await?;
        }
        Ok(tx.commit().await?)
    }
}
