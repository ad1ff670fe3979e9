//! The fault table: the expected result of each fault for a prompt, a poll and a page-view request.

use crate::helpers::json;
use serde_json::Value;

/// One fault with its expected results.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) condition: Condition,
    /// The outcome of a prompt of a new job or a follow-up. It is sent at most once.
    pub(super) prompt: Prompt,
    /// The result of polling a job.
    pub(super) read: Read,
    /// Status and code of a page-view request.
    pub(super) views: (u16, &'static str),
    /// The number of upstream requests per poll and per page-view request.
    pub(super) gets: usize,
}

/// The fault.
#[derive(Clone)]
pub(super) enum Condition {
    /// A fault of the emulator.
    Fault(Value),
    /// As [`Condition::Fault`], with a response that is incomplete at the deadline.
    Stall(Value),
    /// No process listens at the upstream's URL.
    Refused,
    /// The TCP handshake is never answered.
    BlackHole,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Prompt {
    Accepted,
    /// Definitely not accepted.
    Rejected,
    /// May have been accepted.
    Unknown,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Read {
    /// The last known state stays.
    Same,
    /// The poll gets the end of the job.
    Seen,
}

impl Condition {
    /// Whether an operation lasts until its deadline.
    pub(super) fn stalls(&self) -> bool {
        matches!(self, Self::Stall(_) | Self::BlackHole)
    }

    /// Whether requests reach the upstream.
    pub(super) fn connects(&self) -> bool {
        matches!(self, Self::Fault(_) | Self::Stall(_))
    }
}

impl Prompt {
    pub(super) fn state(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
        }
    }
}

const FINE: (u16, &str) = (200, "");
const FAILED: (u16, &str) = (502, "upstream_failed");
const SLOW: (u16, &str) = (504, "upstream_slow");
const LIMITED: (u16, &str) = (429, "budget_spent");

/// Requests per poll or page-view request if a retry cannot help.
const ONCE: usize = 1;
/// … if a gateway reports that the upstream is unavailable.
const AWAY: usize = 3;
/// … if the connection fails before a response.
const BROKEN: usize = 3;
/// … if the upstream says when to retry, and that is before the deadline.
const REQUESTED_RETRIES: usize = 3;

#[rustfmt::skip]
pub(super) fn table() -> Vec<Row> {
    use Prompt::{Accepted, Rejected, Unknown};
    use Read::{Same, Seen};
    vec![
        // name                      faults                                             prompt    read  views    gets
        row("400 in words",          status(400, r#"{"error":"the prompt is odd"}"#),   Rejected, Same, FAILED,  ONCE),
        row("400 with details",      status(400, r#"{"error":"odd","details":[{"message":"too early"},null]}"#),
                                                                                        Rejected, Same, FAILED,  ONCE),
        row("401",                   status(401, r#"{"error":"expired"}"#),             Rejected, Same, FAILED,  ONCE),
        row("403 as a page",         status(403, "<html><b>Forbidden</b></html>"),      Rejected, Same, FAILED,  ONCE),
        row("404",                   status(404, r#"{"error":"no such job"}"#),         Rejected, Same, FAILED,  ONCE),
        row("408",                   status(408, ""),                                   Unknown,  Same, FAILED,  AWAY),
        row("422 of odd types",      status(422, r#"{"error":{"a":[1]},"details":7}"#), Rejected, Same, FAILED,  ONCE),
        row("429",                   fault(json!({"kind": "too-many"})),                Rejected, Same, LIMITED, ONCE),
        row("429 for no time",       too_many("0"),                                     Rejected, Same, LIMITED, REQUESTED_RETRIES),
        row("429 for a second",      too_many("1"),                                     Rejected, Same, LIMITED, ONCE),
        row("429 for an hour",       too_many("3600"),                                  Rejected, Same, LIMITED, ONCE),
        row("429 until a day",       too_many("Wed, 21 Oct 2037 07:28:00 GMT"),         Rejected, Same, LIMITED, ONCE),
        row("429 until nonsense",    too_many("soon; -1e9"),                            Rejected, Same, LIMITED, ONCE),
        row("500",                   status(500, r#"{"error":"sorry"}"#),               Unknown,  Same, FAILED,  ONCE),
        row("502 as a page",         status(502, "<html>nginx at 127.0.0.1</html>"),    Unknown,  Same, FAILED,  AWAY),
        row("503",                   status(503, ""),                                   Unknown,  Same, FAILED,  AWAY),
        row("504",                   status(504, ""),                                   Unknown,  Same, FAILED,  AWAY),
        row("302",                   fault(json!({"kind": "redirect"})),                Unknown,  Same, FAILED,  ONCE),
        row("307 to another job",    redirect(307, "/v2/agent/docs/job"),               Unknown,  Same, FAILED,  ONCE),
        row("301 to nowhere",        redirect(301, "https://user:pass@nowhere.invalid/"), Unknown, Same, FAILED, ONCE),
        row("200 as a sign-in page", status(200, "<html>Sign in to the network</html>"), Unknown, Same, FAILED,  ONCE),
        row("200 with null",         status(200, "null"),                               Unknown,  Same, FAILED,  ONCE),
        row("200 with nothing",      status(200, ""),                                   Unknown,  Same, FAILED,  ONCE),
        row("204",                   status(204, ""),                                   Unknown,  Same, FAILED,  ONCE),
        row("garbage",               fault(json!({"kind": "garbage"})),                 Unknown,  Same, FAILED,  ONCE),
        row("wrong types",           fault(json!({"kind": "wrong-types"})),             Unknown,  Same, FAILED,  ONCE),
        row("9 MiB",                 fault(json!({"kind": "oversize"})),                Unknown,  Same, FAILED,  ONCE),
        row("9 MiB, packed",         fault(json!({"kind": "oversize", "gzip": true})),  Unknown,  Same, FAILED,  ONCE),
        row("cut",                   fault(json!({"kind": "cut"})),                     Unknown,  Same, FAILED,  ONCE),
        row("drop",                  fault(json!({"kind": "drop"})),                    Unknown,  Same, FAILED,  BROKEN),
        row("accept, then drop",     fault(json!({"kind": "accept-then-drop"})),        Unknown,  Same, FAILED,  BROKEN),
        row("late",                  fault(json!({"kind": "delay", "millis": 50})),     Accepted, Seen, FINE,    ONCE),
        row("slow",                  fault(json!({"kind": "trickle", "millis": 0})),    Accepted, Seen, FINE,    ONCE),
        row("too late",              stall(json!({"kind": "delay", "millis": 60_000})), Unknown,  Same, SLOW,    ONCE),
        row("too slow",              stall(json!({"kind": "trickle"})),                 Unknown,  Same, SLOW,    ONCE),
        row("refused",               Condition::Refused,                                  Rejected, Same, FAILED,  0),
        row("black hole",            Condition::BlackHole,                                Rejected, Same, FAILED,  0),
    ]
}

fn row(
    name: &'static str,
    condition: Condition,
    prompt: Prompt,
    read: Read,
    views: (u16, &'static str),
    gets: usize,
) -> Row {
    Row { name, condition, prompt, read, views, gets }
}

fn fault(fault: Value) -> Condition {
    Condition::Fault(fault)
}

fn stall(fault: Value) -> Condition {
    Condition::Stall(fault)
}

fn status(code: u16, body: &str) -> Condition {
    fault(json!({"kind": "status", "code": code, "body": body}))
}

fn redirect(code: u16, location: &str) -> Condition {
    fault(json!({"kind": "redirect", "code": code, "location": location}))
}

fn too_many(retry_after: &str) -> Condition {
    fault(json!({"kind": "too-many", "retry-after": retry_after}))
}
