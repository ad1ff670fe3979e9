//! Page views by day, kept in the database: reads one page of one day at a time from the upstream, newest day first,
//! each project in turn, and only from what the budget leaves to background work (docs/adr/0010-when-a-day-is-final.md).
//! Must not answer questions about the figures, and must not contain SQL.

mod backoff;
mod fetch;
mod finality;
mod next;
mod progress;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio_util::sync::CancellationToken;

use self::backoff::Backoff;
use crate::model::day::{Day, DayRange};
use crate::model::time::Timestamp;
use crate::model::user::Project;
use crate::server::clock::Clock;
use crate::server::store::Store;
use crate::server::upstream::Upstream;
use crate::server::upstream::governor::Governor;

/// Between two calls: the upstream has other callers, and so has this machine.
const BETWEEN_CALLS: Duration = Duration::from_millis(100);
/// The longest time without a look at what is due; a clock that is set meanwhile cannot make it longer.
const BETWEEN_LOOKS: Duration = Duration::from_secs(30);
/// For how long a process keeps the history without saying so again; then another one on the same database may.
const LEASE: Duration = Duration::from_secs(120);

/// The daily history of all projects. Cloning gives another handle.
#[derive(Clone)]
pub struct History {
    store: Store,
    upstream: Upstream,
    governor: Governor,
    clock: Clock,
    projects: Arc<[Project]>,
    /// How many days are kept in step, today included.
    days: u32,
    /// One step at a time; holds which project's turn it is.
    turn: Arc<AsyncMutex<usize>>,
    backoff: Arc<Mutex<Backoff>>,
    /// Somebody wants days: no need to wait for the next look.
    asked: Arc<Notify>,
    /// What this process is called among those on the same database.
    holder: Arc<str>,
}

/// What one step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A page was fetched, and more of its day is to come.
    FetchedPage,
    /// A day is here, whole.
    Wrote(Day),
    /// The upstream gave no usable answer; another project may have more luck.
    Failed,
    /// Nothing is to be done, or can be, before then; nothing: until something becomes due.
    Wait(Option<Timestamp>),
}

impl History {
    pub fn new(
        store: Store,
        upstream: Upstream,
        governor: Governor,
        clock: Clock,
        projects: Arc<[Project]>,
        days: u32,
    ) -> Self {
        Self {
            store,
            upstream,
            governor,
            clock,
            projects,
            days,
            turn: Arc::default(),
            backoff: Arc::default(),
            asked: Arc::default(),
            holder: uuid::Uuid::new_v4().to_string().into(),
        }
    }

    /// Makes one step after another until `stop`, while no other process on this database does. A step that is under way then
    /// is given up: what it read is asked for again.
    pub async fn run(&self, stop: CancellationToken) {
        self.go_on(&stop).await;
        if let Err(error) = self.store.release_history_lease(&self.holder).await {
            tracing::warn!(%error, "another process has to wait before it can keep the history");
        }
    }

    async fn go_on(&self, stop: &CancellationToken) {
        while let Some(step) = stop.run_until_cancelled(self.step_alone()).await {
            let pause = match step {
                Ok(Step::FetchedPage | Step::Wrote(_) | Step::Failed) => BETWEEN_CALLS,
                Ok(Step::Wait(until)) => self.until(until),
                Err(error) => {
                    tracing::error!(error = format!("{error:#}"), "the history could not be kept in step");
                    BETWEEN_LOOKS
                }
            };
            let asked = async {
                if pause > BETWEEN_CALLS {
                    self.asked.notified().await;
                } else {
                    std::future::pending().await
                }
            };
            let paused = async { tokio::time::timeout(pause, asked).await };
            if stop.run_until_cancelled(paused).await.is_none() {
                return;
            }
        }
    }

    async fn step_alone(&self) -> anyhow::Result<Step> {
        match self.store.acquire_history_lease(&self.holder, self.clock.now(), LEASE).await? {
            true => self.step().await,
            false => Ok(Step::Wait(None)),
        }
    }

    fn until(&self, until: Option<Timestamp>) -> Duration {
        let millis = until.map_or(i64::MAX, |until| until.as_millis() - self.clock.now().as_millis());
        Duration::from_millis(millis.max(0).unsigned_abs()).clamp(BETWEEN_CALLS, BETWEEN_LOOKS)
    }

    /// The days that are kept in step.
    fn window(&self, now: Timestamp) -> DayRange {
        DayRange::ending(Day::of(now), self.days.into())
    }

    fn backoff(&self) -> MutexGuard<'_, Backoff> {
        self.backoff.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
