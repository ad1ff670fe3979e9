//! How the upstream is doing, as an administrator sees it.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use crate::model::budget::Meter;
use crate::model::time::Timestamp;

/// What the upstream can be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Create,
    FollowUp,
    Read,
    Views,
}

/// Everything that is known of the upstream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamStatus {
    /// One for each operation, in their order.
    pub operations: Vec<OperationStatus>,
    /// One for each limit, those of a project after one another.
    pub limits: Vec<LimitStatus>,
    /// When the upstream last refused the key, if it has not taken it since.
    pub key_refused_at: Option<Timestamp>,
}

/// Since the server started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationStatus {
    pub operation: Operation,
    pub last_success_at: Option<Timestamp>,
    pub last_error: Option<Failure>,
    /// Not asked before then, because it failed again and again; nothing while it works.
    pub rests_until: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub at: Timestamp,
    /// Without the key, at most a few hundred characters.
    pub message: String,
}

/// One of the limits over the last rolling hour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitStatus {
    pub operation: Operation,
    /// The project's name; nothing for a limit that all projects share.
    pub project: Option<String>,
    pub meter: Meter,
    /// Prompts that wait to be sent.
    pub waiting: u32,
    /// The upstream asked not to be called before then.
    pub paused_until: Option<Timestamp>,
}

/// What everybody should know about the upstream while they look at what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// It fails again and again.
    Failing,
    /// It refuses the key. For administrators.
    KeyRefused,
}
