//! Hourly budgets of upstream calls, as people see them.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::time::Timestamp;

/// One budget over a rolling hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meter {
    /// Calls made in the last 60 minutes.
    pub used: u32,
    /// Calls allowed in 60 minutes.
    pub limit: u32,
    /// When the next call fits; `None` if one fits now. Calls wait while the budget is spent or the upstream requested a pause.
    pub next_fits_at: Option<Timestamp>,
}

/// How the platform counts the prompts of a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub enum AgentLimit {
    /// One limit for job starts, and another one for follow-ups.
    #[default]
    Separate,
    /// One limit for both.
    Shared,
}

impl AgentLimit {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

/// The budgets of one project, and other figures that every page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budgets {
    /// New jobs; with a shared limit, also follow-ups.
    pub creates: Meter,
    /// Follow-ups; with a shared limit, also new jobs.
    pub follow_ups: Meter,
    #[serde(default)]
    pub agent_limit: AgentLimit,
    /// Analytics requests, shared by all projects of the key.
    pub analytics: Meter,
    /// The number of queued prompts of this project.
    pub waiting: u32,
    /// How many jobs ended or need attention since this person last opened the notifications, and how many notices about
    /// API tokens are new.
    #[serde(default)]
    pub unread: u32,
    /// How many pull requests of this project wait for a reviewer; `None` without a connection to a code host.
    #[serde(default)]
    pub reviews: Option<u32>,
    pub notice: Option<Notice>,
}

/// The budgets, and what only the server's pages show.
#[derive(Debug, Clone, Copy)]
pub struct PageBudgets {
    pub budgets: Budgets,
    /// Only the jobs of [`Budgets::unread`].
    pub unread_jobs: u32,
}

/// A notice about the upstream on top of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// Its circuit breaker is open.
    Failing,
    /// It has no AI credits for the prompts of this project.
    NoCredits,
    /// It refuses the key. Only for administrators.
    KeyRefused,
    /// It refuses an operation of this project.
    OperationRefused,
}

impl Meter {
    /// The number of calls that fit now.
    pub fn left(self) -> u32 {
        if self.next_fits_at.is_some() { 0 } else { self.limit.saturating_sub(self.used) }
    }
}
