//! The time of the emulator, which tests can freeze.

use std::fmt;
use std::sync::Arc;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    #[cfg(test)]
    pub(crate) fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0 + seconds * 1000)
    }
}

/// RFC 3339 in UTC.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000);
        f.write_str(&at.map_err(|_| fmt::Error)?.format(&Rfc3339).map_err(|_| fmt::Error)?)
    }
}

/// A source of the current time; clones share it.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl Clock {
    /// The clock of this machine.
    pub fn system() -> Self {
        Self::new(|| (OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000) as i64)
    }

    /// A clock that returns `millis`: milliseconds since 1970-01-01T00:00:00Z.
    pub fn new(millis: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(millis))
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp((self.0)())
    }
}
