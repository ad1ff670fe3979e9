//! The processes that share the database, and the deliveries that ended ones left behind. The caller decides when to record a heartbeat.
//!
//! All times are the database's: the clocks of callers follow [`Store::time`].

use std::time::{Duration, Instant};

use sqlx::AssertSqlSafe;

use crate::jobs::lifecycle::{self, Transition};
use crate::jobs::messages::{self, Intent, SELECT_INTENT};
use crate::{Store, StoreError, ids};
use base::work::Work;
use model::job::ReasonCode;
use model::lifecycle::DeliveryStep;
use model::time::Timestamp;

/// A process without a heartbeat for this long has ended. This exceeds the longest network stall after which prompts must not become unknown.
pub const GRACE: Duration = Duration::from_millis(GRACE_MILLIS as u64);
const GRACE_MILLIS: i64 = 45_000;

/// After a gap this long in its own heartbeats, a process cannot detect ended ones: the database may have been down for all.
const GAP_MILLIS: i64 = 10_000;

/// The size of the write probe in bytes: more than a prompt with its index.
const PROBE_BYTES: usize = 512 * 1024;

/// The time in a slower response is too inaccurate.
const AT_ONCE: Duration = Duration::from_secs(1);

impl Store {
    /// The id of this process among those that share the database.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// The database's time, if it has its own clock and responds at once. New ids follow it too.
    pub async fn time(&self) -> Result<Option<Timestamp>, StoreError> {
        let sent_at = Instant::now();
        let Some(time) = self.dialect.time(&self.pool).await? else { return Ok(None) };
        // Assume that the response travelled for half of the time.
        let took = sent_at.elapsed();
        if took > AT_ONCE {
            return Ok(None);
        }
        let time = Timestamp::from_millis(time).after(took / 2);
        ids::follow(time);
        Ok(Some(time))
    }

    /// Registers this process. A file has one process: a new one replaces the earlier ones, and this returns their deliveries.
    pub async fn enter(&self, work: &Work, now: Timestamp) -> Result<Vec<Intent>, StoreError> {
        let replaces = self.dialect.is_of_one_process();
        if replaces {
            sqlx::query("DELETE FROM instances").execute(self.write(work).statement()).await?;
        }
        self.beat(now).await?;
        if replaces { self.sent_by_others("").await } else { Ok(Vec::new()) }
    }

    /// Records a heartbeat of this process.
    pub async fn beat(&self, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO instances (id, started_at, seen_at, steady_since) VALUES ($1, $2, $2, $2)
             ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, steady_since =
                 CASE WHEN excluded.seen_at BETWEEN instances.seen_at AND instances.seen_at + $3
                 THEN instances.steady_since ELSE excluded.seen_at END",
        )
        .bind(self.instance())
        .bind(now.as_millis())
        .bind(GAP_MILLIS)
        .execute(self.apart())
        .await?;
        Ok(())
    }

    /// Writes and removes half a megabyte. On a disk that is nearly full, [`Store::beat`] succeeds and this fails.
    pub async fn probe_write(&self, work: &Work) -> Result<(), StoreError> {
        for probe in [Some("0".repeat(PROBE_BYTES)), None] {
            sqlx::query("UPDATE instances SET write_probe = $2 WHERE id = $1")
                .bind(self.instance())
                .bind(probe)
                .execute(self.write(work).statement())
                .await?;
        }
        Ok(())
    }

    /// Removes this process, which has stopped sending, and those that ended a while ago.
    pub async fn leave(&self, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM instances WHERE id = $1 OR seen_at < $2")
            .bind(self.instance())
            .bind(now.as_millis() - 10 * GRACE_MILLIS)
            .execute(self.apart())
            .await?;
        Ok(())
    }

    /// Messages that ended processes were sending. Empty unless this process has had regular heartbeats for the grace time.
    pub async fn abandoned(&self, now: Timestamp) -> Result<Vec<Intent>, StoreError> {
        let (from, to) = (now.as_millis() - GRACE_MILLIS, now.as_millis() + GRACE_MILLIS);
        self.sent_by_others(&format!(
            "AND EXISTS (SELECT 1 FROM instances me WHERE me.id = $1 AND me.steady_since <= {from})
             AND NOT EXISTS (SELECT 1 FROM instances i WHERE i.id = m.sender AND i.seen_at BETWEEN {from} AND {to})"
        ))
        .await
    }

    /// Marks a delivery from [`Self::abandoned`] as *unknown*. Does nothing if a live process is sending it by now: its original sender may have
    /// queued it again.
    pub async fn lose_outcome(
        &self,
        work: &Work,
        abandoned: &Intent,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        let still: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM messages m WHERE m.id = $1 AND m.state = 'sending'
             AND NOT EXISTS (SELECT 1 FROM instances i WHERE i.id = m.sender AND i.seen_at BETWEEN $2 AND $3)",
        )
        .bind(&abandoned.message_id)
        .bind(now.as_millis() - GRACE_MILLIS)
        .bind(now.as_millis() + GRACE_MILLIS)
        .fetch_one(&mut *tx)
        .await?;
        if still == 1 {
            let lost =
                Transition::new(DeliveryStep::LoseOutcome).because(ReasonCode::DocketStopped.with(reason));
            lifecycle::apply(&mut tx, abandoned, &lost, now).await?;
        }
        Ok(tx.commit().await?)
    }

    /// The message with this id, if this process is sending it.
    pub async fn being_sent(&self, message_id: &str) -> Result<Option<Intent>, StoreError> {
        let row = sqlx::query(AssertSqlSafe(format!(
            "{SELECT_INTENT} WHERE m.id = $1 AND m.state = 'sending' AND m.sender = $2"
        )))
        .bind(message_id)
        .bind(self.instance())
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(messages::intent).transpose()
    }

    /// Messages in delivery that this process claimed.
    pub async fn sent_here(&self) -> Result<Vec<Intent>, StoreError> {
        self.sent_by("m.sender = $1").await
    }

    /// Messages in delivery that other processes claimed.
    async fn sent_by_others(&self, and: &str) -> Result<Vec<Intent>, StoreError> {
        self.sent_by(&format!("COALESCE(m.sender, '') <> $1 {and}")).await
    }

    /// Messages in delivery whose sender meets a condition; `$1` is this process.
    async fn sent_by(&self, condition: &str) -> Result<Vec<Intent>, StoreError> {
        let rows = sqlx::query(AssertSqlSafe(format!(
            "{SELECT_INTENT} WHERE m.state = 'sending' AND {condition} ORDER BY m.id"
        )))
        .bind(self.instance())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(messages::intent).collect()
    }
}
