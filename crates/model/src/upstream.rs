//! The state of the upstream, as administrators see it.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::budget::Meter;
use crate::id::ProjectId;
use crate::time::Timestamp;

/// The kinds of calls to the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Create,
    FollowUp,
    Read,
    Views,
}

impl Operation {
    /// Whether it sends a prompt.
    pub const fn is_prompt(self) -> bool {
        matches!(self, Self::Create | Self::FollowUp)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamStatus {
    /// One per operation, in the order of [`Operation`].
    pub operations: Vec<OperationStatus>,
    /// One per limit, grouped by project.
    pub limits: Vec<LimitStatus>,
    /// When the upstream last refused the key, unless it accepted the key since.
    pub key_refused_at: Option<Timestamp>,
    /// The operations of projects that the upstream refuses with status 403.
    #[serde(default)]
    pub refused: Vec<RefusedOperation>,
    /// What administrators are told about the platform.
    #[serde(default)]
    pub notices: Vec<PlatformNotice>,
    /// The background tasks of the server that responds.
    pub tasks: Vec<TaskStatus>,
    /// Who sent forwarding headers without being a trusted proxy, since the server started.
    pub unknown_proxy: Option<ForwardingPeer>,
    /// When a reloaded configuration was invalid, unless a later one was valid.
    pub configuration_refused_at: Option<Timestamp>,
    /// The connections to code hosts.
    #[serde(default)]
    pub code_hosts: Vec<CodeHostStatus>,
    /// A jump of the clock. After it, no data is removed because of its age.
    pub clock_jump: Option<ClockJump>,
    /// How many futures that server is polling at the moment: one for each connection, and those in the background.
    pub working: u64,
}

/// An operation of a project that the upstream refused, and has not accepted since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedOperation {
    pub operation: Operation,
    /// The project's name.
    pub project: String,
    /// When it was last refused or tried.
    pub at: Timestamp,
}

/// Something about the platform that administrators are told once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlatformNotice {
    pub project: ProjectId,
    pub kind: PlatformNoticeKind,
    /// When it was noticed.
    pub since: Timestamp,
    /// Whether the person who asks has not seen it in the notifications.
    pub is_new: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum PlatformNoticeKind {
    /// The AI credits are used up: prompts wait.
    NoCredits,
    /// The platform's limit was reached by a follow-up although Docket's count had room: it may count job starts and follow-ups together.
    SharedLimit,
}

impl PlatformNoticeKind {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

/// A connection to a code host, of all processes together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeHostStatus {
    /// Its web address.
    pub host: String,
    /// The limit of its last response: requests in a window, what remains, and when the window ends.
    pub limit: Option<RateLimit>,
    /// No request before this time, at most an hour from now; `None` without a pause.
    pub paused_until: Option<Timestamp>,
    /// Why it is paused.
    #[serde(default)]
    pub pause_reason: Option<PauseReason>,
    pub last_success_at: Option<Timestamp>,
    /// The last error, and since when there was no success.
    pub failure: Option<Failure>,
    /// The number of pull requests that are checked regularly.
    pub open: u64,
    /// The owners of repositories that the server that responds does not request for now.
    #[serde(default)]
    pub paused_owners: Vec<PausedOwner>,
}

/// Why a code host gets no request for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum PauseReason {
    /// Its limit is reached, or only the part that is left to others remains.
    Limit,
    /// It fails, or cannot be reached.
    Failing,
    /// It refuses the token or the App.
    NoAccess,
}

impl PauseReason {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

/// An owner of repositories, where the GitHub App is suspended or its limit is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PausedOwner {
    pub owner: String,
    pub until: Timestamp,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimit {
    pub limit: u64,
    pub remaining: u64,
    pub resets_at: Timestamp,
}

/// The clock is more than a day ahead of the last heartbeat before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockJump {
    /// The last heartbeat before.
    pub from: Timestamp,
    /// The time of the clock.
    pub now: Timestamp,
}

/// A peer that sent forwarding headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForwardingPeer {
    pub address: String,
    pub at: Timestamp,
}

/// A background task of one process. Counts of failures begin when the process starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStatus {
    pub name: String,
    /// Whether it runs, and succeeded or started recently.
    pub is_well: bool,
    pub last_success_at: Option<Timestamp>,
    /// How often it failed unexpectedly and was restarted.
    pub failures: u32,
    pub last_failure_at: Option<Timestamp>,
}

/// The stored state of an operation, which survives a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationStatus {
    pub operation: Operation,
    pub last_success_at: Option<Timestamp>,
    pub last_error: Option<Failure>,
    /// Not called before this time, because the circuit breaker is open; `None` while it is closed.
    pub circuit_open_until: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub at: Timestamp,
    /// With the key masked, at most a few hundred characters.
    pub message: String,
}

/// One limit over a rolling hour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitStatus {
    pub operation: Operation,
    /// Whether it counts job starts and follow-ups together.
    #[serde(default)]
    pub is_shared: bool,
    /// The project's name; `None` for a limit shared by all projects.
    pub project: Option<String>,
    pub meter: Meter,
    /// The number of queued prompts.
    pub waiting: u32,
    /// The end of a pause that the upstream requested.
    pub paused_until: Option<Timestamp>,
    /// While the queue waits because of failures, or after a refusal: the time of its next try.
    pub next_try_at: Option<Timestamp>,
}
