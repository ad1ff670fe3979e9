//! The steps of a delivery. A step also adds an entry with the new state to the job's timeline.

use strum::{IntoStaticStr, VariantArray};

use crate::audit::Action;
use crate::job::DeliveryState::{self, Accepted, Cancelled, Queued, Rejected, Sending, Unknown};
use crate::job::JobState;
use crate::webhook::{FOLLOW_UP_CANCELLED, FOLLOW_UP_REJECTED, FOLLOW_UP_UNKNOWN};

/// What happens to the delivery of one prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum DeliveryStep {
    /// A person submitted it.
    Commit,
    /// A person imported a job that was started elsewhere.
    Import,
    /// One sender claimed it. Only this sender sends it, once.
    Claim,
    /// The platform accepted it.
    Accept,
    /// The platform certainly did not accept it.
    Reject,
    /// The platform certainly did not accept it yet. It returns to its position in the queue.
    Requeue,
    /// The platform may have accepted it.
    LoseOutcome,
    /// A person cancelled it before it was sent.
    Cancel,
    /// It belongs to a job whose first prompt was rejected or cancelled.
    RejectFollowUp,
    /// It could not be sent at once, and may not be queued.
    RejectUnsent,
    /// A person decided that the platform did not accept it.
    SendAgain,
    /// A person decided that the platform accepted it.
    MarkAccepted,
}

/// A row of the table: the precondition and the effect of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryRow {
    /// The states in which it is possible; empty for a step that creates the delivery.
    pub from: &'static [DeliveryState],
    pub to: DeliveryState,
    pub text: Text,
}

/// Where the text of a step is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// The reason of the new state, stored with the prompt and in the timeline.
    Reason,
    /// A note for the timeline only.
    Note,
}

impl DeliveryStep {
    /// The table. An outcome can follow `unknown`: at its start another process may assume that the sender is dead, and the
    /// sender may report later.
    pub const fn row(self) -> DeliveryRow {
        match self {
            Self::Commit => row(&[], Queued, Text::Note),
            Self::Import => row(&[], Accepted, Text::Note),
            Self::Claim => row(&[Queued], Sending, Text::Note),
            Self::Accept => row(&[Sending, Unknown], Accepted, Text::Note),
            Self::Reject => row(&[Sending, Unknown], Rejected, Text::Reason),
            Self::Requeue => row(&[Sending, Unknown], Queued, Text::Reason),
            Self::LoseOutcome => row(&[Sending, Unknown], Unknown, Text::Reason),
            Self::Cancel => row(&[Queued], Cancelled, Text::Reason),
            Self::RejectFollowUp | Self::RejectUnsent => row(&[Queued], Rejected, Text::Reason),
            Self::SendAgain => row(&[Unknown], Queued, Text::Note),
            Self::MarkAccepted => row(&[Unknown], Accepted, Text::Note),
        }
    }

    /// The state after the step; `None` if it is refused.
    pub fn after(self, before: Option<DeliveryState>) -> Option<DeliveryState> {
        let DeliveryRow { from, to, .. } = self.row();
        before.map_or(from.is_empty(), |before| from.contains(&before)).then_some(to)
    }

    /// The action in the audit log, for the prompt at `position`; `None` if no person caused the step.
    pub const fn audit(self, position: i64) -> Option<Action> {
        match self {
            Self::Commit if position == 0 => Some(Action::JobStart),
            Self::Commit => Some(Action::FollowUp),
            Self::Import => Some(Action::Import),
            Self::Cancel => Some(Action::Cancel),
            Self::SendAgain => Some(Action::Resend),
            Self::MarkAccepted => Some(Action::Resolve),
            Self::Claim
            | Self::Accept
            | Self::Reject
            | Self::Requeue
            | Self::LoseOutcome
            | Self::RejectFollowUp
            | Self::RejectUnsent => None,
        }
    }

    /// The webhook event of this step of a follow-up in the state `before`. A sender's late report that the outcome is unknown is not reported, because
    /// webhooks reported it before.
    pub const fn follow_up_event(self, before: DeliveryState) -> Option<&'static str> {
        match self.row().to {
            Rejected => Some(FOLLOW_UP_REJECTED),
            Cancelled => Some(FOLLOW_UP_CANCELLED),
            Unknown if before.is_pending() => Some(FOLLOW_UP_UNKNOWN),
            _ => None,
        }
    }

    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

const fn row(from: &'static [DeliveryState], to: DeliveryState, text: Text) -> DeliveryRow {
    DeliveryRow { from, to, text }
}

impl DeliveryState {
    /// Whether the prompt waits or is being sent.
    pub const fn is_pending(self) -> bool {
        matches!(self, Queued | Sending)
    }

    /// Whether the prompt may be sent without another decision of a person: it waits, or may return to the queue.
    pub fn may_be_queued_again(self) -> bool {
        self == Queued || DeliveryStep::Requeue.row().from.contains(&self)
    }

    /// Whether the delivery has an outcome, which may be unknown.
    pub const fn has_outcome(self) -> bool {
        !self.is_pending()
    }

    /// Whether the prompt certainly did not reach the agent, and is not sent any more.
    pub const fn is_not_sent(self) -> bool {
        matches!(self, Rejected | Cancelled)
    }

    /// Whether a job whose first prompt is in this state accepts follow-ups: see [`JobState::accepts_follow_ups`].
    pub fn accepts_follow_ups(self) -> bool {
        JobState::of(self, None).accepts_follow_ups()
    }

    /// Whether queued follow-ups are rejected with the first prompt of their job.
    pub const fn ends_follow_ups(self) -> bool {
        self.is_not_sent()
    }
}
