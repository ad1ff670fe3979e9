//! Tells the other processes on the database that this one lives, follows the database's clock, and marks what ended processes were
//! sending as unknown. Must not send anything.

use std::time::Duration;

use anyhow::anyhow;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::server::clock::Clock;
use crate::server::jobs::Jobs;
use crate::server::store::Store;
use crate::server::tasks::{Task, Tasks};

/// Between two signs of life.
const BEAT: Duration = Duration::from_secs(2);

/// After so long a sign of life is given up, and the next one gets another connection: this one's network may have stalled for good.
const LONGEST: Duration = Duration::from_secs(10);

/// Cloning gives another handle.
#[derive(Clone)]
pub struct Heartbeat {
    store: Store,
    clock: Clock,
    jobs: Jobs,
    tasks: Tasks,
}

impl Heartbeat {
    pub fn new(store: Store, clock: Clock, jobs: Jobs, tasks: Tasks) -> Self {
        Self { store, clock, jobs, tasks }
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
                Ok(()) => self.tasks.succeeded(Task::Heartbeat),
                Err(error) => tracing::error!(error = format!("{error:#}"), "no sign of life could be given"),
            }
        }
    }

    async fn beat(&self) -> anyhow::Result<()> {
        self.follow_the_clock().await?;
        let now = self.clock.now();
        self.store.beat(now).await?;
        self.jobs.mark_unknown(self.store.abandoned(now).await?).await
    }

    async fn follow_the_clock(&self) -> anyhow::Result<()> {
        if let Some(time) = self.store.time().await? {
            self.clock.follow(time);
        }
        Ok(())
    }
}
