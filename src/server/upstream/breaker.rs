//! A circuit breaker: after repeated failures it only lets probes through, until one succeeds. Pure: callers provide
//! the time and decide what a failure is.

use crate::model::time::Timestamp;

/// At most five probes per minute.
const BETWEEN_PROBES_MILLIS: i64 = 12_000;

#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures_in_a_row: u32,
    /// When it opened, or when the last probe was let through.
    last_tried: Option<Timestamp>,
}

impl Breaker {
    /// Whether a call may be made at `now`; otherwise, when the next probe is let through.
    pub(super) fn admit(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        match self.open_until() {
            Some(until) if now < until && !self.is_ahead_of(now) => Err(until),
            Some(_) => {
                self.last_tried = Some(now);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// When the next probe is let through; `None` while it is closed.
    pub(super) fn open_until(&self) -> Option<Timestamp> {
        self.last_tried.map(|at| Timestamp::from_millis(at.as_millis() + BETWEEN_PROBES_MILLIS))
    }

    pub(super) fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Opens at the `limit`-th failure in a row.
    pub(super) fn failed(&mut self, now: Timestamp, limit: u32) {
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        if self.failures_in_a_row >= limit {
            self.last_tried = Some(now);
        }
    }

    /// Whether the clock was set back since the last probe: the breaker must not stay open because of it.
    fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.last_tried.is_some_and(|at| at > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + seconds * 1000)
    }

    fn opened() -> Breaker {
        let mut breaker = Breaker::default();
        (0..5).for_each(|second| breaker.failed(at(second), 5));
        breaker
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_only_then() {
        let mut breaker = Breaker::default();
        (0..4).for_each(|second| breaker.failed(at(second), 5));
        assert_eq!(breaker.admit(at(4)), Ok(()));
        breaker.succeeded();
        (0..4).for_each(|second| breaker.failed(at(second), 5));
        assert_eq!(breaker.admit(at(4)), Ok(()));
        breaker.failed(at(4), 5);
        assert_eq!(breaker.admit(at(4)), Err(at(16)));
    }

    #[test]
    fn at_most_five_probes_a_minute_are_let_through() {
        let mut breaker = opened();
        let admitted = (5..65).filter(|second| {
            let admitted = breaker.admit(at(*second)).is_ok();
            if admitted {
                breaker.failed(at(*second), 5);
            }
            admitted
        });
        assert_eq!(admitted.count(), 5);
    }

    #[test]
    fn a_probe_that_succeeds_closes_it() {
        let mut breaker = opened();
        assert_eq!(breaker.admit(at(20)), Ok(()));
        assert_eq!(breaker.admit(at(20)), Err(at(32)), "one probe at a time");
        breaker.succeeded();
        assert_eq!((breaker.admit(at(20)), breaker.admit(at(20))), (Ok(()), Ok(())));
    }

    #[test]
    fn a_clock_rollback_does_not_keep_it_open() {
        assert_eq!(opened().admit(at(-86_400)), Ok(()));
    }
}
