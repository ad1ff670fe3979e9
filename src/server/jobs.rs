//! What Docket exists for: jobs that are never lost and never started twice.
//! Must not contain SQL, and must not send anything that is not a committed intent.

mod archive_and_tags;
pub mod batch;
mod cursor;
mod delivery;
pub mod drafts;
pub mod filter;
mod find;
mod import;
pub mod intent;
mod poller;
mod queue;
pub mod resolve;
mod similar;
pub mod templates;

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::model::time::Timestamp;
use crate::server::clock::Clock;
use crate::server::store::Store;
use crate::server::store::clock_rollback::PlanningLimits;
use crate::server::upstream::Upstream;
use crate::server::upstream::governor::Governor;

/// How often queued messages and due polls are looked for.
const TICK: Duration = Duration::from_millis(500);

/// The jobs of the panel: taking them on, delivering them, tracking them. Cloning gives another handle.
#[derive(Clone)]
pub struct Jobs {
    store: Store,
    upstream: Upstream,
    governor: Governor,
    clock: Clock,
    timing: Timing,
    /// The longest prompt, in characters.
    prompt_max: u32,
    /// Ticks whenever a delivery ends.
    outcomes: watch::Sender<u64>,
    /// What is being sent now; outlives the request that asked for it.
    deliveries: TaskTracker,
}

#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// The shortest time between two polls of one job.
    pub poll_interval: Duration,
    /// The deadline of one upstream exchange.
    pub exchange: Duration,
    /// How long a session lives.
    pub session: Duration,
}

impl Jobs {
    pub fn new(
        store: Store,
        upstream: Upstream,
        governor: Governor,
        clock: Clock,
        timing: Timing,
        prompt_max: u32,
    ) -> Self {
        let (outcomes, _) = watch::channel(0);
        let deliveries = TaskTracker::new();
        Self { store, upstream, governor, clock, timing, prompt_max, outcomes, deliveries }
    }

    /// Lets everybody look who waits for the end of a delivery.
    fn announce_outcome(&self) {
        self.outcomes.send_modify(|count| *count += 1);
    }

    /// Delivers and polls until `stop`; then waits for what is being sent to end. Side by side: polls that take long keep no
    /// prompt waiting.
    pub async fn run(&self, stop: CancellationToken) {
        tokio::join!(self.send_queued(&stop), self.poll_jobs(&stop));
        self.delivered().await;
    }

    async fn send_queued(&self, stop: &CancellationToken) {
        let mut tick = tick();
        // At the start it may have been set back since the last run.
        let mut latest = Timestamp::from_millis(i64::MAX);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            if let Err(error) = self.handle_clock_rollback(&mut latest).await {
                tracing::error!(error = format!("{error:#}"), "the ledger still waits for an earlier clock");
            }
            if let Err(error) = self.deliver_due().await {
                tracing::error!(error = format!("{error:#}"), "queued messages could not be delivered");
            }
        }
    }

    /// Polls may be dropped at any point: the next one of each job is planned before it is made.
    async fn poll_jobs(&self, stop: &CancellationToken) {
        let mut tick = tick();
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            if let Some(Err(error)) = stop.run_until_cancelled(self.poll_due()).await {
                tracing::error!(error = format!("{error:#}"), "jobs could not be followed");
            }
        }
    }

    /// Waits for what is being sent to end; from now on an outcome that cannot be recorded keeps nobody waiting for long.
    pub async fn delivered(&self) {
        self.deliveries.close();
        self.deliveries.wait().await;
    }

    /// Notices a clock rollback, by a clock that shows less than `latest`, and clamps what was planned by the old time.
    async fn handle_clock_rollback(&self, latest: &mut Timestamp) -> anyhow::Result<()> {
        let now = self.clock.now();
        if now < *latest {
            let limits = PlanningLimits { session: self.timing.session, poll: self.longest_pause() };
            self.store.clamp_future_timestamps(limits, now).await?;
        }
        *latest = now;
        Ok(())
    }
}

fn tick() -> Interval {
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick
}
