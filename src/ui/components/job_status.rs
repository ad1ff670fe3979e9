//! What the badge of a job shows.

use std::fmt;
use std::str::FromStr;

use model::id::JobId;
use model::job::{JobBadge, JobState, has_no_request, moves};
use model::pull_request::PullRequestState;
use model::time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use strum::VariantArray;

/// The attribute of a badge with the id of the job.
pub const JOB: &str = "data-job";

/// The flag of a version for a tracked job.
const TRACKED: &str = "t";
/// The same for a job whose changes are published directly.
const DIRECT: &str = "p";

/// A status as a page shows it. Differs between any two statuses of a job. Islands get it as a short text, because a list may have fifty of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownStatus {
    pub id: JobId,
    pub state: JobState,
    changed_at: Timestamp,
    is_tracked: bool,
    is_direct: bool,
    /// `None` without a pull request.
    pull_request: Option<PullRequestState>,
    /// The platform's own status, for [`JobState::Other`].
    pub raw: Option<String>,
}

impl ShownStatus {
    pub fn of(status: &JobBadge) -> Self {
        let pull_request =
            status.pr_link.as_ref().map(|_| status.pr_state.unwrap_or(PullRequestState::Unknown));
        Self {
            id: status.id.clone(),
            state: status.state,
            changed_at: status.changed_at,
            is_tracked: status.tracked,
            is_direct: status.is_direct,
            pull_request,
            raw: status.status.clone().filter(|_| status.state == JobState::Other),
        }
    }

    /// Whether the state can still change without a person.
    pub const fn is_moving(&self) -> bool {
        moves(self.state, self.is_tracked)
    }

    /// Whether Docket stopped polling the job before its end.
    pub fn is_untracked(&self) -> bool {
        self.state == JobState::Other && !self.is_tracked
    }

    /// Whether `other`, of the same job, is newer.
    pub fn is_before(&self, other: &Self) -> bool {
        self.changed_at < other.changed_at
    }

    /// Whether the job has a pull request.
    pub const fn has_link(&self) -> bool {
        self.pull_request.is_some()
    }

    /// As [`JobBadge::has_no_changes`].
    pub fn has_no_changes(&self) -> bool {
        has_no_request(self.state, self.has_link()) && !self.is_direct
    }

    /// As [`JobBadge::is_published_directly`].
    pub fn is_published_directly(&self) -> bool {
        has_no_request(self.state, self.has_link()) && self.is_direct
    }
}

/// `id state version status`, such as `0192… active 1764000000000tm`: the last letter of the version is the state of the pull request, and
/// most states have no status.
impl fmt::Display for ShownStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, state, changed_at, .. } = self;
        let tracked = if self.is_tracked { TRACKED } else { "" };
        let direct = if self.is_direct { DIRECT } else { "" };
        let pull_request = self.pull_request.map_or("", letter);
        write!(f, "{id} {} {}{tracked}{direct}{pull_request}", state.as_str(), changed_at.as_millis())?;
        self.raw.iter().try_for_each(|status| write!(f, " {status}"))
    }
}

/// The text is not that of a [`ShownStatus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAStatus;

impl FromStr for ShownStatus {
    type Err = NotAStatus;

    fn from_str(text: &str) -> Result<Self, NotAStatus> {
        let mut parts = text.splitn(4, ' ');
        let mut next = || parts.next().ok_or(NotAStatus);
        let (id, state, version) = (next()?, next()?, next()?);
        let flags = version.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let changed_at =
            version.strip_suffix(flags).and_then(|millis| millis.parse().ok()).ok_or(NotAStatus)?;
        let (is_tracked, flags) = without(flags, TRACKED);
        let (is_direct, flags) = without(flags, DIRECT);
        let pull_request = match flags {
            "" => None,
            flag => {
                let state = PullRequestState::VARIANTS.iter().copied().find(|state| letter(*state) == flag);
                Some(state.ok_or(NotAStatus)?)
            }
        };
        Ok(Self {
            id: id.parse().map_err(|_| NotAStatus)?,
            state: state.parse().map_err(|_| NotAStatus)?,
            changed_at: Timestamp::from_millis(changed_at),
            is_tracked,
            is_direct,
            pull_request,
            raw: parts.next().map(str::to_owned),
        })
    }
}

/// Whether `flags` begins with `flag`, and the rest.
fn without<'a>(flags: &'a str, flag: &str) -> (bool, &'a str) {
    match flags.strip_prefix(flag) {
        Some(rest) => (true, rest),
        None => (false, flags),
    }
}

/// The first letter of a state.
fn letter(state: PullRequestState) -> &'static str {
    state.as_str().get(..1).unwrap_or_default()
}

impl Serialize for ShownStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ShownStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|NotAStatus| de::Error::custom("not a status"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: &str = "01920000-0000-7000-8000-000000000000";

    fn statuses() -> impl Strategy<Value = ShownStatus> {
        let pull_request = proptest::option::of(proptest::sample::select(PullRequestState::VARIANTS));
        let raw = proptest::option::of(any::<String>());
        let state = proptest::sample::select(&JobState::ALL[..]);
        (state, 0..i64::MAX, any::<bool>(), any::<bool>(), pull_request, raw).prop_map(
            |(state, changed_at, is_tracked, is_direct, pull_request, raw)| ShownStatus {
                id: ID.parse().unwrap_or_else(|error| panic!("{error}")),
                state,
                changed_at: Timestamp::from_millis(changed_at),
                is_tracked,
                is_direct,
                pull_request,
                raw,
            },
        )
    }

    proptest! {
        #[test]
        fn status_is_parsed_from_its_text(status in statuses()) {
            prop_assert_eq!(status.to_string().parse(), Ok(status));
        }

        #[test]
        fn other_texts_are_no_status(text in any::<String>()) {
            prop_assert!(text.parse::<ShownStatus>().is_err());
        }
    }

    #[test]
    fn version_has_a_letter_for_each_fact() {
        for (version, is_valid) in [
            ("1764000000000", true),
            ("1764000000000tu", true),
            ("1764000000000tpm", true),
            ("", false),
            ("t", false),
            ("1x", false),
            ("1ut", false),
        ] {
            assert_eq!(
                format!("{ID} active {version}").parse::<ShownStatus>().is_ok(),
                is_valid,
                "{version}"
            );
        }
        assert_eq!(format!("{ID} paused 1").parse::<ShownStatus>(), Err(NotAStatus));
    }
}
