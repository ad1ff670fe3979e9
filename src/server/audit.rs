//! The audit log beside its rows: making rows of what was only counted, removing what is old, and the question whether the
//! chain holds. What is written down is said where it happens; must not write down anything itself.

pub mod check;
pub mod export;
pub mod page;
pub mod question;

use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::model::time::Timestamp;
use crate::server::clock::Clock;
use crate::server::config::AuditConfig;
use crate::server::store::{Store, StoreError};

/// How often old and counted things are looked for.
const TICK: Duration = Duration::from_secs(600);

const DAY_SECONDS: i64 = 86_400;

/// Keeps the audit log in order.
pub struct AuditMaintenance {
    store: Store,
    clock: Clock,
    config: AuditConfig,
}

impl AuditMaintenance {
    pub fn new(store: Store, clock: Clock, config: AuditConfig) -> Self {
        Self { store, clock, config }
    }

    /// Looks again and again until `stop`.
    pub async fn run(&self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            if let Err(error) = self.tidy().await {
                tracing::error!(%error, "the audit log could not be tidied");
            }
        }
    }

    /// Makes rows of counts that are an hour old, and removes the rows that are older than they are kept.
    pub async fn tidy(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        self.store.record_counts(now).await?;
        let Some(cutoff) = self.cutoff(now) else { return Ok(()) };
        if let Some(removed) = self.store.remove_audit_before(cutoff, now).await? {
            tracing::info!(up_to = removed.number, "old records of the audit log were removed");
        }
        Ok(())
    }

    fn cutoff(&self, now: Timestamp) -> Option<Timestamp> {
        (self.config.days > 0).then(|| now.plus_seconds(-DAY_SECONDS * i64::from(self.config.days)))
    }
}
