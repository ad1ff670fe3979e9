//! The retention of finished jobs and of the daily history.

use super::budget::Budget;
use super::error::ConfigError;
use super::setting::whole_number;
use super::source::Source;

#[derive(Debug, Clone, Copy, Default)]
pub struct RetentionConfig {
    /// Days after their last change; 0 retains all.
    pub jobs_days: u32,
    /// Days including today; 0 retains all.
    pub history_days: u32,
}

impl RetentionConfig {
    /// Also returns the budget, limited so that no day is fetched and then removed.
    ///
    /// # Errors
    /// If more days are configured to be fetched than to be retained.
    pub fn with_budget(source: &Source) -> Result<(Self, Budget), ConfigError> {
        let raw = &source.raw;
        let retention = Self {
            jobs_days: raw.jobs_days.parse(whole_number(0))?,
            history_days: raw.history_keep_days.parse(whole_number(0))?,
        };
        let budget = Budget::from_source(source)?;
        let Budget { history_days: in_step, history_before: before, .. } = budget;
        let room = match retention.history_days {
            0 => return Ok((retention, budget)),
            days => days.checked_sub(in_step),
        };
        let is_before_set = raw.history_before.is_some();
        match room {
            Some(room) if before <= room || !is_before_set => {
                Ok((retention, Budget { history_before: before.min(room), ..budget }))
            }
            _ => Err(ConfigError(format!(
                "DOCKET_HISTORY_KEEP_DAYS ({}) is less than the days that are fetched: DOCKET_HISTORY_DAYS ({in_step}){}. An example: DOCKET_HISTORY_KEEP_DAYS=400",
                retention.history_days,
                if is_before_set { format!(" and DOCKET_HISTORY_BEFORE ({before})") } else { String::new() }
            ))),
        }
    }
}
