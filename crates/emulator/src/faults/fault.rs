//! The kinds of faults, as requested. `effect` applies them.

use axum::http::HeaderValue;
use serde::{Deserialize, Serialize};

/// The longest pause a fault may cause; a longer one is a forgotten fault, not a test.
const LONGEST_MILLIS: u64 = 600_000;

/// A kind of failure. `status`, `redirect`, `too-many` and `drop` replace the operation, which is not executed; every other kind executes it first
/// and breaks the response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub(super) enum Fault {
    /// A status from 200 to 599, with this body or an error in JSON.
    Status { code: u16, body: Option<String> },
    /// A status from 300 to 399 with a `Location`.
    Redirect {
        #[serde(default = "found")]
        code: u16,
        #[serde(default = "elsewhere")]
        location: String,
    },
    /// 429, with this text as `Retry-After` or none.
    TooMany { retry_after: Option<String> },
    /// The connection is closed before the operation is executed.
    Drop {},
    /// The connection is closed after the operation is executed.
    AcceptThenDrop {},
    /// The response is delayed.
    Delay { millis: u64 },
    /// The body is sent a byte at a time, with this pause before each.
    Trickle {
        #[serde(default = "a_second")]
        millis: u64,
    },
    /// The connection is closed in the middle of the body.
    Cut {},
    /// The body is not JSON.
    Garbage {},
    /// Every field of the body has a wrong type.
    WrongTypes {},
    /// The body is valid JSON followed by more than 8 MiB of spaces; with `gzip` it is small on the wire.
    Oversize {
        #[serde(default)]
        gzip: bool,
    },
}

impl Fault {
    /// Why the fault is invalid, in a sentence.
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
