//! Compares the clock with the last heartbeat. After a jump of more than a day the clock may be wrong, and no data may
//! be removed because of its age.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use thiserror::Error;

use base::clock::Clock;
use base::failures::Failures;
use model::time::Timestamp;
use model::upstream::ClockJump;
use store::{Authority, Store, StoreError};

/// The interval of recorded heartbeats.
const EVERY: Duration = Duration::from_secs(60);

/// The log's message while the clock is not trusted.
const NOT_TRUSTED: &str =
    "old data is not removed: the clock jumped ahead. An administrator confirms the time at /admin/upstream";

/// The reason why no data is removed.
#[derive(Debug, Error)]
pub enum ClockError {
    #[error("the clock is at {}, and the last heartbeat was more than a day before, at {}", .0.now, .0.from)]
    Jumped(ClockJump),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Clones share their state.
#[derive(Clone)]
pub struct ClockCheck {
    store: Store,
    clock: Clock,
    failures: Failures,
    latest: Arc<Mutex<Latest>>,
}

#[derive(Default)]
struct Latest {
    jump: Option<ClockJump>,
    /// The time of the last record, by the monotonic clock.
    recorded: Option<Duration>,
}

impl ClockCheck {
    pub fn new(store: Store, clock: Clock, failures: Failures) -> Self {
        Self { store, clock, failures, latest: Arc::default() }
    }

    /// The last detected jump, unless the clock has been trusted since.
    pub fn jump(&self) -> Option<ClockJump> {
        self.latest(|latest| latest.jump)
    }

    /// Records a heartbeat, once a minute at most.
    pub async fn beat(&self) -> Result<(), StoreError> {
        let elapsed = self.clock.elapsed();
        let is_due =
            |latest: &mut Latest| latest.recorded.is_none_or(|at| elapsed.saturating_sub(at) >= EVERY);
        if self.latest(is_due) {
            self.record().await?;
        }
        Ok(())
    }

    /// The current time, if it can be trusted: data that is old by this time may be removed. Uses the database's clock
    /// if it has one.
    pub async fn trusted_now(&self) -> Result<Timestamp, ClockError> {
        match self.record().await? {
            (now, None) => Ok(now),
            (_, Some(jump)) => Err(ClockError::Jumped(jump)),
        }
    }

    /// The same check as [`Self::trusted_now`], without recording it.
    pub async fn inspect(&self) -> Result<(Timestamp, Option<ClockJump>), StoreError> {
        let now = self.now().await?;
        Ok((now, self.store.clock_jump(now).await?.map(|from| ClockJump { from, now })))
    }

    /// Trusts the clock from now on, by decision of a person. Returns whether it was not trusted.
    pub async fn trust(&self, by: Authority<'_>) -> Result<bool, StoreError> {
        // Sets the clock to the database's time, which the decision is recorded with.
        self.now().await?;
        let was_needed = self.store.trust_clock(by).await?;
        self.record().await?;
        Ok(was_needed)
    }

    async fn record(&self) -> Result<(Timestamp, Option<ClockJump>), StoreError> {
        let now = self.now().await?;
        let jump = self.store.record_clock(now).await?.map(|from| ClockJump { from, now });
        match &jump {
            Some(jump) => {
                self.failures.failed(NOT_TRUSTED, format!("the last heartbeat was at {}", jump.from))
            }
            None => self.failures.ended(NOT_TRUSTED),
        }
        let recorded = Some(self.clock.elapsed());
        self.latest(|latest| *latest = Latest { jump, recorded });
        Ok((now, jump))
    }

    async fn now(&self) -> Result<Timestamp, StoreError> {
        if let Some(time) = self.store.time().await? {
            self.clock.follow(time);
        }
        Ok(self.clock.now())
    }

    fn latest<T>(&self, with: impl FnOnce(&mut Latest) -> T) -> T {
        with(&mut self.latest.lock())
    }
}
