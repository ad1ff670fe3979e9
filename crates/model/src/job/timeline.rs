//! The timeline of a job: what happened to its prompts, and what the upstream reported. Pure.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::{DeliveryState, NO_END, NOT_FOUND};
use crate::ParseError;
use crate::pull_request::PullRequestEvent;
use crate::time::Timestamp;

/// One entry of a job's timeline: a state change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimelineEntry {
    pub at: Timestamp,
    /// 0 for the job itself, n for its n-th follow-up.
    pub message: u32,
    pub state: TimelineState,
    pub detail: Option<String>,
}

/// The state of a timeline entry. Databases and JSON have its name, see [`TimelineState::as_str`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum TimelineState {
    /// The state of delivering the prompt.
    Delivery(DeliveryState),
    /// The upstream reported a documented status.
    Reported(ReportedStatus),
    /// Docket stopped tracking the job, because it no longer exists at the upstream.
    NotFound,
    /// Docket stopped tracking the job, because it did not finish in time.
    NoEnd,
    /// A person marked the job in Docket.
    Mark(TimelineMark),
    /// The code host reported a change of the pull request.
    PullRequest(PullRequestEvent),
    /// The upstream reported an undocumented status. This is its raw name.
    Other(String),
}

/// A documented status of the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_documented)]
pub enum ReportedStatus {
    Active,
    Completed,
    Archived,
    Failed,
}

/// What people do with a job in Docket. The upstream is not informed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_mark)]
pub enum TimelineMark {
    #[strum(serialize = "archived here")]
    Archived,
    #[strum(serialize = "brought back here")]
    Restored,
    #[strum(serialize = "dismissed")]
    Dismissed,
    #[strum(serialize = "dismissal undone")]
    DismissalUndone,
}

impl TimelineState {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Delivery(state) => state.as_str(),
            Self::Reported(status) => status.as_str(),
            Self::NotFound => NOT_FOUND,
            Self::NoEnd => NO_END,
            Self::Mark(mark) => mark.as_str(),
            Self::PullRequest(event) => event.as_str(),
            Self::Other(status) => status,
        }
    }

    /// What the upstream reports. A word of Docket's own, such as `sending`, gets a mark, so that it is not taken for an event of Docket.
    pub fn reported(status: &str) -> Self {
        match Self::from(status) {
            state @ (Self::Reported(_) | Self::Other(_)) => state,
            own => Self::Other([MARK, own.as_str()].concat()),
        }
    }

    /// Whether the agent accepted the prompt.
    pub fn is_accepted(&self) -> bool {
        *self == Self::Delivery(DeliveryState::Accepted)
    }

    /// Whether it is the result of the agent's work on the prompt.
    pub const fn is_result(&self) -> bool {
        matches!(self, Self::Reported(ReportedStatus::Completed | ReportedStatus::Failed))
    }
}

/// How an undocumented status of the upstream begins that would be taken for a word of Docket's own.
const MARK: &str = "reported ";

/// A status as it is stored with the job. The two words that Docket writes there itself get a mark.
pub fn status_of_upstream(status: String) -> String {
    if [NOT_FOUND, NO_END].contains(&status.as_str()) { [MARK, &status].concat() } else { status }
}

impl ReportedStatus {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl TimelineMark {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

impl From<&str> for TimelineState {
    fn from(name: &str) -> Self {
        if let Ok(state) = name.parse() {
            return Self::Delivery(state);
        }
        if let Ok(status) = name.parse() {
            return Self::Reported(status);
        }
        if let Ok(mark) = name.parse() {
            return Self::Mark(mark);
        }
        if let Ok(event) = name.parse() {
            return Self::PullRequest(event);
        }
        match name {
            NOT_FOUND => Self::NotFound,
            NO_END => Self::NoEnd,
            status => Self::Other(status.to_owned()),
        }
    }
}

impl From<String> for TimelineState {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<TimelineState> for String {
    fn from(state: TimelineState) -> Self {
        state.as_str().to_owned()
    }
}

fn not_documented(_: &str) -> ParseError {
    "not a documented status".into()
}

fn not_a_mark(_: &str) -> ParseError {
    "not a mark".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Databases and other programs use these names: a renamed variant must keep its name.
    #[test]
    fn stored_names_of_timeline_states_do_not_change() {
        let delivery = "queued sending accepted rejected cancelled unknown".split(' ');
        let reported = "active completed archived failed".split(' ');
        let marks = ["archived here", "brought back here", "dismissed", "dismissal undone"];
        let requests = ["pull_request.merged", "pull_request.closed", "pull_request.stale"];
        for name in delivery.chain(reported).chain(marks).chain(requests).chain([NOT_FOUND, NO_END]) {
            let state = TimelineState::from(name);
            assert!(!matches!(state, TimelineState::Other(_)), "{name}");
            assert_eq!(state.as_str(), name);
        }
        for name in ["paused", "Completed", ""] {
            assert_eq!(TimelineState::from(name), TimelineState::Other(name.to_owned()));
        }
    }

    #[test]
    fn words_of_docket_are_marked_in_a_report_and_others_unchanged() {
        let own = DeliveryState::VARIANTS.iter().map(|state| state.as_str());
        let own = own.chain(TimelineMark::VARIANTS.iter().map(|mark| mark.as_str()));
        let own = own.chain(PullRequestEvent::VARIANTS.iter().map(|event| event.as_str()));
        for word in own.chain([NOT_FOUND, NO_END]) {
            let stored = TimelineState::reported(word).as_str().to_owned();
            assert_eq!(stored, format!("reported {word}"));
            assert_eq!(TimelineState::from(stored.as_str()), TimelineState::Other(stored));
        }
        let documented = ReportedStatus::VARIANTS.iter().map(|status| status.as_str());
        for word in documented.chain(["paused", "reported sending", "Sending", ""]) {
            assert_eq!(TimelineState::reported(word).as_str(), word);
        }
        let status = |word: &str| status_of_upstream(word.to_owned());
        assert_eq!([status("no end"), status("sending")], ["reported no end", "sending"]);
    }

    #[test]
    fn timeline_state_is_its_name_in_json() {
        for name in ["accepted", "brought back here", "paused"] {
            let json = serde_json::json!(name);
            let state: TimelineState =
                serde_json::from_value(json.clone()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(serde_json::to_value(state).ok(), Some(json));
        }
    }
}
