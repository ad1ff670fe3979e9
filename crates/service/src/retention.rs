//! Removes data whose retention has ended (docs/retention.md): daily, in small steps with pauses between them, so that
//! requests are not delayed. The audit log has its own retention.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock_check::{ClockCheck, ClockError};
use base::config::RetentionConfig;
use base::instruments::Instruments;
use base::tasks::{Task, Tasks};
use base::work::Work;
use model::day::{Day, DayRange};
use model::time::Timestamp;
use store::maintenance::retention::{BesideDays, Leftovers, RowCounts, Slice};
use store::{Store, StoreError};

const BETWEEN_RUNS: Duration = Duration::from_secs(24 * 3_600);
/// The time until a failed run is tried again.
const AFTER_A_FAILURE: Duration = Duration::from_secs(600);
/// The interval of checking whether the clock is trusted again.
const CLOCK_CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// The pause between steps, in which others can take the write lock.
const BETWEEN_STEPS: Duration = Duration::from_millis(10);

/// How many jobs one step removes.
const JOBS_AT_ONCE: usize = 20;
/// The retention of unchanged drafts, of invalid one-time links, and of expired and revoked API tokens, in days.
const LEFTOVERS_DAYS: u32 = 90;

/// After this many single rows without a failure, steps remove several again.
const SINGLES_MAX: u32 = 500;
/// After this many rows in a row that cannot be removed, the rest of a table waits for the next run.
const FAILURES_IN_ROW_MAX: u32 = 20;

const DAY_SECONDS: i64 = 86_400;

/// Clones share their state.
#[derive(Clone)]
pub struct Retention {
    store: Store,
    clock_check: ClockCheck,
    config: RetentionConfig,
    instruments: Instruments,
    /// The task or command that removes.
    work: Work,
    /// The rows that could not be removed.
    failures: Arc<AtomicU64>,
}

impl Retention {
    pub fn new(
        store: Store,
        clock_check: ClockCheck,
        config: RetentionConfig,
        instruments: Instruments,
        work: Work,
    ) -> Self {
        Self { store, clock_check, config, instruments, work, failures: Arc::default() }
    }

    /// Removes once a day until `stop`.
    pub async fn run(&self, tasks: &Tasks, stop: &CancellationToken) {
        tasks.supervise(Task::Retention, stop, || self.remove_daily(tasks, stop)).await;
    }

    async fn remove_daily(&self, tasks: &Tasks, stop: &CancellationToken) {
        loop {
            tasks.pass("retention");
            let pause = match stop.run_until_cancelled(self.remove()).await {
                None => return,
                Some(Ok(_)) => {
                    tasks.succeeded(Task::Retention);
                    BETWEEN_RUNS
                }
                // Already logged by the clock check.
                Some(Err(ClockError::Jumped(_))) => {
                    tasks.idles(Task::Retention);
                    CLOCK_CHECK_INTERVAL
                }
                Some(Err(ClockError::Store(error))) => {
                    tasks.failed(Task::Retention, error);
                    AFTER_A_FAILURE
                }
            };
            if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
        }
    }

    /// Removes all data whose retention has ended, and records it. Returns the number of removed rows per table,
    /// including those of an interrupted earlier run. A row that cannot be removed stays, and is logged and counted
    /// ([`Self::failures`]). Fails while the clock is not trusted.
    pub async fn remove(&self) -> Result<RowCounts, ClockError> {
        let now = self.clock_check.trusted_now().await?;
        let (store, work, leftovers) = (&self.store, &self.work, before(now, LEFTOVERS_DAYS));
        for table in Leftovers::ALL {
            self.steps(table.table(), |slice| store.remove_leftovers(work, table, leftovers, now, slice))
                .await?;
        }
        self.area("webhooks", store.forget_old_secrets(work, now)).await?;
        if let Some(before) = self.jobs_before(now) {
            self.area("jobs", self.remove_jobs(before)).await?;
            self.steps("batches", |slice| store.remove_batches(work, before, slice)).await?;
        }
        if let Some(first) = self.first_day(now) {
            self.area("page_views", self.remove_days(first)).await?;
        }
        self.area("page_views", self.remove_stale_days()).await?;
        let removed = store.record_removed(work, now).await?;
        if !removed.is_empty() {
            tracing::info!(?removed, "old data was removed");
        }
        Ok(removed)
    }

    /// How many rows could not be removed so far.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// The number of rows per table that [`Self::remove`] would remove now.
    pub async fn due(&self) -> Result<RowCounts, StoreError> {
        let (now, _) = self.clock_check.inspect().await?;
        let leftovers = before(now, LEFTOVERS_DAYS);
        let mut counts = RowCounts::new();
        for table in Leftovers::ALL {
            self.store.count_leftovers(table, leftovers, &mut counts).await?;
        }
        if let Some(before) = self.jobs_before(now) {
            let mut next = Some(0);
            while let Some(start) = next {
                let old = self.store.old_jobs(start, before).await?;
                self.store.count_jobs(&old.ids, &mut counts).await?;
                next = old.next;
            }
            counts.insert("batches".to_owned(), self.store.old_batches(before).await?);
        }
        if let Some(first) = self.first_day(now) {
            self.store.count_days(first, &mut counts).await?;
        }
        counts.retain(|_, rows| *rows > 0);
        Ok(counts)
    }

    async fn remove_jobs(&self, before: Timestamp) -> Result<(), StoreError> {
        let mut next = Some(0);
        while let Some(start) = next {
            let old = self.store.old_jobs(start, before).await?;
            for ids in old.ids.chunks(JOBS_AT_ONCE) {
                match self.store.remove_jobs(&self.work, ids, before).await {
                    Ok(()) => {}
                    Err(error) if error.is_of_statement() => self.remove_jobs_singly(ids, before).await?,
                    Err(error) => return Err(error),
                }
                tokio::time::sleep(BETWEEN_STEPS).await;
            }
            next = old.next;
        }
        Ok(())
    }

    async fn remove_jobs_singly(&self, ids: &[String], before: Timestamp) -> Result<(), StoreError> {
        for id in ids {
            match self.store.remove_jobs(&self.work, std::slice::from_ref(id), before).await {
                Ok(()) => {}
                Err(error) if error.is_of_statement() => self.failed("jobs", id, &error),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn remove_days(&self, first: Day) -> Result<(), StoreError> {
        let (store, work, before) = (&self.store, &self.work, self.failures());
        self.steps("history_days", |slice| store.remove_days(work, first, slice)).await?;
        for project in store.projects_with_views().await? {
            self.steps("page_views", |slice| store.remove_views(work, &project, first, slice)).await?;
        }
        for table in BesideDays::ALL {
            // Page views that stay need their paths.
            if matches!(table, BesideDays::PagePaths) && self.failures() > before {
                continue;
            }
            self.steps(table.table(), |slice| store.remove_beside_days(work, table, first, slice)).await?;
        }
        Ok(())
    }

    async fn remove_stale_days(&self) -> Result<(), StoreError> {
        for (project, day) in self.store.stale_days().await? {
            self.steps("page_views", |_| self.store.remove_stale(&self.work, &project, day)).await?;
        }
        Ok(())
    }

    /// Removes the old rows of an area. A failure of a statement that finds them does not end the run.
    async fn area(
        &self,
        table: &'static str,
        removal: impl Future<Output = Result<(), StoreError>>,
    ) -> Result<(), StoreError> {
        match removal.await {
            Err(error) if error.is_of_statement() => {
                self.failed(table, "all", &error);
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Repeats a step until there is nothing left to remove. After a failure it continues row by row, and leaves out
    /// the rows that cannot be removed. Fails only if the database does not respond.
    async fn steps<F>(&self, table: &'static str, step: impl Fn(Slice) -> F) -> Result<(), StoreError>
    where
        F: Future<Output = Result<u64, StoreError>>,
    {
        let (mut slice, mut singles, mut in_row) = (Slice::default(), 0, 0);
        loop {
            match step(slice).await {
                Ok(0) => return Ok(()),
                Ok(_) if slice.is_single && singles < SINGLES_MAX => (singles, in_row) = (singles + 1, 0),
                // The row that failed can be removed now, or was left out.
                Ok(_) => (slice.is_single, in_row) = (false, 0),
                Err(error) if !error.is_of_statement() => return Err(error),
                Err(_) if !slice.is_single => (slice.is_single, singles) = (true, 0),
                Err(error) => {
                    self.failed(table, &format!("row {}", slice.skipped + 1), &error);
                    (slice.skipped, slice.is_single, in_row) = (slice.skipped + 1, false, in_row + 1);
                    if in_row >= FAILURES_IN_ROW_MAX {
                        return Ok(());
                    }
                }
            }
            tokio::time::sleep(BETWEEN_STEPS).await;
        }
    }

    /// Logs and counts a row that stays.
    fn failed(&self, table: &'static str, row: &str, error: &StoreError) {
        tracing::error!(table, row, %error, "an old row could not be removed; the others are");
        self.instruments.retention_failure(table);
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Jobs whose last change is before this time are removed.
    fn jobs_before(&self, now: Timestamp) -> Option<Timestamp> {
        (self.config.jobs_days > 0).then(|| before(now, self.config.jobs_days))
    }

    fn first_day(&self, now: Timestamp) -> Option<Day> {
        first_day(self.config.history_days, now)
    }
}

/// The oldest retained day for a retention of `days` including today; `None` if all are retained.
pub fn first_day(days: u32, now: Timestamp) -> Option<Day> {
    (days > 0).then(|| DayRange::ending(Day::of(now), days.into()).from())
}

fn before(now: Timestamp, days: u32) -> Timestamp {
    now.plus_seconds(-DAY_SECONDS * i64::from(days))
}
