//! Outgoing webhooks, which notify other systems when a job finishes or needs attention, and their deliveries.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::ParseError;
use crate::id::{JobId, ProjectId, WebhookId};
use crate::job::{JobState, NO_END, NOT_FOUND};
use crate::pull_request::PullRequestEvent;
use crate::time::Timestamp;

/// The format of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_kind)]
pub enum WebhookKind {
    /// Docket's own JSON, signed.
    Json,
    /// The message format of Slack, which many other services accept.
    Slack,
}

/// A webhook as administrators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub id: WebhookId,
    pub project: ProjectId,
    pub kind: WebhookKind,
    /// Its URL, with secret parts removed.
    pub address: String,
    pub enabled: bool,
    pub created_at: Timestamp,
    /// How many events of the last [`EVENT_DAYS`] days were not delivered and are not tried any more, without tests.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u32,
    /// The newest event with an attempt.
    pub last: Option<WebhookDelivery>,
}

/// In the order they were added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhooks {
    pub webhooks: Vec<Webhook>,
    /// The `cursor` of the rest; `None` if this is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A new webhook or secret; the only time the secret is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewSecret {
    pub id: WebhookId,
    /// Its characters are the signing key; `None` for kinds without a signature.
    pub secret: Option<String>,
}

/// One event for one webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookDelivery {
    /// Also the event's id in the notification.
    pub id: WebhookId,
    /// Such as `job.completed`.
    pub event: String,
    pub at: Timestamp,
    /// `None` for a test.
    pub job: Option<JobId>,
    /// The title of the job when the event happened.
    pub title: Option<String>,
    pub outcome: WebhookOutcome,
    pub attempts: u32,
    pub tried_at: Option<Timestamp>,
    /// The HTTP status of the last response.
    pub status: Option<u16>,
    /// The start of the receiver's response, or why the attempt failed.
    pub note: Option<String>,
    pub next_try_at: Option<Timestamp>,
}

/// The outcome of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum WebhookOutcome {
    /// Not delivered yet; another attempt is due.
    Waiting,
    Delivered,
    GivenUp,
}

pub const TEST_EVENT: &str = "webhook.test";

/// The platform certainly did not accept a follow-up.
pub const FOLLOW_UP_REJECTED: &str = "follow_up.rejected";

/// A person cancelled a follow-up before it was sent.
pub const FOLLOW_UP_CANCELLED: &str = "follow_up.cancelled";

/// The platform may have accepted a follow-up.
pub const FOLLOW_UP_UNKNOWN: &str = "follow_up.unknown";

/// Every type of event. Later versions may have more.
pub const EVENTS: [&str; 15] = [
    "job.completed",
    "job.failed",
    "job.archived",
    "job.rejected",
    "job.cancelled",
    "job.unknown",
    "job.not_found",
    "job.no_end",
    FOLLOW_UP_REJECTED,
    FOLLOW_UP_CANCELLED,
    FOLLOW_UP_UNKNOWN,
    PullRequestEvent::Merged.as_str(),
    PullRequestEvent::Closed.as_str(),
    PullRequestEvent::Stale.as_str(),
    TEST_EVENT,
];

/// How long an event that was not delivered is stored, in days.
pub const EVENT_DAYS: u32 = 30;

/// How long the old secret signs beside a new one, in hours.
pub const OLD_SECRET_HOURS: u32 = 24;

/// The length of a job's title in a notification, in characters.
pub const TITLE_MAX_CHARS: usize = 140;

/// The event for a job that finished in `state`; `None` while it is not finished.
pub fn event(state: JobState, status: Option<&str>) -> Option<&'static str> {
    match (state, status) {
        (JobState::Completed, _) => Some("job.completed"),
        (JobState::Failed, _) => Some("job.failed"),
        (JobState::Archived, _) => Some("job.archived"),
        (JobState::Rejected, _) => Some("job.rejected"),
        (JobState::Cancelled, _) => Some("job.cancelled"),
        (JobState::Unknown, _) => Some("job.unknown"),
        (JobState::Other, Some(NO_END)) => Some("job.no_end"),
        (JobState::Other, Some(NOT_FOUND)) => Some("job.not_found"),
        _ => None,
    }
}

impl WebhookKind {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl WebhookOutcome {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl fmt::Display for WebhookKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn not_a_kind(_: &str) -> ParseError {
    "A webhook's kind is json or slack.".into()
}
