//! Outgoing webhooks: where others are told that a job finished, and how the telling went.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::model::ParseError;
use crate::model::id::{JobId, ProjectId, WebhookId};
use crate::model::job::{JobState, NO_END, NOT_FOUND};
use crate::model::time::Timestamp;

/// The form in which a receiver is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_kind)]
pub enum WebhookKind {
    /// Docket's own form, signed.
    Json,
    /// A message in the form that Slack and many others take.
    Slack,
}

/// A webhook as administrators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub id: WebhookId,
    pub project: ProjectId,
    pub kind: WebhookKind,
    /// Its address, without what is secret in it.
    pub address: String,
    pub enabled: bool,
    pub created_at: Timestamp,
    /// The newest event that was tried.
    pub last: Option<WebhookDelivery>,
}

/// All webhooks, in the order they were added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhooks {
    pub webhooks: Vec<Webhook>,
}

/// What was made, with the one chance to read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewSecret {
    pub id: WebhookId,
    /// Its characters are the key of the signatures; nothing for kinds that are not signed.
    pub secret: Option<String>,
}

/// One event for one webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookDelivery {
    /// Also the event's id for the receiver.
    pub id: WebhookId,
    /// Such as `job.completed`.
    pub event: String,
    pub at: Timestamp,
    /// Nothing in a test.
    pub job: Option<JobId>,
    pub outcome: WebhookOutcome,
    pub attempts: u32,
    pub tried_at: Option<Timestamp>,
    /// The HTTP status of the last answer.
    pub status: Option<u16>,
    /// The receiver's words, or a sentence about what went wrong.
    pub note: Option<String>,
    pub next_try_at: Option<Timestamp>,
}

/// What became of telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum WebhookOutcome {
    /// To be tried, perhaps again.
    Waiting,
    Delivered,
    GivenUp,
}

/// The event of a test.
pub const TEST_EVENT: &str = "webhook.test";

/// How much of a prompt's first line is told, in characters.
pub const TITLE_MAX_CHARS: usize = 140;

/// What the event of a job that finished in `state` is called; nothing while the job moves.
pub fn event(state: JobState, status: Option<&str>) -> Option<&'static str> {
    match (state, status) {
        (JobState::Completed, _) => Some("job.completed"),
        (JobState::Failed, _) => Some("job.failed"),
        (JobState::Archived, _) => Some("job.archived"),
        (JobState::Rejected, _) => Some("job.rejected"),
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

fn not_a_kind(_: &str) -> ParseError {
    "A webhook's kind is json or slack."
}
