//! What Docket exists for: jobs that are never lost and never started twice.
//! Must not contain SQL, and must not send anything that is not a committed intent.

mod cursor;
mod delivery;
mod filing;
mod filter;
mod find;
pub mod intent;
mod poller;
mod saved_views;

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::server::clock::Clock;
use crate::server::store::Store;
use crate::server::upstream::Upstream;
use crate::server::upstream::governor::Governor;

/// How often queued messages and due reads are looked for.
const TICK: Duration = Duration::from_millis(500);

/// The jobs of the panel: taking them on, delivering them, following them. Cloning gives another handle.
#[derive(Clone)]
pub struct Jobs {
    store: Store,
    upstream: Upstream,
    governor: Governor,
    clock: Clock,
    timing: Timing,
    /// Ticks whenever a delivery ends.
    settled: watch::Sender<u64>,
    /// What is being sent now; outlives the request that asked for it.
    deliveries: TaskTracker,
}

#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// The shortest time between two reads of one job.
    pub poll_interval: Duration,
    /// The deadline of one upstream exchange.
    pub exchange: Duration,
}

impl Jobs {
    pub fn new(store: Store, upstream: Upstream, governor: Governor, clock: Clock, timing: Timing) -> Self {
        let (settled, _) = watch::channel(0);
        Self { store, upstream, governor, clock, timing, settled, deliveries: TaskTracker::new() }
    }

    /// Delivers and follows until `stop`; then waits for what is being sent to end.
    pub async fn run(&self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            if let Err(error) = self.deliver_due().await {
                tracing::error!(error = format!("{error:#}"), "queued messages could not be delivered");
            }
            if let Err(error) = self.poll_due().await {
                tracing::error!(error = format!("{error:#}"), "jobs could not be followed");
            }
        }
        self.deliveries.close();
        self.deliveries.wait().await;
    }
}
