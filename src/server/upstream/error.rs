//! The one error of upstream calls. It separates what matters to a job: *surely not taken*, *refused*, and
//! *may have been taken*.

use std::time::Duration;

use thiserror::Error;

use crate::error::{AppError, ErrorCode};

/// Why an upstream exchange gave no usable answer. Texts of the upstream are cut and have the key masked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UpstreamError {
    /// No connection was made: surely not taken.
    #[error("no connection to the upstream could be made ({0})")]
    NotConnected(String),
    /// Answered with a 429: surely not taken, and nothing of the kind is to be sent for so long.
    #[error("the upstream's own limit is reached")]
    LimitReached { pause: Duration },
    /// Answered with another 4xx: surely not taken.
    #[error("the upstream refused with status {status}: {message}")]
    Refused { status: u16, message: String },
    /// The deadline passed after the request went out: may have been taken.
    #[error("the upstream did not answer in time")]
    TimedOut,
    /// The connection was made, and broke off before an answer: may have been taken.
    #[error("the upstream broke off the connection")]
    BrokenOff,
    /// Answered with a 5xx or a redirect: may have been taken.
    #[error("the upstream answered with status {0}")]
    Status(u16),
    /// An answer that is broken off or not understood: may have been taken.
    #[error("the upstream answered badly ({0})")]
    BadAnswer(String),
}

impl UpstreamError {
    /// Whether the upstream may have acted on the request.
    pub fn may_have_been_accepted(&self) -> bool {
        match self {
            Self::NotConnected(_) | Self::LimitReached { .. } | Self::Refused { .. } => false,
            Self::TimedOut | Self::BrokenOff | Self::Status(_) | Self::BadAnswer(_) => true,
        }
    }

    /// Whether the same request, which was surely not taken, will be once the upstream can be reached, takes the key or has room
    /// again.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::NotConnected(_) | Self::LimitReached { .. } | Self::Refused { status: 401 | 403, .. }
        )
    }

    /// Whether it shows that the upstream does not work, rather than that it did not like what was asked.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::LimitReached { .. } | Self::Refused { .. })
    }

    /// What became of a prompt that met this error, for the person who sent it.
    pub fn delivery_reason(&self) -> String {
        match self {
            Self::NotConnected(_) => "The platform could not be reached, so nothing was started.".to_owned(),
            Self::LimitReached { .. } => {
                "The platform's limit for this hour is used up, so nothing was started.".to_owned()
            }
            Self::Refused { status: 401 | 403, .. } => {
                "The platform did not accept Docket's key, so nothing was started. An administrator has to check it.".to_owned()
            }
            Self::Refused { message, .. } => format!("The platform refused it, so nothing was started: {message}"),
            Self::TimedOut => "The platform did not answer in time. It may have started the work or not.".to_owned(),
            Self::BrokenOff => {
                "The platform broke off the connection. It may have started the work or not.".to_owned()
            }
            Self::Status(status) => {
                format!("The platform failed (status {status}). It may have started the work or not.")
            }
            Self::BadAnswer(_) => {
                "The platform's answer could not be understood. It may have started the work or not.".to_owned()
            }
        }
    }
}

impl From<UpstreamError> for AppError {
    /// For questions, where nothing was started.
    fn from(error: UpstreamError) -> Self {
        let (code, message) = match &error {
            UpstreamError::TimedOut => {
                (ErrorCode::UpstreamSlow, "The platform did not answer in time. Please try again.".to_owned())
            }
            UpstreamError::NotConnected(_) => (
                ErrorCode::UpstreamFailed,
                "The platform could not be reached. Please try again in a moment.".to_owned(),
            ),
            UpstreamError::Refused { status: 401 | 403, .. } => (
                ErrorCode::UpstreamFailed,
                "The platform did not accept Docket's key. An administrator has to check it.".to_owned(),
            ),
            UpstreamError::LimitReached { .. } => (
                ErrorCode::BudgetSpent,
                "The platform's limit for this hour is used up. Try again later.".to_owned(),
            ),
            UpstreamError::Refused { message, .. } => {
                (ErrorCode::UpstreamFailed, format!("The platform refused the question: “{message}”."))
            }
            UpstreamError::BrokenOff => (
                ErrorCode::UpstreamFailed,
                "The platform broke off the connection. Please try again in a moment.".to_owned(),
            ),
            UpstreamError::Status(status) => (
                ErrorCode::UpstreamFailed,
                format!("The platform failed (status {status}). Please try again in a moment."),
            ),
            UpstreamError::BadAnswer(_) => (
                ErrorCode::UpstreamFailed,
                "The platform's answer could not be understood. Please try again.".to_owned(),
            ),
        };
        Self::new(code, message)
    }
}
