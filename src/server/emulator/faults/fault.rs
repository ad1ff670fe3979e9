//! The kinds of faults, as they are asked for. Must not carry them out.

use axum::http::HeaderValue;
use serde::{Deserialize, Serialize};

/// The longest pause a fault may make; what waits longer has been forgotten, not tested.
const LONGEST_MILLIS: u64 = 600_000;

/// One way to fail. `status`, `redirect`, `too-many` and `drop` come instead of what was asked, which is not done; every
/// other kind does it first and spoils the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub(super) enum Fault {
    /// A status from 200 to 599, with this body or an error in JSON.
    Status { code: u16, body: Option<String> },
    /// A status from 300 to 399 and the way to elsewhere.
    Redirect {
        #[serde(default = "found")]
        code: u16,
        #[serde(default = "elsewhere")]
        location: String,
    },
    /// 429, with this text as `Retry-After` or none.
    TooMany { retry_after: Option<String> },
    /// The connection is closed before anything is done.
    Drop {},
    /// The connection is closed after everything is done.
    AcceptThenDrop {},
    /// The answer comes late.
    Delay { millis: u64 },
    /// The body comes a byte at a time, with such a pause before each.
    Trickle {
        #[serde(default = "a_second")]
        millis: u64,
    },
    /// The connection is closed in the middle of the body.
    Cut {},
    /// The body is no JSON.
    Garbage {},
    /// Every field of the body is of another type than it should be.
    WrongTypes {},
    /// The body is good JSON followed by more than 8 MiB of spaces; with `gzip` they are few bytes on the way.
    Oversize {
        #[serde(default)]
        gzip: bool,
    },
}

impl Fault {
    /// What cannot be done as asked, in a sentence.
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Status { code, .. } if !(200..=599).contains(code) => {
                Some("The code of a status is a number from 200 to 599.".to_owned())
            }
            Self::Redirect { code, .. } if !(300..=399).contains(code) => {
                Some("The code of a redirect is a number from 300 to 399.".to_owned())
            }
            Self::Redirect { location, .. } if HeaderValue::from_str(location).is_err() => {
                Some("The location cannot be written in a header.".to_owned())
            }
            Self::TooMany { retry_after: Some(text) } if HeaderValue::from_str(text).is_err() => {
                Some("The retry-after cannot be written in a header.".to_owned())
            }
            Self::Delay { millis } | Self::Trickle { millis } if *millis > LONGEST_MILLIS => {
                Some(format!("A pause has at most {LONGEST_MILLIS} milliseconds."))
            }
            _ => None,
        }
    }
}

fn found() -> u16 {
    302
}

fn elsewhere() -> String {
    "/__emulator/elsewhere".to_owned()
}

fn a_second() -> u64 {
    1_000
}
