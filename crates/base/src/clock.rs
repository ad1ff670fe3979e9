//! The only source of the current time on the server, so that tests can freeze and move it. No other module reads the
//! system clock for a decision.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use model::time::Timestamp;

/// A clock, shared by clones.
#[derive(Clone, Default)]
pub struct Clock {
    frozen_at: Option<Arc<AtomicI64>>,
    /// The difference to the system clock, in milliseconds.
    ahead: Arc<AtomicI64>,
}

impl Clock {
    pub fn system() -> Self {
        Self::default()
    }

    /// A clock that does not advance until [`Clock::advance`] or [`Clock::set`] moves it.
    pub fn frozen(at: Timestamp) -> Self {
        Self { frozen_at: Some(Arc::new(AtomicI64::new(at.as_millis()))), ahead: Arc::default() }
    }

    /// A clock that is `ahead` milliseconds fast.
    pub fn fast_by(ahead: i64) -> Self {
        Self { frozen_at: None, ahead: Arc::new(AtomicI64::new(ahead)) }
    }

    pub fn now(&self) -> Timestamp {
        match &self.frozen_at {
            Some(millis) => Timestamp::from_millis(millis.load(Ordering::SeqCst)),
            None => Timestamp::from_millis(machine_millis() + self.ahead.load(Ordering::SeqCst)),
        }
    }

    /// Continues from `time`, the current time of another clock. A frozen clock ignores it.
    pub fn follow(&self, time: Timestamp) {
        self.ahead.store(time.as_millis() - machine_millis(), Ordering::SeqCst);
    }

    /// Monotonic time, for intervals that a clock rollback must not extend.
    pub fn elapsed(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        match &self.frozen_at {
            Some(millis) => Duration::from_millis(millis.load(Ordering::SeqCst).unsigned_abs()),
            None => START.elapsed(),
        }
    }

    /// Advances a frozen clock; a system clock ignores it.
    pub fn advance(&self, by: Duration) {
        if let Some(millis) = &self.frozen_at {
            millis.fetch_add(by.as_millis() as i64, Ordering::SeqCst);
        }
    }

    /// Sets a frozen clock, forward or back; a system clock ignores it.
    pub fn set(&self, at: Timestamp) {
        if let Some(millis) = &self.frozen_at {
            millis.store(at.as_millis(), Ordering::SeqCst);
        }
    }
}

fn machine_millis() -> i64 {
    Timestamp::from_datetime(time::OffsetDateTime::now_utc()).as_millis()
}
