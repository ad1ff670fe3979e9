//! API tokens: what each may do, and as the pages show them. Never the token itself.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ParseError;
use crate::id::ApiTokenId;
use crate::time::Timestamp;
use crate::user::{Project, Role};

/// What a token may do.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_scope)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub enum Scope {
    #[serde(rename = "jobs:read")]
    #[strum(serialize = "jobs:read")]
    JobsRead,
    #[serde(rename = "jobs:write")]
    #[strum(serialize = "jobs:write")]
    JobsWrite,
    #[serde(rename = "jobs:resolve")]
    #[strum(serialize = "jobs:resolve")]
    JobsResolve,
    #[serde(rename = "analytics:read")]
    #[strum(serialize = "analytics:read")]
    AnalyticsRead,
}

/// At least one scope, each once, in the order of [`Scope`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scopes(Vec<Scope>);

/// How many days a token is valid: 1 to 365.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenDays(u32);

/// Whether a token works, or why it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenState {
    Active,
    /// It works for up to 24 more hours: another one replaces it.
    Replaced,
    Expired,
    Revoked,
    /// Its owner is disabled.
    OwnerDisabled,
}

/// A token in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiToken {
    pub id: ApiTokenId,
    pub name: String,
    /// The name of the owner.
    pub owner: String,
    /// The last four characters of the token.
    pub last_four: String,
    pub scopes: Scopes,
    /// The ids of its projects; `None` for all projects of the owner.
    pub projects: Option<Vec<String>>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// Written at most once an hour.
    pub last_used_at: Option<Timestamp>,
    pub state: TokenState,
}

/// The tokens of a person, for their page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnTokens {
    /// Newest first.
    pub tokens: Vec<ApiToken>,
    /// The scopes that the person's role permits.
    pub scopes: Vec<Scope>,
    /// The projects that the person may see.
    pub projects: Vec<Project>,
    /// Whether the person has a password, which a new token then requires.
    pub has_password: bool,
}

/// A token whose owner is notified of its expiry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpiringToken {
    pub name: String,
    pub last_four: String,
    pub expires_at: Timestamp,
    /// Whether the owner has not seen this notice before.
    pub is_new: bool,
}

/// The notices before the expiry of a token, as days before it.
pub const NOTICE_DAYS: [u32; 2] = [14, 3];

/// How long a token works after it was replaced.
pub const ROTATION_SECONDS: i64 = DAY_SECONDS;

/// How many tokens a page lists.
pub const LISTED_MAX: u32 = 1_000;

/// The maximum length of a name, in characters.
pub const NAME_MAX_CHARS: usize = 64;

const DAY_SECONDS: i64 = 86_400;

impl Scope {
    /// All scopes, in their order.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    /// The lowest role whose tokens may have this scope.
    pub const fn least_role(self) -> Role {
        match self {
            Self::JobsRead | Self::AnalyticsRead => Role::Viewer,
            Self::JobsWrite | Self::JobsResolve => Role::Operator,
        }
    }

    /// The meaning, for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::JobsRead => "read jobs, templates and pull requests",
            Self::JobsWrite => "start jobs, send follow-ups, archive and cancel",
            Self::JobsResolve => "decide about prompts whose outcome is unknown",
            Self::AnalyticsRead => "read page views",
        }
    }
}

impl Scopes {
    /// These scopes; `None` without any.
    pub fn of(scopes: impl IntoIterator<Item = Scope>) -> Option<Self> {
        let mut scopes: Vec<Scope> = scopes.into_iter().collect();
        scopes.sort_unstable();
        scopes.dedup();
        (!scopes.is_empty()).then_some(Self(scopes))
    }

    pub fn contains(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    pub fn iter(&self) -> impl Iterator<Item = Scope> {
        self.0.iter().copied()
    }

    /// The scopes that the role of the owner permits.
    pub fn permitted(&self, role: Role) -> Vec<Scope> {
        self.iter().filter(|scope| role >= scope.least_role()).collect()
    }
}

impl TokenDays {
    pub const MAX: u32 = 365;

    pub fn new(days: u32) -> Result<Self, ParseError> {
        if (1..=Self::MAX).contains(&days) {
            Ok(Self(days))
        } else {
            Err("A token is valid for 1 to 365 days. Enter a number of days.".into())
        }
    }

    /// When a token expires that is created at `now`.
    pub fn after(self, now: Timestamp) -> Timestamp {
        now.plus_seconds(DAY_SECONDS * i64::from(self.0))
    }
}

impl Default for TokenDays {
    fn default() -> Self {
        Self(90)
    }
}

/// A whole number of days. An empty text is the default.
impl FromStr for TokenDays {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "" => Ok(Self::default()),
            text => Self::new(text.parse().unwrap_or_default()),
        }
    }
}

impl fmt::Display for TokenDays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Comma-separated names.
impl FromStr for Scopes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let scopes = names.map(str::parse).collect::<Result<Vec<Scope>, _>>()?;
        Self::of(scopes)
            .ok_or("Choose at least one scope: jobs:read, jobs:write, jobs:resolve or analytics:read.".into())
    }
}

/// The names, separated by commas.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iter().map(Scope::as_str).collect::<Vec<_>>().join(","))
    }
}

/// Whether a token that expires at `expires_at` has its first notice.
pub fn expires_soon(expires_at: Timestamp, now: Timestamp) -> bool {
    notices_due(expires_at, now) > 0
}

/// When the notices of a token are due that expires at `expires_at`.
fn notice_times(expires_at: Timestamp) -> impl Iterator<Item = Timestamp> {
    NOTICE_DAYS.iter().map(move |days| expires_at.plus_seconds(-DAY_SECONDS * i64::from(*days)))
}

/// How many notices of a token are due at `now`.
pub fn notices_due(expires_at: Timestamp, now: Timestamp) -> u32 {
    notice_times(expires_at).filter(|at| *at <= now).count() as u32
}

impl TokenState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "Active",
            Self::Replaced => "Replaced",
            Self::Expired => "Expired",
            Self::Revoked => "Revoked",
            Self::OwnerDisabled => "Owner disabled",
        }
    }
}

fn not_a_scope(_: &str) -> ParseError {
    "A scope is jobs:read, jobs:write, jobs:resolve or analytics:read.".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_sorted_and_each_is_there_once() {
        let scopes: Scopes = " analytics:read,jobs:read,,jobs:read".parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scopes.to_string(), "jobs:read,analytics:read");
        for wrong in ["", ",", "jobs", "jobs:read jobs:write", "admin", "JOBS:READ"] {
            assert!(wrong.parse::<Scopes>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn viewer_is_not_permitted_to_write() {
        let all = Scopes(Scope::ALL.to_vec());
        assert_eq!(all.permitted(Role::Viewer), [Scope::JobsRead, Scope::AnalyticsRead]);
        assert_eq!(all.permitted(Role::Operator), Scope::ALL);
    }

    #[test]
    fn validity_is_one_to_365_days() {
        assert_eq!("".parse(), Ok(TokenDays::default()));
        assert_eq!("365".parse::<TokenDays>().map(|days| days.to_string()), Ok("365".to_owned()));
        for wrong in ["0", "366", "-1", "1.5", "x", "4294967297"] {
            assert!(wrong.parse::<TokenDays>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn notices_are_due_14_and_3_days_before_expiry() {
        let now = Timestamp::from_millis(1_795_000_000_000);
        let due = |seconds| notices_due(now.plus_seconds(seconds), now);
        let day = DAY_SECONDS;
        assert_eq!(
            [15 * day, 14 * day + 1, 14 * day, 3 * day + 1, 3 * day, 0, -day].map(due),
            [0, 0, 1, 1, 2, 2, 2]
        );
    }
}
