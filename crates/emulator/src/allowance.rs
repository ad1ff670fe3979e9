//! A limit of calls in a rolling hour.

use std::collections::VecDeque;

use crate::clock::Timestamp;

/// The default number of calls within any hour.
pub(super) const CALLS_PER_HOUR: usize = 100;
const HOUR_MILLIS: i64 = 3_600_000;

/// The accepted calls of the last hour. Refused calls are not counted.
#[derive(Debug)]
pub(super) struct Allowance {
    per_hour: usize,
    calls: VecDeque<Timestamp>,
}

/// The limit is reached.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exhausted {
    /// Whole seconds, 1 to 3600, after which the next call fits.
    pub(super) retry_after: u64,
}

impl Allowance {
    pub(super) fn of(per_hour: usize) -> Self {
        Self { per_hour, calls: VecDeque::new() }
    }

    pub(super) fn acquire(&mut self, now: Timestamp) -> Result<(), Exhausted> {
        let hour_ago = now.as_millis() - HOUR_MILLIS;
        while self.calls.front().is_some_and(|at| at.as_millis() <= hour_ago) {
            self.calls.pop_front();
        }
        match self.calls.front() {
            Some(oldest) if self.calls.len() >= self.per_hour => {
                // The upper bound matters only after a clock rollback.
                let wait = (oldest.as_millis() - hour_ago).clamp(1, HOUR_MILLIS);
                Err(Exhausted { retry_after: (wait as u64).div_ceil(1000) })
            }
            _ => {
                self.calls.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full_from(start: i64) -> Allowance {
        let mut allowance = Allowance::of(CALLS_PER_HOUR);
        for n in 0..CALLS_PER_HOUR as i64 {
            assert_eq!(allowance.acquire(Timestamp::from_millis(start + n * 1000)), Ok(()));
        }
        allowance
    }

    #[test]
    fn calls_leave_the_rolling_hour_one_by_one() {
        let mut allowance = full_from(0);
        let refused = allowance.acquire(Timestamp::from_millis(HOUR_MILLIS - 1));
        assert_eq!(refused, Err(Exhausted { retry_after: 1 }));
        assert_eq!(allowance.acquire(Timestamp::from_millis(HOUR_MILLIS)), Ok(()));
        let refused = allowance.acquire(Timestamp::from_millis(HOUR_MILLIS));
        assert_eq!(refused, Err(Exhausted { retry_after: 1 }));
        assert_eq!(allowance.acquire(Timestamp::from_millis(HOUR_MILLIS + 1000)), Ok(()));
    }

    #[test]
    fn call_succeeds_after_the_retry_after_time() {
        for at in [99_001, 1_234_567, 3_599_999] {
            let mut allowance = full_from(0);
            let Err(refused) = allowance.acquire(Timestamp::from_millis(at)) else {
                panic!("the hour is full at {at}");
            };
            let retry_at = Timestamp::from_millis(at + refused.retry_after as i64 * 1000);
            assert_eq!(allowance.acquire(retry_at), Ok(()));
        }
    }

    #[test]
    fn refused_calls_do_not_count() {
        let mut allowance = full_from(0);
        for _ in 0..1000 {
            assert!(allowance.acquire(Timestamp::from_millis(200_000)).is_err());
        }
        let later = Timestamp::from_millis(HOUR_MILLIS + 100_000);
        for _ in 0..CALLS_PER_HOUR {
            assert_eq!(allowance.acquire(later), Ok(()));
        }
    }
}
