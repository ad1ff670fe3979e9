//! How long finished jobs and the daily history are kept.

use super::budget::Budget;
use super::source::{ConfigError, Source, whole_number};

#[derive(Debug, Clone, Copy, Default)]
pub struct RetentionConfig {
    /// For so many days after their last change; 0 keeps all.
    pub jobs_days: u32,
    /// So many days including today; 0 keeps all.
    pub history_days: u32,
}

impl RetentionConfig {
    /// With the budget of a history that fetches no day that would be removed.
    ///
    /// # Errors
    /// If the days to keep in step, or those before them that were configured, are more than are kept.
    pub fn with_budget(source: &Source) -> Result<(Self, Budget), ConfigError> {
        let kept = Self {
            jobs_days: source.or_default("jobs_days", whole_number(0))?,
            history_days: source.or_default("history_keep_days", whole_number(0))?,
        };
        let budget = Budget::from_source(source)?;
        let Budget { history_days: in_step, history_before: before, .. } = budget;
        let room = match kept.history_days {
            0 => return Ok((kept, budget)),
            days => days.checked_sub(in_step),
        };
        let is_before_set = source.optional("history_before", whole_number(0))?.is_some();
        match room {
            Some(room) if before <= room || !is_before_set => {
                Ok((kept, Budget { history_before: before.min(room), ..budget }))
            }
            _ => Err(ConfigError(format!(
                "DOCKET_HISTORY_KEEP_DAYS ({}) is less than the days that are fetched: DOCKET_HISTORY_DAYS ({in_step}){}. An example: DOCKET_HISTORY_KEEP_DAYS=400",
                kept.history_days,
                if is_before_set { format!(" and DOCKET_HISTORY_BEFORE ({before})") } else { String::new() }
            ))),
        }
    }
}
