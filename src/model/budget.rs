//! The hourly budget of upstream calls, as people see it.

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;
use crate::model::upstream::Notice;

/// One budget over the last rolling hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meter {
    /// Calls made in the last 60 minutes.
    pub used: u32,
    /// Calls allowed in 60 minutes.
    pub limit: u32,
    /// When the next call fits, if none fits now: the hour is used up, or the upstream asked for a pause.
    pub next_fits_at: Option<Timestamp>,
}

/// The budgets that matter to the people of one project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budgets {
    /// New jobs of this project.
    pub creates: Meter,
    /// Follow-ups of this project.
    pub follow_ups: Meter,
    /// Analytics questions, shared by all projects of the key.
    pub analytics: Meter,
    /// Prompts of this project that wait to be sent.
    pub waiting: u32,
    pub notice: Option<Notice>,
}

impl Meter {
    /// How many calls fit now.
    pub fn left(self) -> u32 {
        if self.next_fits_at.is_some() { 0 } else { self.limit.saturating_sub(self.used) }
    }
}
