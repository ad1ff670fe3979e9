//! Removes data whose retention has ended (docs/retention.md): daily, in small steps with pauses between them, so that
//! requests are not delayed. The audit log has its own retention.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::model::day::{Day, DayRange};
use crate::model::time::Timestamp;
use crate::server::config::RetentionConfig;
use crate::server::process::clock_check::{ClockCheck, ClockError};
use crate::server::process::tasks::{Task, Tasks};
use crate::server::store::maintenance::retention::RowCounts;
use crate::server::store::{Store, StoreError};
use crate::server::work::Work;

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

const DAY_SECONDS: i64 = 86_400;

/// Clones share their state.
#[derive(Clone)]
pub struct Retention {
    store: Store,
    clock_check: ClockCheck,
    config: RetentionConfig,
    work: Work,
}

impl Retention {
    /// `work`: the task or command that removes.
    pub fn new(store: Store, clock_check: ClockCheck, config: RetentionConfig, work: Work) -> Self {
        Self { store, clock_check, config, work }
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
    /// including those of an interrupted earlier run. Fails while the clock is not trusted.
    pub async fn remove(&self) -> Result<RowCounts, ClockError> {
        let now = self.clock_check.trusted_now().await?;
        let leftovers = before(now, LEFTOVERS_DAYS);
        steps(|| self.store.remove_drafts(&self.work, leftovers)).await?;
        steps(|| self.store.remove_setup_links(&self.work, leftovers)).await?;
        steps(|| self.store.remove_password_links(&self.work, leftovers)).await?;
        steps(|| self.store.remove_api_tokens(&self.work, leftovers)).await?;
        steps(|| self.store.remove_invitations(&self.work, leftovers, now)).await?;
        if let Some(before) = self.jobs_before(now) {
            self.remove_jobs(before).await?;
            steps(|| self.store.remove_batches(&self.work, before)).await?;
        }
        if let Some(first) = self.first_day(now) {
            steps(|| self.store.remove_days(&self.work, first)).await?;
            steps(|| self.store.remove_views(&self.work, first)).await?;
            steps(|| self.store.remove_beside_days(&self.work, first)).await?;
        }
        for (project, day) in self.store.stale_days().await? {
            steps(|| self.store.remove_stale(&self.work, &project, day)).await?;
        }
        let removed = self.store.record_removed(&self.work, now).await?;
        if !removed.is_empty() {
            tracing::info!(?removed, "old data was removed");
        }
        Ok(removed)
    }

    /// The number of rows per table that [`Self::remove`] would remove now.
    pub async fn due(&self) -> Result<RowCounts, StoreError> {
        let (now, _) = self.clock_check.inspect().await?;
        let leftovers = before(now, LEFTOVERS_DAYS);
        let mut counts = RowCounts::new();
        counts.insert("drafts".to_owned(), self.store.old_drafts(leftovers).await?);
        counts.insert("setup_links".to_owned(), self.store.old_setup_links(leftovers).await?);
        counts.insert("password_links".to_owned(), self.store.old_password_links(leftovers).await?);
        counts.insert("api_tokens".to_owned(), self.store.old_api_tokens(leftovers).await?);
        let (invitations, users) = self.store.old_invitations(leftovers).await?;
        counts.insert("invitations".to_owned(), invitations);
        counts.insert("users".to_owned(), users);
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
                self.store.remove_jobs(&self.work, ids, before).await?;
                tokio::time::sleep(BETWEEN_STEPS).await;
            }
            next = old.next;
        }
        Ok(())
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

/// Repeats a step until there is nothing left to remove.
async fn steps<F>(step: impl Fn() -> F) -> Result<(), StoreError>
where
    F: Future<Output = Result<u64, StoreError>>,
{
    while step().await? > 0 {
        tokio::time::sleep(BETWEEN_STEPS).await;
    }
    Ok(())
}
