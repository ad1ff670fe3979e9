//! The hourly limit of a code host, from the headers of its responses. Docket leaves a tenth of it to others who use the same token.

use std::time::Duration;

use reqwest::header::HeaderMap;

use crate::model::time::Timestamp;

/// The part of the limit that is left to others: one in this many requests.
const MARGIN: u64 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RateLimit {
    /// Requests, or points of GitHub's GraphQL, per window.
    pub(super) limit: u64,
    pub(super) remaining: u64,
    /// The time until the window ends.
    pub(super) resets_in: Duration,
}

impl RateLimit {
    /// `date`: the host's time of the response. GitHub's headers begin with `x-`, GitLab's do not.
    pub(super) fn of(headers: &HeaderMap, date: Timestamp) -> Option<Self> {
        let number = |name: &str| {
            let value = headers
                .get(format!("x-ratelimit-{name}"))
                .or_else(|| headers.get(format!("ratelimit-{name}")));
            value.and_then(|value| value.to_str().ok()?.trim().parse::<u64>().ok())
        };
        let resets_at = i64::try_from(number("reset")?).ok()?;
        let seconds = resets_at.saturating_sub(date.as_millis() / 1_000);
        Some(Self {
            limit: number("limit")?,
            remaining: number("remaining")?,
            resets_in: Duration::from_secs(u64::try_from(seconds).unwrap_or_default()),
        })
    }

    /// The pause before the next request: until the window ends, once only the margin remains.
    pub(super) fn pause(&self) -> Option<Duration> {
        (self.remaining <= self.limit / MARGIN).then_some(self.resets_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(prefix: &str, limit: &str, remaining: &str, reset: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [("limit", limit), ("remaining", remaining), ("reset", reset)] {
            let name = format!("{prefix}{name}").parse::<reqwest::header::HeaderName>().expect("a name");
            headers.insert(name, value.parse().expect("a value"));
        }
        headers
    }

    #[test]
    fn window_ends_by_the_clock_of_the_host() {
        let date = Timestamp::from_millis(1_795_000_000_000);
        for prefix in ["x-ratelimit-", "ratelimit-"] {
            let limit = RateLimit::of(&headers(prefix, "5000", "4999", "1795000090"), date).expect("a limit");
            assert_eq!((limit.resets_in.as_secs(), limit.pause()), (90, None));
        }
        let past = RateLimit::of(&headers("x-ratelimit-", "5000", "0", "1"), date).expect("a limit");
        assert_eq!(past.pause(), Some(Duration::ZERO));
        assert_eq!(RateLimit::of(&headers("x-ratelimit-", "many", "0", "1"), date), None);
    }

    #[test]
    fn one_tenth_of_the_limit_remains() {
        let limit = |remaining| RateLimit { limit: 5_000, remaining, resets_in: Duration::from_secs(60) };
        assert_eq!(limit(501).pause(), None);
        assert_eq!(limit(500).pause(), Some(Duration::from_secs(60)));
        assert_eq!(limit(0).pause(), Some(Duration::from_secs(60)));
    }
}
