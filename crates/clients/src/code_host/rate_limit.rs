//! The limit of a code host, from the headers of its responses. Docket leaves a tenth of it to others who use the same token. Hosts and the proxies
//! before them write the end of a limit in several ways; one that cannot be understood is a pause of a minute.

use std::time::{Duration, UNIX_EPOCH};

use reqwest::header::HeaderMap;

use model::time::Timestamp;
use store::pull_requests::HOST_PAUSE_MAX;

/// The part of the limit that is left to others: one in this many requests.
const MARGIN: u64 = 10;
/// The pause if a host does not specify one.
const UNSPECIFIED: Duration = Duration::from_secs(60);
/// A larger number counts milliseconds, or smaller units, and not seconds.
const LARGEST_SECONDS: f64 = 1e11;
/// A smaller number counts the seconds from now, and not those since 1970.
const SMALLEST_INSTANT: f64 = 1e9;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RateLimit {
    /// Requests, or points of GitHub's GraphQL, per window; 0 if the host did not report it.
    pub(super) limit: u64,
    pub(super) remaining: u64,
    /// The time until the window ends.
    pub(super) resets_in: Duration,
}

impl RateLimit {
    /// `date`: the host's time of the response. GitHub's headers begin with `x-`, GitLab's do not.
    pub(super) fn of(headers: &HeaderMap, date: Timestamp) -> Option<Self> {
        let text = |name: &str| {
            let value = headers
                .get(format!("x-ratelimit-{name}"))
                .or_else(|| headers.get(format!("ratelimit-{name}")));
            value.and_then(|value| value.to_str().ok())
        };
        let number = |name: &str| text(name).and_then(number);
        Some(Self {
            remaining: number("remaining")?,
            limit: number("limit").unwrap_or_default(),
            resets_in: bounded(text("reset").and_then(|reset| until(reset, date))),
        })
    }

    /// The pause before the next request: until the window ends, once only the margin remains.
    pub(super) fn pause(&self) -> Option<Duration> {
        (self.remaining <= self.limit / MARGIN).then_some(self.resets_in)
    }
}

/// The pause that a host requests, within limits.
pub(super) fn bounded(requested: Option<Duration>) -> Duration {
    requested.unwrap_or(UNSPECIFIED).clamp(Duration::from_secs(1), HOST_PAUSE_MAX)
}

/// The time until an instant: a number of seconds from now, or since 1970, perhaps in milliseconds, or a date. `None` if it is past or cannot be
/// understood.
pub(super) fn until(text: &str, now: Timestamp) -> Option<Duration> {
    let now = now.as_millis() as f64 / 1_000.0;
    let seconds = match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => {
            let mut number = number;
            while number > LARGEST_SECONDS {
                number /= 1_000.0;
            }
            if number < SMALLEST_INSTANT { number } else { number - now }
        }
        _ => date(text.trim())?.as_millis() as f64 / 1_000.0 - now,
    };
    (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(HOST_PAUSE_MAX.as_secs_f64())))
}

fn date(text: &str) -> Option<Timestamp> {
    http_date(text).or_else(|| text.parse().ok())
}

/// A date in the form of HTTP headers.
pub(super) fn http_date(text: &str) -> Option<Timestamp> {
    let since = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(i64::try_from(since.as_millis()).ok()?))
}

fn number(text: &str) -> Option<u64> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some(number.max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    fn limit(prefix: &str, headers: &[(&str, &str)]) -> Option<RateLimit> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = format!("{prefix}{name}").parse::<reqwest::header::HeaderName>().expect("a name");
            map.insert(name, value.parse().expect("a value"));
        }
        RateLimit::of(&map, DATE)
    }

    /// The pause in seconds after a response with this end of the limit.
    fn seconds(reset: &str) -> u64 {
        let limit = limit("x-ratelimit-", &[("limit", "5000"), ("remaining", "0"), ("reset", reset)]);
        limit.and_then(|limit| limit.pause()).expect("a pause").as_secs()
    }

    #[test]
    fn window_ends_by_the_clock_of_the_host() {
        for prefix in ["x-ratelimit-", "ratelimit-"] {
            let headers = [("limit", "5000"), ("remaining", "4999"), ("reset", "1795000090")];
            let limit = limit(prefix, &headers).expect("a limit");
            assert_eq!((limit.resets_in.as_secs(), limit.pause()), (90, None));
        }
    }

    #[test]
    fn end_of_the_limit_is_understood_in_every_form() {
        for reset in [
            "1795000090",
            "1795000090.0",
            "1795000090000",
            "1795000090000000",
            "90",
            " 90 ",
            "Wed, 18 Nov 2026 11:08:10 GMT",
            "2026-11-18T11:08:10Z",
        ] {
            assert_eq!(seconds(reset), 90, "{reset}");
        }
        for odd in [
            "",
            "soon",
            "0",
            "-1",
            "1794999999",
            "inf",
            "nan",
            "1e999",
            "Wed, 32 Nov 2026",
            "1970-01-01T00:00:00Z",
        ] {
            assert_eq!(seconds(odd), 60, "{odd}");
        }
        for far in ["7199", "1895000000", "1895000000000", "9999-12-31T23:59:59Z", "1e300"] {
            assert_eq!(seconds(far), 3_600, "{far}");
        }
    }

    #[test]
    fn nothing_left_is_a_pause_without_other_headers() {
        let pause = |headers: &[(&str, &str)]| limit("x-ratelimit-", headers).and_then(|limit| limit.pause());
        assert_eq!(pause(&[("remaining", "0")]), Some(UNSPECIFIED));
        assert_eq!(pause(&[("remaining", "-3"), ("limit", "many")]), Some(UNSPECIFIED));
        assert_eq!(pause(&[("remaining", "7")]), None);
        assert_eq!(limit("", &[("limit", "5000")]), None);
        assert_eq!(limit("x-ratelimit-", &[("remaining", "many"), ("reset", "90")]), None);
    }

    #[test]
    fn one_tenth_of_the_limit_remains() {
        let limit = |remaining| RateLimit { limit: 5_000, remaining, resets_in: Duration::from_secs(60) };
        assert_eq!(limit(501).pause(), None);
        assert_eq!(limit(500).pause(), Some(Duration::from_secs(60)));
        assert_eq!(limit(0).pause(), Some(Duration::from_secs(60)));
    }
}
