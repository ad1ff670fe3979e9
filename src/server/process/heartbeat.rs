//! Tells the other processes on the database that this one lives, follows the database's clock, and marks what ended processes were
//! sending as unknown. Must not send anything.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::anyhow;
use thiserror::Error;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::server::jobs::Jobs;
use crate::server::process::clock::Clock;
use crate::server::process::clock_check::ClockCheck;
use crate::server::process::tasks::{Task, Tasks};
use crate::server::store::{FileFault, Store};

/// Between two signs of life.
const BEAT: Duration = Duration::from_secs(2);

/// After so long a sign of life is given up, and the next one gets another connection: this one's network may have stalled for good.
const LONGEST: Duration = Duration::from_secs(10);

/// The log's message while the database cannot be written.
const CANNOT_WRITE: &str = "the database cannot be written";

/// Why nothing that is stored now can be relied upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WriteFault {
    #[error("the database cannot be written")]
    Failed,
    #[error(transparent)]
    File(#[from] FileFault),
}

/// Cloning gives another handle.
#[derive(Clone)]
pub struct Heartbeat {
    write_fault: Arc<Mutex<Option<WriteFault>>>,
    /// A write of a request failed, and no probe has succeeded since.
    is_probing: Arc<AtomicBool>,
    store: Store,
    clock: Clock,
    clock_check: ClockCheck,
    jobs: Jobs,
    tasks: Tasks,
}

impl Heartbeat {
    pub fn new((store, clock): (Store, Clock), clock_check: ClockCheck, jobs: Jobs, tasks: Tasks) -> Self {
        let (write_fault, is_probing) = (Arc::default(), Arc::default());
        Self { write_fault, is_probing, store, clock, clock_check, jobs, tasks }
    }

    /// Why the last sign of life could not be stored, or went to a file that nobody will find; `None` if all is well.
    pub fn write_fault(&self) -> Option<WriteFault> {
        *self.write_fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request could not use the database. Each heartbeat probes a larger write until one succeeds.
    pub fn request_failed(&self) {
        self.is_probing.store(true, Ordering::Relaxed);
    }

    fn set_write_fault(&self, fault: Option<WriteFault>) {
        *self.write_fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// Call it once, before anything is sent.
    pub async fn begin(&self) -> anyhow::Result<()> {
        self.follow_the_clock().await?;
        let abandoned = self.store.enter(self.clock.now()).await?;
        self.jobs.mark_unknown(abandoned).await
    }

    /// Until `stop`: cancel it when nothing is being sent any more.
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

    /// SQLite goes on writing to a file that was moved.
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
            self.store.probe_write().await?;
            self.is_probing.store(false, Ordering::Relaxed);
        }
        self.clock_check.beat().await?;
        self.jobs.mark_unknown(self.store.abandoned(now).await?).await
    }

    async fn follow_the_clock(&self) -> anyhow::Result<()> {
        if let Some(time) = self.store.time().await? {
            self.clock.follow(time);
        }
        Ok(())
    }
}
