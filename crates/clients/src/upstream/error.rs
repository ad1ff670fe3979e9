//! The error of upstream calls. It distinguishes the cases that matter to a job: *definitely not accepted*, *refused*,
//! and *may have been accepted*.

use std::time::Duration;

use thiserror::Error;

use base::instruments::UpstreamOutcome;
use model::error::{AppError, ErrorCode};
use model::job::ReasonCode;

/// The reason why an upstream exchange failed. Texts of the upstream are truncated, with the key masked. Administrators see the messages.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UpstreamError {
    /// No connection was made: definitely not accepted.
    #[error("no connection to the platform could be made ({0})")]
    NotConnected(String),
    /// Status 429: definitely not accepted, and nothing of this kind may be sent for `pause`. `words` as for [`Self::Status`].
    #[error("the platform's own limit is reached{words}")]
    LimitReached { pause: Duration, words: String },
    /// Status 402, or 503 because the credits could not be checked: definitely not accepted. It says nothing about the prompt, which can be sent
    /// later. `words` as for [`Self::Status`].
    #[error("the platform has no AI credits left (status {status}{words})")]
    NoCredits { status: u16, words: String },
    /// Another 4xx status than 402 and 408: definitely not accepted. `words` as for [`Self::Status`].
    #[error("the platform refused with status {status}{words}")]
    Refused { status: u16, words: String },
    /// The deadline passed after the request was sent: may have been accepted.
    #[error("the platform did not respond in time")]
    TimedOut,
    /// The connection failed before a response: may have been accepted.
    #[error("the platform closed the connection")]
    BrokenOff,
    /// A 5xx status, 408 or a redirect: may have been accepted. `words`: a colon and what the platform says, or nothing.
    #[error("the platform responded with status {status}{words}")]
    Status { status: u16, words: String },
    /// An incomplete or invalid response: may have been accepted.
    #[error("the platform sent an invalid response ({0})")]
    BadAnswer(String),
}

impl UpstreamError {
    /// Whether the upstream may have acted on the request.
    pub fn may_have_been_accepted(&self) -> bool {
        match self {
            Self::NotConnected(_)
            | Self::LimitReached { .. }
            | Self::NoCredits { .. }
            | Self::Refused { .. } => false,
            Self::TimedOut | Self::BrokenOff | Self::Status { .. } | Self::BadAnswer(_) => true,
        }
    }

    /// Whether the same request can succeed later: once the upstream is reachable, accepts the key or has room again.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::NotConnected(_) | Self::LimitReached { .. } | Self::Refused { status: 401, .. })
    }

    /// Whether the upstream refuses this operation of the project, or only this request: a status 403 may mean either.
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused { status: 403, .. })
    }

    /// The outcome under which this error is counted.
    pub(super) fn outcome(&self) -> UpstreamOutcome {
        match self {
            Self::NotConnected(_) => UpstreamOutcome::NotConnected,
            Self::LimitReached { .. } => UpstreamOutcome::LimitReached,
            Self::NoCredits { .. } => UpstreamOutcome::NoCredits,
            Self::Refused { .. } => UpstreamOutcome::Refused,
            Self::TimedOut => UpstreamOutcome::TimedOut,
            Self::BrokenOff => UpstreamOutcome::BrokenOff,
            Self::Status { .. } => UpstreamOutcome::Failed,
            Self::BadAnswer(_) => UpstreamOutcome::BadAnswer,
        }
    }

    /// Whether it is a failure of the upstream, rather than of the request.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::LimitReached { .. } | Self::NoCredits { .. } | Self::Refused { .. })
    }

    /// The cause of a delivery that ended with this error, for programs.
    pub const fn reason_code(&self) -> ReasonCode {
        match self {
            Self::NotConnected(_) => ReasonCode::PlatformUnreachable,
            Self::LimitReached { .. } => ReasonCode::PlatformLimit,
            Self::NoCredits { .. } => ReasonCode::NoCredits,
            Self::Refused { status: 401, .. } => ReasonCode::KeyRefused,
            Self::Refused { .. } => ReasonCode::PromptRefused,
            Self::TimedOut => ReasonCode::TimedOut,
            Self::BrokenOff => ReasonCode::ConnectionClosed,
            Self::Status { .. } => ReasonCode::PlatformFailed,
            Self::BadAnswer(_) => ReasonCode::InvalidAnswer,
        }
    }

    /// The reason of a delivery that ended with this error, for the person who sent the prompt.
    pub fn delivery_reason(&self) -> String {
        match self {
            Self::NotConnected(_) => "The platform could not be reached, so nothing was started.".to_owned(),
            Self::LimitReached { words, .. } => {
                format!("The platform's own limit is reached (status 429{words}), so nothing was started.")
            }
            Self::NoCredits { status, words } => {
                format!("{} (status {status}{words}), so nothing was started.", no_credits(*status))
            }
            Self::Refused { status: 401, words } => {
                format!(
                    "The platform did not accept Docket's key (status 401{words}), so nothing was started. An administrator has to check it."
                )
            }
            Self::Refused { status, words } => {
                format!("The platform refused it (status {status}{words}), so nothing was started.")
            }
            Self::TimedOut => {
                "The platform did not answer in time. It may or may not have started the work.".to_owned()
            }
            Self::BrokenOff => {
                "The platform closed the connection. It may or may not have started the work.".to_owned()
            }
            Self::Status { status, words } => {
                format!(
                    "The platform failed (status {status}{words}). It may or may not have started the work."
                )
            }
            Self::BadAnswer(_) => {
                "The platform's answer could not be understood. It may or may not have started the work."
                    .to_owned()
            }
        }
    }
}

/// What a status without AI credits means.
const fn no_credits(status: u16) -> &'static str {
    match status {
        402 => "The platform's AI credits are used up",
        _ => "The platform could not check its AI credits",
    }
}

impl From<UpstreamError> for AppError {
    /// For requests that start nothing.
    fn from(error: UpstreamError) -> Self {
        let (code, message) = match &error {
            UpstreamError::TimedOut => {
                (ErrorCode::UpstreamSlow, "The platform did not answer in time. Please try again.".to_owned())
            }
            UpstreamError::NotConnected(_) => (
                ErrorCode::UpstreamFailed,
                "The platform could not be reached. Please try again in a moment.".to_owned(),
            ),
            UpstreamError::Refused { status: 401, words } => (
                ErrorCode::UpstreamFailed,
                format!(
                    "The platform did not accept Docket's key (status 401{words}). An administrator has to check it."
                ),
            ),
            UpstreamError::LimitReached { words, .. } => (
                ErrorCode::BudgetSpent,
                format!("The platform's own limit is reached (status 429{words}). Try again later."),
            ),
            UpstreamError::NoCredits { status, words } => (
                ErrorCode::NoCredits,
                format!("{} (status {status}{words}). Try again later.", no_credits(*status)),
            ),
            UpstreamError::Refused { status, words } => (
                ErrorCode::UpstreamFailed,
                format!("The platform refused the request (status {status}{words})."),
            ),
            UpstreamError::BrokenOff => (
                ErrorCode::UpstreamFailed,
                "The platform closed the connection. Please try again in a moment.".to_owned(),
            ),
            UpstreamError::Status { status, words } => (
                ErrorCode::UpstreamFailed,
                format!("The platform failed (status {status}{words}). Please try again in a moment."),
            ),
            UpstreamError::BadAnswer(_) => (
                ErrorCode::UpstreamFailed,
                "The platform's answer could not be understood. Please try again.".to_owned(),
            ),
        };
        Self::new(code, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_says_as_the_text_whether_work_may_have_started() {
        let words = String::new;
        for error in [
            UpstreamError::NotConnected(words()),
            UpstreamError::LimitReached { pause: Duration::ZERO, words: words() },
            UpstreamError::NoCredits { status: 402, words: words() },
            UpstreamError::NoCredits { status: 503, words: words() },
            UpstreamError::Refused { status: 400, words: words() },
            UpstreamError::Refused { status: 401, words: words() },
            UpstreamError::Refused { status: 403, words: words() },
            UpstreamError::TimedOut,
            UpstreamError::BrokenOff,
            UpstreamError::Status { status: 502, words: words() },
            UpstreamError::BadAnswer(words()),
        ] {
            let (code, text) = (error.reason_code(), error.delivery_reason());
            let may_have = error.may_have_been_accepted();
            assert_eq!(code.meaning().ends_with("It may have started the work."), may_have, "{code:?}");
            assert_eq!(code.meaning().contains("Nothing was"), !may_have, "{code:?}");
            assert_eq!(text.contains("nothing was started"), !may_have, "{code:?}: {text}");
        }
    }
}
