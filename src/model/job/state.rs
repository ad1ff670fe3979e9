//! The states of deliveries and jobs. Pure.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The state of delivering one prompt to the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// Committed, nothing sent yet.
    Queued,
    /// A request is in progress.
    Sending,
    /// The upstream accepted it.
    Accepted,
    /// The upstream definitely did not accept it.
    Rejected,
    /// The upstream may have accepted it; sent again only by a person's decision.
    Unknown,
}

/// The state of a job that people see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    Queued,
    Sending,
    Active,
    Completed,
    Archived,
    Failed,
    /// The upstream definitely did not accept the job.
    Rejected,
    /// The upstream may have accepted the job.
    Unknown,
    /// The upstream reports a status outside its own list; its raw name is [`RemoteJob::status`](super::RemoteJob::status).
    Other,
}

impl JobState {
    pub const ALL: [Self; 9] = [
        Self::Queued,
        Self::Sending,
        Self::Active,
        Self::Completed,
        Self::Archived,
        Self::Failed,
        Self::Rejected,
        Self::Unknown,
        Self::Other,
    ];

    /// Derives the state from the first prompt's delivery and the upstream's raw status.
    pub fn of(delivery: DeliveryState, status: Option<&str>) -> Self {
        match (delivery, status) {
            (DeliveryState::Queued, _) => Self::Queued,
            (DeliveryState::Sending, _) => Self::Sending,
            (DeliveryState::Rejected, _) => Self::Rejected,
            (DeliveryState::Unknown, _) => Self::Unknown,
            (DeliveryState::Accepted, Some("active")) => Self::Active,
            (DeliveryState::Accepted, Some("completed")) => Self::Completed,
            (DeliveryState::Accepted, Some("archived")) => Self::Archived,
            (DeliveryState::Accepted, Some("failed")) => Self::Failed,
            (DeliveryState::Accepted, _) => Self::Other,
        }
    }

    /// Whether it can still change without a person while the job is tracked.
    pub const fn is_moving(self) -> bool {
        matches!(self, Self::Queued | Self::Sending | Self::Active | Self::Other)
    }

    /// The name on the wire, in `data-status` and in URLs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sending => "sending",
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Archived => "archived",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
            Self::Other => "other",
        }
    }
}

impl DeliveryState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sending => "sending",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for JobState {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or("A status is one of queued, sending, active, completed, archived, failed, rejected, unknown, other.")
    }
}

impl FromStr for DeliveryState {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Queued, Self::Sending, Self::Accepted, Self::Rejected, Self::Unknown]
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or("not a delivery state")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_nobody_published_is_kept_as_other() {
        assert_eq!(JobState::of(DeliveryState::Accepted, Some("paused")), JobState::Other);
        assert_eq!(JobState::of(DeliveryState::Accepted, Some("completed")), JobState::Completed);
        assert_eq!(JobState::of(DeliveryState::Unknown, None), JobState::Unknown);
    }

    #[test]
    fn every_state_survives_its_name() {
        for state in JobState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
    }
}
