//! Outgoing webhooks, which notify other systems when a job finishes or needs attention, and their deliveries.

use std::fmt;
use std::str::FromStr;

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
    /// The types of events that it gets; all if it is empty, also those of later versions.
    #[serde(default, skip_serializing_if = "ChosenEvents::is_all")]
    pub events: ChosenEvents,
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

/// The types of events that a webhook can be restricted to, with their names on pages.
pub const CHOICES: [(&str, &str); EVENTS.len() - 1] = [
    ("job.completed", "Job completed"),
    ("job.failed", "Job failed"),
    ("job.archived", "Job archived on the platform"),
    ("job.rejected", "Job rejected"),
    ("job.cancelled", "Job cancelled"),
    ("job.unknown", "Job with an unknown outcome"),
    ("job.not_found", "Job not found on the platform"),
    ("job.no_end", "Job without an end"),
    (FOLLOW_UP_REJECTED, "Follow-up rejected"),
    (FOLLOW_UP_CANCELLED, "Follow-up cancelled"),
    (FOLLOW_UP_UNKNOWN, "Follow-up with an unknown outcome"),
    (PullRequestEvent::Merged.as_str(), "Pull request merged"),
    (PullRequestEvent::Closed.as_str(), "Pull request closed"),
    (PullRequestEvent::Stale.as_str(), "Pull request stale"),
];

/// The types of events that a webhook gets: some of [`CHOICES`] in their order, or all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChosenEvents(Vec<String>);

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

impl ChosenEvents {
    /// From the database, which may have types of a later version.
    pub fn stored(text: &str) -> Self {
        Self(text.split(',').filter(|event| !event.is_empty()).map(str::to_owned).collect())
    }

    pub fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the webhook gets events of this type.
    pub fn has(&self, event: &str) -> bool {
        self.is_all() || self.contains(event)
    }

    /// Whether this type was chosen.
    pub fn contains(&self, event: &str) -> bool {
        self.0.iter().any(|chosen| chosen == event)
    }

    /// The chosen types, for pages.
    pub fn names(&self) -> String {
        if self.is_all() { "All".to_owned() } else { self.0.join(", ") }
    }
}

/// As in the database: `job.completed,job.failed`.
impl fmt::Display for ChosenEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl FromStr for ChosenEvents {
    type Err = ParseError;

    /// Types separated by commas. None, or all that there are, are all.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let given: Vec<&str> = text.split(',').map(str::trim).filter(|event| !event.is_empty()).collect();
        if let Some(unknown) = given.iter().find(|given| CHOICES.iter().all(|(event, _)| event != *given)) {
            return Err(format!("Docket sends no events of the type {unknown:.40}.").into());
        }
        let chosen = CHOICES.iter().map(|(event, _)| *event).filter(|event| given.contains(event));
        let chosen: Vec<String> = chosen.map(str::to_owned).collect();
        Ok(Self(if chosen.len() == CHOICES.len() { Vec::new() } else { chosen }))
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
    "A webhook’s kind is json or slack.".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_but_the_test_can_be_chosen() {
        let names = CHOICES.map(|(event, _)| event);
        assert!(EVENTS.iter().filter(|event| **event != TEST_EVENT).all(|event| names.contains(event)));
    }

    #[test]
    fn chosen_events_are_in_their_order_and_none_are_all() {
        let chosen: ChosenEvents = "job.failed, job.completed,job.failed".parse().unwrap_or_default();
        assert_eq!(chosen.to_string(), "job.completed,job.failed");
        assert!(chosen.has("job.failed") && !chosen.has("job.archived"));
        let every = CHOICES.map(|(event, _)| event).join(",");
        for all in ["", " , ", &every] {
            let all = all.parse::<ChosenEvents>();
            assert!(all.as_ref().is_ok_and(|all| all.is_all() && all.has("job.later")), "{all:?}");
        }
        for wrong in ["job.done", TEST_EVENT, "job.failed,x"] {
            assert!(wrong.parse::<ChosenEvents>().is_err(), "{wrong}");
        }
    }
}
