//! The pace of refusals. An admitted request waits for the database; a refused one does not, so that a flood of them would take all of the
//! processor's time. Beyond a number in each second, their responses wait.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

/// 250 responses in a second.
const EVERY: Duration = Duration::from_millis(4);

/// How many responses do not wait after a quiet time.
const BURST: u32 = 100;

/// The longest wait of a response.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// How many responses may wait at once: each has a connection. Others do not wait.
const WAITING_MAX: usize = 1_000;

/// Clones share their state.
#[derive(Clone)]
pub(super) struct RefusalPace {
    /// When the next response may be sent.
    next: Arc<Mutex<Option<Instant>>>,
    waiting: Arc<Semaphore>,
}

impl Default for RefusalPace {
    fn default() -> Self {
        Self { next: Arc::default(), waiting: Arc::new(Semaphore::new(WAITING_MAX)) }
    }
}

impl RefusalPace {
    /// Waits until the next response may be sent.
    pub(super) async fn keep(&self) {
        let wait = self.next_wait(Instant::now());
        if wait.is_zero() {
            return;
        }
        if let Ok(_waiting) = self.waiting.try_acquire() {
            sleep(wait).await;
        }
    }

    fn next_wait(&self, now: Instant) -> Duration {
        let mut next = self.next.lock();
        let earliest = now - EVERY * BURST;
        let at = next.map_or(earliest, |next| next.max(earliest));
        *next = Some((at + EVERY).min(now + WAIT_MAX));
        at.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_beyond_the_pace_wait_for_two_seconds_at_most() {
        let (pace, start) = (RefusalPace::default(), Instant::now() + Duration::from_secs(60));
        let waits = |seconds: u64, number: usize| -> Vec<Duration> {
            (0..number).map(|_| pace.next_wait(start + Duration::from_secs(seconds))).collect()
        };
        let first = waits(0, 5_000);
        assert_eq!(first.iter().filter(|wait| wait.is_zero()).count(), 101);
        assert_eq!(first[350], Duration::from_secs(1));
        assert_eq!(first[4_999], WAIT_MAX);
        assert_eq!(waits(1, 1), [Duration::from_secs(1)], "as many as in a second were sent");
        assert_eq!(waits(100, 150).iter().filter(|wait| wait.is_zero()).count(), 101, "after a quiet time");
    }
}
