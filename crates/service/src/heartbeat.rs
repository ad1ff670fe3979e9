//! Records a heartbeat for the other processes with the same database, and follows the database's clock. Marks messages
//! of ended processes as unknown, and ends claims of this process without a delivery.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::anyhow;
use parking_lot::Mutex;
use thiserror::Error;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::clock_check::ClockCheck;
use crate::jobs::Jobs;
use base::clock::Clock;
use base::tasks::{Task, Tasks};
use base::work::Work;
use store::{FileFault, Store};

/// The interval of heartbeats.
const BEAT: Duration = Duration::from_secs(2);

/// The timeout of a heartbeat. The next one uses another connection, because the network of this one may have stalled.
const LONGEST: Duration = Duration::from_secs(10);

/// The log's message while the database cannot be written.
const CANNOT_WRITE: &str = "the database cannot be written";

/// The reason why stored data may get lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WriteFault {
    #[error("the database cannot be written")]
    Failed,
    #[error(transparent)]
    File(#[from] FileFault),
}

/// Clones share their state.
#[derive(Clone)]
pub struct Heartbeat {
    write_fault: Arc<Mutex<Option<WriteFault>>>,
    /// Whether the write of a request failed, and no probe has succeeded since.
    is_probing: Arc<AtomicBool>,
    store: Store,
    clock: Clock,
    clock_check: ClockCheck,
    jobs: Jobs,
    tasks: Tasks,
    work: Work,
}

impl Heartbeat {
    pub fn new(
        store: Store,
        clock: Clock,
        clock_check: ClockCheck,
        jobs: Jobs,
        tasks: Tasks,
        work: Work,
    ) -> Self {
        let (write_fault, is_probing) = (Arc::default(), Arc::default());
        Self { write_fault, is_probing, store, clock, clock_check, jobs, tasks, work }
    }

    /// The reason why the last heartbeat could not be stored, or went to a file that was moved or removed; `None` if it
    /// succeeded.
    pub fn write_fault(&self) -> Option<WriteFault> {
        *self.write_fault.lock()
    }

    /// Records that a request could not use the database. Each heartbeat then probes a larger write until one succeeds.
    pub fn request_failed(&self) {
        self.is_probing.store(true, Ordering::Relaxed);
    }

    fn set_write_fault(&self, fault: Option<WriteFault>) {
        *self.write_fault.lock() = fault;
    }

    /// Must be called once, before the first delivery.
    pub async fn begin(&self) -> anyhow::Result<()> {
        self.follow_the_clock().await?;
        let abandoned = self.store.enter(&self.work, self.clock.now()).await?;
        self.jobs.mark_unknown(abandoned).await
    }

    /// Runs until `stop`, which must not be cancelled before the last delivery has ended.
    pub async fn run(&self, stop: CancellationToken) {
        self.tasks.supervise(Task::Heartbeat, &stop, || self.go_on(&stop)).await;
        if let Err(error) = self.store.leave(self.clock.now()).await {
            tracing::warn!(%error, "this process could not take its leave from the others on the database");
        }
    }

    async fn go_on(&self, stop: &CancellationToken) {
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(beat.tick()).await.is_some() {
            self.tasks.pass("heartbeat");
            let beaten = tokio::time::timeout(LONGEST, self.beat()).await;
            match beaten.unwrap_or_else(|_| Err(anyhow!("the database did not answer in time"))) {
                Ok(()) => {
                    self.tasks.succeeded(Task::Heartbeat);
                    self.note_file();
                }
                Err(error) => {
                    self.tasks.failed(Task::Heartbeat, error);
                    self.set_write_fault(Some(WriteFault::Failed));
                }
            }
        }
    }

    /// SQLite continues to write to a file that was moved.
    fn note_file(&self) {
        let fault = self.store.check_file().err().map(WriteFault::File);
        match &fault {
            Some(fault) => self.tasks.failures().failed(CANNOT_WRITE, fault),
            None => self.tasks.failures().ended(CANNOT_WRITE),
        }
        self.set_write_fault(fault);
    }

    async fn beat(&self) -> anyhow::Result<()> {
        self.follow_the_clock().await?;
        let now = self.clock.now();
        self.store.beat(now).await?;
        if self.is_probing.load(Ordering::Relaxed) {
            self.store.probe_write(&self.work).await?;
            self.is_probing.store(false, Ordering::Relaxed);
        }
        self.clock_check.beat().await?;
        self.jobs.end_own_claims().await?;
        self.jobs.mark_unknown(self.store.abandoned(now).await?).await
    }

    async fn follow_the_clock(&self) -> anyhow::Result<()> {
        if let Some(time) = self.store.time().await? {
            self.clock.follow(time);
        }
        Ok(())
    }
}
