//! Maintenance of the audit log: converting counts to rows, removing old rows, and verification. Actions are recorded
//! where they happen, not here.

pub mod check;
pub mod export;
pub mod page;
pub mod query;

use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::clock_check::{ClockCheck, ClockError};
use base::config::AuditConfig;
use base::tasks::{Task, Tasks};
use base::work::Work;
use model::time::Timestamp;
use store::{Store, StoreError};

/// The interval of the maintenance.
const TICK: Duration = Duration::from_secs(600);

/// Rows that one step of a removal removes, and the pause after it.
const ROWS_AT_ONCE: NonZeroU32 = NonZeroU32::new(500).unwrap();
const BETWEEN_SLICES: Duration = Duration::from_millis(10);

const DAY_SECONDS: i64 = 86_400;

/// Maintains the audit log.
pub struct AuditMaintenance {
    store: Store,
    clock_check: ClockCheck,
    tasks: Tasks,
    config: AuditConfig,
    work: Work,
}

impl AuditMaintenance {
    pub fn new(store: Store, clock_check: ClockCheck, tasks: Tasks, config: AuditConfig, work: Work) -> Self {
        Self { store, clock_check, tasks, config, work }
    }

    /// Runs the maintenance periodically until `stop`.
    pub async fn run(&self, stop: CancellationToken) {
        self.tasks.supervise(Task::Audit, &stop, || self.tidy_until(&stop)).await;
    }

    async fn tidy_until(&self, stop: &CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            self.tasks.pass("audit");
            let Some(tidied) = stop.run_until_cancelled(self.tidy()).await else { return };
            match tidied {
                Ok(()) => self.tasks.succeeded(Task::Audit),
                Err(error) => self.tasks.failed(Task::Audit, error),
            }
        }
    }

    /// Converts counts that are an hour old to rows, and removes rows older than the retention, unless the clock is not trusted.
    pub async fn tidy(&self) -> Result<(), StoreError> {
        let (now, _) = self.clock_check.inspect().await?;
        self.store.record_counts(&self.work, now).await?;
        let now = match self.clock_check.trusted_now().await {
            Ok(now) => now,
            Err(ClockError::Jumped(_)) => return Ok(()),
            Err(ClockError::Store(error)) => return Err(error),
        };
        // What an interrupted removal left.
        self.remove_slices().await?;
        let Some(cutoff) = self.cutoff(now) else { return Ok(()) };
        if let Some(last) = self.store.begin_audit_removal(&self.work, cutoff, now).await? {
            self.remove_slices().await?;
            tracing::info!(up_to = last.number, "old records of the audit log were removed");
        }
        Ok(())
    }

    /// Removes the rows of the newest removal, with pauses in which others can write.
    async fn remove_slices(&self) -> Result<(), StoreError> {
        while self.store.remove_audit_slice(&self.work, ROWS_AT_ONCE).await? > 0 {
            tokio::time::sleep(BETWEEN_SLICES).await;
        }
        Ok(())
    }

    fn cutoff(&self, now: Timestamp) -> Option<Timestamp> {
        (self.config.days > 0).then(|| now.plus_seconds(-DAY_SECONDS * i64::from(self.config.days)))
    }
}
