//! Decides whether and when a failed exchange is retried, and parses `Retry-After`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use rand::Rng;
use reqwest::header::HeaderValue;

use super::UpstreamError;
use model::time::Timestamp;
use model::upstream::Operation;

/// Tries per exchange, including the first.
const TRIES: u32 = 3;
/// The maximum pause before the second try; it doubles before the third.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// The pause if the upstream does not specify one.
const UNSAID: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(3600);

/// The pause requested by `Retry-After`, in seconds or as a date: at most an hour; a minute if it is missing or
/// invalid.
pub(super) fn after(header: Option<&HeaderValue>, now: Timestamp) -> Duration {
    let text = header.and_then(|value| value.to_str().ok()).map(str::trim).unwrap_or_default();
    let requested = match text.parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(text).ok().map(|at| {
            let now = std::time::UNIX_EPOCH + Duration::from_millis(now.as_millis().max(0).unsigned_abs());
            at.duration_since(now).unwrap_or_default()
        }),
    };
    requested.unwrap_or(UNSAID).min(LONGEST)
}

/// The calls and retries of the last minute. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Retries {
    last_minute: Arc<Mutex<LastMinute>>,
}

#[derive(Default)]
struct LastMinute {
    calls: VecDeque<Instant>,
    extra: VecDeque<Instant>,
}

impl Retries {
    /// Counts a call that is not a retry.
    pub(super) fn count(&self, now: Instant) {
        let mut last_minute = self.last_minute(now);
        last_minute.calls.push_back(now);
    }

    /// The pause before the next try, after `tries` tries of which the last failed with `error`. `None` if there is no
    /// retry, or it would not start before `latest`.
    pub(super) fn pause(
        &self,
        operation: Operation,
        error: &UpstreamError,
        tries: u32,
        now: Instant,
        latest: Instant,
    ) -> Option<Duration> {
        if tries >= TRIES || !may_help(operation, error) {
            return None;
        }
        let jitter = rand::rng().random_range(Duration::ZERO..=FIRST_PAUSE * 2_u32.pow(tries - 1));
        let pause = match error {
            UpstreamError::LimitReached { pause, .. } => *pause + jitter,
            _ => jitter,
        };
        (now + pause < latest && self.allow(now)).then_some(pause)
    }

    /// Allows one retry per ten calls of the last minute, but always at least two, so that a single call can be
    /// retried.
    fn allow(&self, now: Instant) -> bool {
        let mut last_minute = self.last_minute(now);
        let allowed = last_minute.extra.len() < (last_minute.calls.len() / 10).max(TRIES as usize - 1);
        if allowed {
            last_minute.extra.push_back(now);
        }
        allowed
    }

    fn last_minute(&self, now: Instant) -> MutexGuard<'_, LastMinute> {
        let mut last_minute = self.last_minute.lock();
        let LastMinute { calls, extra } = &mut *last_minute;
        for times in [calls, extra] {
            while times.front().is_some_and(|at| now.duration_since(*at) >= Duration::from_secs(60)) {
                times.pop_front();
            }
        }
        last_minute
    }
}

/// A prompt is retried only if it was definitely not sent; other requests if a retry may help.
fn may_help(operation: Operation, error: &UpstreamError) -> bool {
    match (operation, error) {
        (_, UpstreamError::NotConnected(_)) => true,
        (Operation::Create | Operation::FollowUp, _) => false,
        (_, UpstreamError::Status { status, .. } | UpstreamError::NoCredits { status, .. }) => {
            matches!(status, 408 | 502..=504)
        }
        (_, UpstreamError::LimitReached { .. } | UpstreamError::BrokenOff) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(status: u16) -> UpstreamError {
        UpstreamError::Status { status, words: String::new() }
    }

    const NOW: &str = "2026-11-21T10:00:00Z";

    fn seconds(text: &str) -> u64 {
        let now = NOW.parse().unwrap_or_else(|error| panic!("{error}"));
        after(HeaderValue::from_bytes(text.as_bytes()).ok().as_ref(), now).as_secs()
    }

    #[test]
    fn retry_after_is_parsed_and_limited_to_an_hour() {
        assert_eq!(seconds("17"), 17);
        assert_eq!(seconds(" 0 "), 0);
        assert_eq!(seconds("Sat, 21 Nov 2026 10:00:30 GMT"), 30);
        assert_eq!(seconds("Sat, 21 Nov 2026 09:00:00 GMT"), 0);
        assert_eq!(seconds("86400"), 3600);
        assert_eq!(seconds("Tue, 01 Dec 2026 00:00:00 GMT"), 3600);
    }

    #[test]
    fn invalid_retry_after_is_a_minute() {
        for text in
            ["", "soon", "-5", "1.5", "99999999999999999999999", "\u{1F980}", "Sat, 99 Nov 2026 10:00:30 GMT"]
        {
            assert_eq!(seconds(text), 60, "{text}");
        }
        assert_eq!(after(None, Timestamp::from_millis(0)).as_secs(), 60);
    }

    #[test]
    fn prompt_is_retried_only_if_it_was_not_sent() {
        let errors = [
            UpstreamError::NotConnected("refused".to_owned()),
            failed(503),
            failed(500),
            UpstreamError::LimitReached { pause: Duration::ZERO, words: String::new() },
            UpstreamError::BrokenOff,
            UpstreamError::TimedOut,
            UpstreamError::BadAnswer("cut".to_owned()),
            UpstreamError::Refused { status: 404, words: String::new() },
        ];
        let helps = |operation| errors.iter().map(|error| may_help(operation, error)).collect::<Vec<_>>();
        for write in [Operation::Create, Operation::FollowUp] {
            assert_eq!(helps(write), [true, false, false, false, false, false, false, false]);
        }
        for read in [Operation::Read, Operation::Views] {
            assert_eq!(helps(read), [true, true, false, true, true, false, false, false]);
        }
    }

    #[test]
    fn retries_are_limited_to_a_tenth_of_calls() {
        let (retries, now) = (Retries::default(), Instant::now());
        let error = failed(503);
        (0..200).for_each(|_| retries.count(now));
        let pause =
            |tries, now| retries.pause(Operation::Read, &error, tries, now, now + Duration::from_secs(30));
        let extra = |now| (0..200).filter(|_| pause(1, now).is_some()).count();
        assert_eq!(extra(now), 20);
        assert_eq!(extra(now + Duration::from_secs(61)), 2, "a quiet minute still has two");
        let later = now + Duration::from_secs(200);
        assert_eq!(pause(3, later), None, "three tries");
        assert_eq!(retries.pause(Operation::Read, &error, 1, later, later), None, "the deadline is over");
    }
}
