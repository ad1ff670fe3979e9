//! Why a job or the delivery of a prompt is in its state: a code for programs, and a text for people. Pure.

use serde::{Deserialize, Serialize};
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

use super::{JobState, NO_END, NOT_FOUND};

/// The cause of a state, for programs. The documentation of a variant is also that of the API.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema), schema(description = described()))]
pub enum ReasonCode {
    /// No connection to the platform could be made. Nothing was sent.
    PlatformUnreachable,
    /// The platform's own limit is reached. Nothing was started.
    PlatformLimit,
    /// The platform has no AI credits left, or could not check them. Nothing was started.
    NoCredits,
    /// The platform did not accept Docket's key. Nothing was started.
    KeyRefused,
    /// The platform refused the prompt. Nothing was started.
    PromptRefused,
    /// The platform did not answer in time. It may have started the work.
    TimedOut,
    /// The platform closed the connection before it answered. It may have started the work.
    ConnectionClosed,
    /// The platform failed while it had the prompt. It may have started the work.
    PlatformFailed,
    /// The platform's answer could not be used. It may have started the work.
    InvalidAnswer,
    /// The hourly budget was spent, and the prompt was not to be queued. Nothing was started.
    BudgetSpent,
    /// Requests were paused because the platform failed, and the prompt was not to be queued. Nothing was started.
    RequestsPaused,
    /// Docket could not send the prompt within five minutes, and it was not to be queued. Nothing was started.
    NotSentAtOnce,
    /// Docket was stopped while it had the prompt.
    DocketStopped,
    /// Docket met an error while it had the prompt.
    DocketFailed,
    /// A person cancelled the prompt before it was sent.
    Cancelled,
    /// The job of the follow-up was not started.
    JobNotStarted,
    /// The agent failed. `reason` has what the platform says about it, if it says anything.
    AgentFailed,
    /// The platform does not know the job any more. Docket stopped tracking it.
    NotFound,
    /// The job did not finish within three days. Docket stopped tracking it.
    NoEnd,
    /// Another cause, or one that an earlier version of Docket stored. `reason` has it.
    Other,
}

/// A reason for people, with its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason<'a> {
    pub code: ReasonCode,
    pub text: &'a str,
}

impl ReasonCode {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    /// What it means, in one or two sentences.
    pub fn meaning(self) -> &'static str {
        self.get_documentation().unwrap_or_default()
    }

    /// With its text for people.
    pub const fn with(self, text: &str) -> Reason<'_> {
        Reason { code: self, text }
    }

    /// The stored code of a stored reason; `None` without a reason. An earlier version stored no code, and a later one may store an unknown code.
    pub fn stored(code: Option<&str>, reason: Option<&str>) -> Option<Self> {
        let code = code.and_then(|code| code.parse().ok());
        reason.map(|_| code.unwrap_or(Self::Other))
    }

    /// That of a job with this state, outcome before it was archived and displayed status of the platform. `prompt`: that of its first prompt, whose
    /// state it has until the platform accepted it.
    pub fn of_job(
        state: JobState,
        earlier_outcome: Option<JobState>,
        status: Option<&str>,
        prompt: Option<Self>,
    ) -> Option<Self> {
        match (state, status) {
            (JobState::Failed, _) => Some(Self::AgentFailed),
            (JobState::Archived, _) => {
                earlier_outcome.filter(|outcome| *outcome == JobState::Failed).map(|_| Self::AgentFailed)
            }
            (JobState::Other, Some(NOT_FOUND)) => Some(Self::NotFound),
            (JobState::Other, Some(NO_END)) => Some(Self::NoEnd),
            (JobState::Other | JobState::Active | JobState::Completed, _) => None,
            (
                JobState::Queued
                | JobState::Sending
                | JobState::Rejected
                | JobState::Cancelled
                | JobState::Unknown,
                _,
            ) => prompt,
        }
    }
}

/// The description of the codes.
#[cfg(feature = "server")]
fn described() -> String {
    let codes = ReasonCode::VARIANTS.iter().map(|code| format!("- `{}`: {}", code.as_str(), code.meaning()));
    let codes: Vec<_> = codes.collect();
    format!("The cause of a state, for programs. Later versions may add some.\n\n{}", codes.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Databases and other programs use these names: a renamed variant must keep its name.
    #[test]
    fn codes_are_stable_and_documented() {
        let names: Vec<_> = ReasonCode::VARIANTS.iter().map(|code| code.as_str()).collect();
        assert_eq!(
            names.join(" "),
            "platform_unreachable platform_limit no_credits key_refused prompt_refused timed_out connection_closed platform_failed \
             invalid_answer budget_spent requests_paused not_sent_at_once docket_stopped docket_failed cancelled job_not_started agent_failed not_found no_end other"
        );
        for code in ReasonCode::VARIANTS {
            assert_eq!(ReasonCode::stored(Some(code.as_str()), Some("a reason")), Some(*code));
            assert_eq!(ReasonCode::stored(Some(code.as_str()), None), None, "a code without a reason is old");
            assert!(code.meaning().ends_with('.') && !code.meaning().contains('\n'), "{code:?}");
        }
        for code in [None, Some("of a later version")] {
            assert_eq!(ReasonCode::stored(code, Some("a reason")), Some(ReasonCode::Other));
        }
    }

    #[test]
    fn job_has_the_code_of_its_state() {
        let prompt = Some(ReasonCode::TimedOut);
        for state in JobState::ALL {
            for outcome in [None, Some(JobState::Completed), Some(JobState::Failed)] {
                for status in [None, Some("paused"), Some(NOT_FOUND), Some(NO_END)] {
                    let expected = match (state.as_str(), outcome, status) {
                        ("queued" | "sending" | "rejected" | "cancelled" | "unknown", ..) => prompt,
                        ("failed", ..) | ("archived", Some(JobState::Failed), _) => {
                            Some(ReasonCode::AgentFailed)
                        }
                        ("other", _, Some(NOT_FOUND)) => Some(ReasonCode::NotFound),
                        ("other", _, Some(NO_END)) => Some(ReasonCode::NoEnd),
                        _ => None,
                    };
                    let code = ReasonCode::of_job(state, outcome, status, prompt);
                    assert_eq!(code, expected, "{state} {outcome:?} {status:?}");
                }
            }
        }
    }
}
