//! Syncs page views by day into the database. Fetches one page of one day at a time from the upstream, the most urgent day first (`next`), each
//! project in turn. Uses only the calls that the budget leaves to background work
//! (docs/adr/0010-when-a-day-is-final.md).

mod backoff;
mod fetch;
mod finality;
mod next;
mod progress;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio_util::sync::CancellationToken;

use self::backoff::Backoff;
pub use self::progress::Wanted;
use base::clock::Clock;
use base::settings::{Live, Settings};
use base::tasks::{Task, Tasks};
use base::work::Work;
use clients::upstream::Upstream;
use clients::upstream::governor::Governor;
use model::day::{Day, DayRange};
use model::id::ProjectId;
use model::time::Timestamp;
use model::user::Project;
use store::Store;

/// The pause between two calls, which leaves room for other callers and for the CPU.
const BETWEEN_CALLS: Duration = Duration::from_millis(100);
/// The maximum pause between two checks for due days, by a monotonic clock: a clock change does not prolong it.
const BETWEEN_CHECKS: Duration = Duration::from_secs(30);
/// How long the lease is valid without renewal. After that, another process with the same database may acquire it.
const LEASE: Duration = Duration::from_secs(120);

/// The settings of the history.
#[derive(Clone)]
pub struct HistorySettings {
    projects: Arc<[Project]>,
    /// The days to keep in sync, including today.
    days: u32,
    /// The days before them, which are fetched once.
    days_before: u32,
    /// The retained days, including today; 0 retains all.
    retained_days: u32,
}

impl HistorySettings {
    pub fn of(settings: &Settings) -> Self {
        Self {
            projects: settings.projects.clone(),
            days: settings.budget.history_days,
            days_before: settings.budget.history_before,
            retained_days: settings.retention.history_days,
        }
    }
}

/// The daily history of all projects. Clones share their state.
#[derive(Clone)]
pub struct History {
    tasks: Tasks,
    store: Store,
    upstream: Upstream,
    governor: Governor,
    clock: Clock,
    settings: Live<HistorySettings>,
    /// Serializes the steps; contains the index of the next project.
    next_project: Arc<AsyncMutex<usize>>,
    backoff: Arc<Mutex<Backoff>>,
    /// The projects whose last fetched day was a requested one.
    requested_last: Arc<Mutex<HashSet<ProjectId>>>,
    /// Notified when days are requested, so that `run` continues at once.
    days_requested: Arc<Notify>,
    work: Work,
}

/// The result of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A page was fetched, and more pages of its day follow.
    FetchedPage,
    /// A complete day was written.
    Wrote(Day),
    /// The upstream returned no usable response, or the day could not be stored; another day or project may succeed.
    Failed,
    /// No step is possible before this time; `None`: until something becomes due.
    Wait(Option<Timestamp>),
}

impl History {
    pub fn new(
        store: Store,
        upstream: Upstream,
        governor: Governor,
        clock: Clock,
        settings: Live<HistorySettings>,
        tasks: Tasks,
        work: Work,
    ) -> Self {
        Self {
            tasks,
            store,
            upstream,
            governor,
            clock,
            settings,
            next_project: Arc::default(),
            backoff: Arc::default(),
            requested_last: Arc::default(),
            days_requested: Arc::default(),
            work,
        }
    }

    /// Makes steps until `stop`, while this process has the lease. A step that is cancelled then is repeated later.
    pub async fn run(&self, stop: CancellationToken) {
        self.tasks.supervise(Task::History, &stop, || self.go_on(&stop)).await;
        if let Err(error) = self.store.release_history_lease(&self.work).await {
            tracing::warn!(%error, "the history lease could not be released");
        }
    }

    async fn go_on(&self, stop: &CancellationToken) {
        while let Some(step) = stop.run_until_cancelled(self.step_alone()).await {
            if step.is_ok() {
                self.tasks.succeeded(Task::History);
            }
            self.tasks.pass("history");
            let pause = match step {
                Ok(Step::FetchedPage | Step::Wrote(_) | Step::Failed) => BETWEEN_CALLS,
                Ok(Step::Wait(until)) => self.until(until),
                Err(error) => {
                    self.tasks.failed(Task::History, error);
                    BETWEEN_CHECKS
                }
            };
            let requested = async {
                if pause > BETWEEN_CALLS {
                    self.days_requested.notified().await;
                } else {
                    std::future::pending().await
                }
            };
            let paused = async { tokio::time::timeout(pause, requested).await };
            if stop.run_until_cancelled(paused).await.is_none() {
                return;
            }
        }
    }

    /// A step, if this process has the lease. With nothing to fetch, it leaves the lease to others: their configuration may name other projects.
    /// While it waits for a pause or for the budget, it keeps the lease: only this process knows its pauses.
    async fn step_alone(&self) -> anyhow::Result<Step> {
        if !self.store.acquire_history_lease(&self.work, self.clock.now(), LEASE).await? {
            return Ok(Step::Wait(None));
        }
        let step = self.step().await?;
        if matches!(step, Step::Wait(None)) {
            self.store.release_history_lease(&self.work).await?;
        }
        Ok(step)
    }

    fn until(&self, until: Option<Timestamp>) -> Duration {
        let millis = until.map_or(i64::MAX, |until| until.as_millis() - self.clock.now().as_millis());
        Duration::from_millis(millis.max(0).unsigned_abs()).clamp(BETWEEN_CALLS, BETWEEN_CHECKS)
    }

    /// The days to keep in sync.
    pub fn window(&self, now: Timestamp) -> DayRange {
        DayRange::ending(Day::of(now), self.days().into())
    }

    /// The days before the window, which are fetched once; `None` if there are none.
    fn before_window(&self, now: Timestamp) -> Option<DayRange> {
        let last = self.window(now).from().plus_days(-1);
        let before = self.settings.current().days_before;
        (before > 0).then(|| DayRange::ending(last, before.into()))
    }

    /// The number of days to keep in sync, including today.
    fn days(&self) -> u32 {
        self.settings.current().days
    }

    /// The number of retained days, including today; 0 retains all.
    fn retained_days(&self) -> u32 {
        self.settings.current().retained_days
    }

    fn backoff(&self) -> MutexGuard<'_, Backoff> {
        self.backoff.lock()
    }
}
