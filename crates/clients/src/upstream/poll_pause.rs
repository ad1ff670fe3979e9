//! Why jobs may not be polled now.

use model::error::{AppError, ErrorCode};
use model::time::Timestamp;

/// Polls of a project are paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollPause {
    pub until: Timestamp,
    pub(super) why: PauseReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PauseReason {
    /// The platform responded with status 429.
    Limit,
    /// Its circuit breaker is open.
    Failing,
    /// The platform refuses to show jobs of the project.
    Refused,
}

impl PollPause {
    pub(super) const fn new(why: PauseReason, until: Timestamp) -> Self {
        Self { until, why }
    }
}

impl From<PollPause> for AppError {
    fn from(PollPause { until, why }: PollPause) -> Self {
        let (code, why) = match why {
            PauseReason::Limit => (ErrorCode::BudgetSpent, "The platform's own limit is reached"),
            PauseReason::Failing => (ErrorCode::UpstreamFailed, "The platform is failing"),
            PauseReason::Refused => {
                (ErrorCode::UpstreamFailed, "The platform refuses to show jobs of this project")
            }
        };
        let at = until.to_datetime();
        let (hour, minute, second) = (at.hour(), at.minute(), at.second());
        let until = format!("requests are paused until {hour:02}:{minute:02}:{second:02} UTC");
        Self::new(code, format!("{why}, so nothing was sent; {until}."))
    }
}
