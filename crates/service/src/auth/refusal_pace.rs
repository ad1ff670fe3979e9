//! The pace of refusals. An admitted request waits for the database; a refused one does not, so that a flood of them would take all of the
//! processor's time. Beyond a number from one network in each second, their responses wait.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

/// 250 responses in a second.
const EVERY: Duration = Duration::from_millis(4);

/// How many responses to a network do not wait after a quiet time.
const BURST: u32 = 100;

/// The longest wait of a response.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// How many responses may wait at once: each has a connection. Others do not wait.
const WAITING_MAX: usize = 1_000;

/// How many networks have a pace of their own. The others share one.
const NETWORKS_MAX: usize = 1_000;
const OTHERS: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// Clones share their state.
#[derive(Clone)]
pub(super) struct RefusalPace {
    /// When the next response to each network may be sent.
    next: Arc<Mutex<HashMap<IpAddr, Instant>>>,
    waiting: Arc<Semaphore>,
}

impl Default for RefusalPace {
    fn default() -> Self {
        Self { next: Arc::default(), waiting: Arc::new(Semaphore::new(WAITING_MAX)) }
    }
}

impl RefusalPace {
    /// Waits until the next response to this network may be sent.
    pub(super) async fn keep(&self, network: IpAddr) {
        let wait = self.next_wait(network, Instant::now());
        if wait.is_zero() {
            return;
        }
        if let Ok(_waiting) = self.waiting.try_acquire() {
            sleep(wait).await;
        }
    }

    fn next_wait(&self, network: IpAddr, now: Instant) -> Duration {
        let earliest = now - EVERY * BURST;
        let mut next = self.next.lock();
        if next.len() >= NETWORKS_MAX {
            // The quiet ones.
            next.retain(|_, at| *at > earliest);
        }
        let has_own = next.len() < NETWORKS_MAX || next.contains_key(&network);
        let next = next.entry(if has_own { network } else { OTHERS }).or_insert(earliest);
        let at = earliest.max(*next);
        *next = (at + EVERY).min(now + WAIT_MAX);
        at.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(number: u32) -> IpAddr {
        Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn refusals_beyond_the_pace_wait_for_two_seconds_at_most() {
        let (pace, start) = (RefusalPace::default(), Instant::now() + Duration::from_secs(60));
        let waits = |seconds: u64, number: usize| -> Vec<Duration> {
            let now = start + Duration::from_secs(seconds);
            (0..number).map(|_| pace.next_wait(network(1), now)).collect()
        };
        let first = waits(0, 5_000);
        assert_eq!(first.iter().filter(|wait| wait.is_zero()).count(), 101);
        assert_eq!(first[350], Duration::from_secs(1));
        assert_eq!(first[4_999], WAIT_MAX);
        assert_eq!(waits(1, 1), [Duration::from_secs(1)], "as many as in a second were sent");
        assert_eq!(waits(100, 150).iter().filter(|wait| wait.is_zero()).count(), 101, "after a quiet time");
    }

    #[test]
    fn flood_of_a_network_delays_no_other() {
        let (pace, now) = (RefusalPace::default(), Instant::now() + Duration::from_secs(60));
        for _ in 0..5_000 {
            pace.next_wait(network(1), now);
        }
        assert_eq!(pace.next_wait(network(2), now), Duration::ZERO);
    }

    #[test]
    fn number_of_paces_is_limited() {
        let (pace, start) = (RefusalPace::default(), Instant::now() + Duration::from_secs(60));
        let waits = |first: u32, now: Instant| -> usize {
            (first..first + 10_000).filter(|number| !pace.next_wait(network(*number), now).is_zero()).count()
        };
        assert_eq!(waits(1, start), 10_000 - NETWORKS_MAX - 101, "the others share a pace");
        assert_eq!(pace.next.lock().len(), NETWORKS_MAX + 1);
        let later = start + Duration::from_secs(60);
        assert_eq!(pace.next_wait(network(20_000), later), Duration::ZERO);
        assert_eq!(pace.next.lock().len(), 1, "quiet networks are removed");
    }
}
