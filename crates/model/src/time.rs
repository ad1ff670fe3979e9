//! Timestamps. Must not read a clock: the server uses `base::clock`, the browser its own.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::{Date, Month, OffsetDateTime, Time, UtcOffset};

/// A point in time with millisecond precision; RFC 3339 in UTC on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema), schema(value_type = String, format = DateTime))]
pub struct Timestamp(i64);

/// The text is not an RFC 3339 timestamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotATimestamp;

impl Timestamp {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    pub fn from_datetime(at: OffsetDateTime) -> Self {
        Self((at.unix_timestamp_nanos().div_euclid(1_000_000)) as i64)
    }

    /// For calendar arithmetic; clamped to the years 0 to 9999.
    pub fn to_datetime(self) -> OffsetDateTime {
        const FIRST: i64 = -62_167_219_200_000;
        const LAST: i64 = 253_402_300_799_999;
        OffsetDateTime::UNIX_EPOCH.saturating_add(time::Duration::milliseconds(self.0.clamp(FIRST, LAST)))
    }

    /// The instant `by` later, clamped to the last possible instant.
    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The instant `by` earlier, clamped to the first possible instant.
    pub fn before(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }

    /// The time since `earlier`; zero if that is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default())
    }

    /// Whole seconds since `earlier`; 0 if this is not later.
    pub fn seconds_since(self, earlier: Self) -> i64 {
        (self.0 - earlier.0).max(0) / 1000
    }
}

// Formatted and parsed by hand: the formats of `time` would add much code to the browser's download.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.to_datetime();
        let (year, month, day) = at.to_calendar_date();
        let (hour, minute, second, millis) = at.to_hms_milli();
        write!(f, "{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", u8::from(month))?;
        if millis > 0 {
            write!(f, ".{millis:03}")?;
        }
        f.write_str("Z")
    }
}

impl FromStr for Timestamp {
    type Err = NotATimestamp;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parsed(text).ok_or(NotATimestamp)
    }
}

/// Parses `2026-11-21T10:00:00Z`, with an optional fraction of a second and an offset such as `+02:00` in place of the
/// `Z`.
fn parsed(text: &str) -> Option<Timestamp> {
    let (day, rest) = (text.get(..10)?, text.get(10..)?);
    let (clock, rest) = (rest.strip_prefix(['T', 't'])?.get(..8)?, rest.get(9..)?);
    let [year, month, day] = numbers(day, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let date =
        Date::from_calendar_date(i32::from(year), Month::try_from(month as u8).ok()?, day as u8).ok()?;
    let time = Time::from_hms(hour as u8, minute as u8, second as u8).ok()?;
    let (millis, offset) = fraction(rest)?;
    let at = date.with_time(time).assume_offset(offset_of(offset)?);
    Some(Timestamp(at.unix_timestamp() * 1000 + millis))
}

/// The milliseconds of `.123456Z`, and the text after the digits.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(digits) = text.strip_prefix('.') else { return Some((0, text)) };
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = digits.split_at(count);
    let millis = (0..3).fold(0, |millis, at| {
        let digit = digits.as_bytes().get(at).map_or(0, |digit| i64::from(digit - b'0'));
        millis * 10 + digit
    });
    (count > 0).then_some((millis, rest))
}

fn offset_of(text: &str) -> Option<UtcOffset> {
    let sign = match text.as_bytes().first()? {
        b'Z' | b'z' if text.len() == 1 => return Some(UtcOffset::UTC),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let [hours, minutes] = numbers(&text[1..], ':', [2, 2])?;
    let minutes = (minutes < 60).then_some(minutes as i8)?;
    UtcOffset::from_hms(sign * i8::try_from(hours).ok()?, sign * minutes, 0).ok()
}

/// Parses numbers with the given count of digits, separated by `separator`.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[u16; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        *number = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

impl From<Timestamp> for String {
    fn from(at: Timestamp) -> Self {
        at.to_string()
    }
}

impl TryFrom<String> for Timestamp {
    type Error = NotATimestamp;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl std::error::Error for NotATimestamp {}

impl fmt::Display for NotATimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an RFC 3339 timestamp such as 2026-11-21T10:00:00Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_survives_its_text_form() {
        let at = Timestamp::from_millis(1_795_000_000_123);
        assert_eq!(at.to_string().parse(), Ok(at));
    }

    #[test]
    fn an_offset_is_converted_to_utc() {
        let parsed: Result<Timestamp, _> = "2026-03-01T01:30:00+02:00".parse();
        assert_eq!(parsed.map(|at| at.to_string()), Ok("2026-02-28T23:30:00Z".to_owned()));
    }

    #[test]
    fn fractions_of_a_second_are_truncated_to_milliseconds() {
        let millis = |text: &str| text.parse().map(|at: Timestamp| at.as_millis());
        assert_eq!(millis("1970-01-01T00:00:01.5Z"), Ok(1500));
        assert_eq!(millis("1970-01-01t00:00:01.023456789z"), Ok(1023));
        assert_eq!(millis("1969-12-31T23:59:59.999Z"), Ok(-1));
        assert_eq!(millis("1970-01-01T00:00:00-00:30"), Ok(1_800_000));
    }

    #[test]
    fn invalid_timestamps_are_refused() {
        for text in [
            "",
            "2026-03-01",
            "2026-03-01T01:30:00",
            "2026-03-01 01:30:00Z",
            "2026-13-01T01:30:00Z",
            "2026-02-30T01:30:00Z",
            "2026-03-01T24:30:00Z",
            "2026-03-01T01:30:00.Z",
            "2026-03-01T01:30:00Zz",
            "2026-03-01T01:30:00+02",
            "2026-03-01T01:30:00+02:60",
            "2026-03-01T01:30:00+2:000",
            "+026-03-01T01:30:00Z",
            "2026-03-01T01:30:00é",
            "２026-03-01T01:30:00Z",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(NotATimestamp), "{text}");
        }
    }

    #[test]
    fn adding_a_long_duration_is_clamped() {
        let at = Timestamp::from_millis(1);
        assert_eq!(at.after(Duration::from_millis(1_500)), Timestamp::from_millis(1_501));
        assert_eq!(at.after(Duration::MAX), Timestamp::from_millis(i64::MAX));
    }

    #[test]
    fn instants_before_1970_keep_their_milliseconds() {
        assert_eq!(Timestamp::from_millis(-1).to_string(), "1969-12-31T23:59:59.999Z");
    }
}
