//! The states of deliveries and jobs. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::ReportedStatus;
use crate::ParseError;

/// The state of delivering one prompt to the upstream.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_delivery_state)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub enum DeliveryState {
    /// Committed, nothing sent yet.
    Queued,
    /// A request is in progress.
    Sending,
    /// The upstream accepted it.
    Accepted,
    /// The upstream definitely did not accept it.
    Rejected,
    /// A person cancelled it before it was sent.
    Cancelled,
    /// The upstream may have accepted it. Only a person can send it again.
    Unknown,
}

/// The state of a job. Pages call `active` *Running* and `unknown` *Outcome unknown*; the others have the same names.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_job_state)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub enum JobState {
    Queued,
    Sending,
    Active,
    Completed,
    Archived,
    Failed,
    /// The upstream definitely did not accept the job.
    Rejected,
    /// A person cancelled its first prompt before it was sent.
    Cancelled,
    /// The upstream may have accepted the job.
    Unknown,
    /// The upstream reports an undocumented status; its raw name is [`RemoteJob::status`](super::RemoteJob::status).
    Other,
}

impl JobState {
    pub const ALL: [Self; Self::VARIANTS.len()] =
        *Self::VARIANTS.first_chunk().expect("the length is its own");

    /// Derives the state from the first prompt's delivery and the upstream's raw status.
    pub fn of(delivery: DeliveryState, status: Option<&str>) -> Self {
        match (delivery, status) {
            (DeliveryState::Queued, _) => Self::Queued,
            (DeliveryState::Sending, _) => Self::Sending,
            (DeliveryState::Rejected, _) => Self::Rejected,
            (DeliveryState::Cancelled, _) => Self::Cancelled,
            (DeliveryState::Unknown, _) => Self::Unknown,
            (DeliveryState::Accepted, status) => status
                .and_then(|status| status.parse::<ReportedStatus>().ok())
                .map_or(Self::Other, Self::from),
        }
    }

    /// Whether it can still change without a person while the job is tracked.
    pub const fn is_moving(self) -> bool {
        self.is_open() || matches!(self, Self::Other)
    }

    /// Whether the job is certainly unfinished: its prompt waits or is being sent, or the agent works on it.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Sending | Self::Active)
    }

    /// Whether the job failed, or was not accepted.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Rejected)
    }

    /// The name on the wire, in `data-status` and in URLs.
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl From<ReportedStatus> for JobState {
    fn from(status: ReportedStatus) -> Self {
        match status {
            ReportedStatus::Active => Self::Active,
            ReportedStatus::Completed => Self::Completed,
            ReportedStatus::Archived => Self::Archived,
            ReportedStatus::Failed => Self::Failed,
        }
    }
}

impl DeliveryState {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn not_a_job_state(_: &str) -> ParseError {
    "A status is one of queued, sending, active, completed, archived, failed, rejected, cancelled, unknown, other.".into()
}

fn not_a_delivery_state(_: &str) -> ParseError {
    "not a delivery state".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undocumented_status_becomes_other() {
        assert_eq!(JobState::of(DeliveryState::Accepted, Some("paused")), JobState::Other);
        assert_eq!(JobState::of(DeliveryState::Accepted, Some("completed")), JobState::Completed);
        assert_eq!(JobState::of(DeliveryState::Unknown, None), JobState::Unknown);
    }

    /// Databases, URLs and other programs use these names: a renamed variant must keep its name.
    #[test]
    fn stored_names_of_states_do_not_change() {
        for state in JobState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        let words = JobState::ALL.map(JobState::as_str).join(", ");
        let refused = "".parse::<JobState>().map_err(|error| error.to_string());
        assert_eq!(refused, Err(format!("A status is one of {words}.")));
        let words = "queued sending accepted rejected cancelled unknown";
        let states = words.split(' ').map(|word| word.parse().map(DeliveryState::as_str));
        assert!(states.eq(words.split(' ').map(Ok)));
    }
}
