//! The one source of "now" on the server, so that tests can freeze and move time.
//! Must not be bypassed: no other module reads the system clock for a decision.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::model::time::Timestamp;

/// A shared clock. Cloning it gives another handle on the same clock.
#[derive(Clone, Default)]
pub struct Clock {
    frozen_at: Option<Arc<AtomicI64>>,
}

impl Clock {
    /// The system's wall clock.
    pub fn system() -> Self {
        Self::default()
    }

    /// A clock that stands still until [`Clock::advance`] or [`Clock::set`] moves it.
    pub fn frozen(at: Timestamp) -> Self {
        Self { frozen_at: Some(Arc::new(AtomicI64::new(at.as_millis()))) }
    }

    pub fn now(&self) -> Timestamp {
        match &self.frozen_at {
            Some(millis) => Timestamp::from_millis(millis.load(Ordering::SeqCst)),
            None => Timestamp::from_datetime(time::OffsetDateTime::now_utc()),
        }
    }

    /// Time since some moment, which never goes back: for what a clock that is set back must not delay.
    pub fn elapsed(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        match &self.frozen_at {
            Some(millis) => Duration::from_millis(millis.load(Ordering::SeqCst).unsigned_abs()),
            None => START.elapsed(),
        }
    }

    /// Moves a frozen clock; a system clock ignores it.
    pub fn advance(&self, by: Duration) {
        if let Some(millis) = &self.frozen_at {
            millis.fetch_add(by.as_millis() as i64, Ordering::SeqCst);
        }
    }

    /// Sets a frozen clock, back as well as forward; a system clock ignores it.
    pub fn set(&self, at: Timestamp) {
        if let Some(millis) = &self.frozen_at {
            millis.store(at.as_millis(), Ordering::SeqCst);
        }
    }
}
