//! Instants. Must not read any clock: the server asks `server::clock`, the browser its own.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// An instant with millisecond precision; RFC 3339 in UTC on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Timestamp(i64);

/// The text is not an RFC 3339 instant.
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

    /// The same instant for calendar questions; instants beyond the year 9999 are clamped.
    pub fn to_datetime(self) -> OffsetDateTime {
        const LAST: i64 = 253_402_300_799_999;
        let millis = i128::from(self.0.clamp(-LAST, LAST));
        OffsetDateTime::from_unix_timestamp_nanos(millis * 1_000_000).unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }

    /// Whole seconds from `earlier` to this instant; 0 where this one is not later.
    pub fn seconds_since(self, earlier: Self) -> i64 {
        (self.0 - earlier.0).max(0) / 1000
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_datetime().format(&Rfc3339).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl FromStr for Timestamp {
    type Err = NotATimestamp;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        OffsetDateTime::parse(text, &Rfc3339).map(Self::from_datetime).map_err(|_| NotATimestamp)
    }
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

impl fmt::Display for NotATimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an RFC 3339 instant such as 2026-11-21T10:00:00Z")
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
    fn instants_before_1970_keep_their_milliseconds() {
        assert_eq!(Timestamp::from_millis(-1).to_string(), "1969-12-31T23:59:59.999Z");
    }
}
